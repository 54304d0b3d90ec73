import sys

from specdec_lab.cli import main

sys.exit(main())
