import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests import their helpers by name
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
