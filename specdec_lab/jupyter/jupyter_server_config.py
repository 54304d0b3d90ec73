"""Settings of the server that `specdec-lab lab` starts."""

from specdec_lab.saving import keep_widgets

c = get_config()  # noqa: F821 - Jupyter runs this file
c.FileContentsManager.pre_save_hook = keep_widgets
