"""Settings of the server that `specdec-lab lab` starts."""

import warnings

from specdec_lab.saving import keep_widgets

c = get_config()  # noqa: F821 # pyright: ignore[reportUndefinedVariable] - Jupyter runs this file
c.FileContentsManager.pre_save_hook = keep_widgets
# Jupyter reads its settings more than once, and warns where the same hook is set again.
warnings.filterwarnings("ignore", message="Overriding existing pre_save_hook")
