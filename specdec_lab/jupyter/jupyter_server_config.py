"""Settings of the server that `specdec-lab lab` starts: what it saves of a notebook whose kernel was restarted. The widgets stay
as they were, or say what to do.

A page keeps a widget's state in the notebook's metadata, and its outputs name it. After a restart the page knows no
widget any more, and saves outputs that name nothing. The server asks here before each save.
"""

import json
import re
import warnings
from contextlib import suppress
from pathlib import Path

import zmq

VIEW, STATES = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
AGAIN = "<p><em>Its kernel was restarted: run this cell again.</em></p>"


def keep_widgets(model: dict, path: str, contents_manager, **_) -> None:
    """Take widgets that outputs name, and the notebook does not hold any more, from the file that it replaces. Where that
    has none, either, a picture that stands in the output remains, or a sentence.

    Args:
        model, path, contents_manager: as Jupyter's `pre_save_hook` gets them; model is what will be saved.
    """
    notebook = model.get("content")
    if model.get("type") != "notebook" or not isinstance(notebook, dict):
        return
    shown = [output["data"] for output in outputs(notebook) if VIEW in output.get("data", {})]
    known = states_of(notebook)
    gone = {id_of(data) for data in shown} - set(known)
    if not gone:
        return
    before = {}
    with suppress(OSError, ValueError):  # no such file yet, or a damaged one
        before = states_of(json.loads(Path(contents_manager._get_os_path(path)).read_text(encoding="utf-8")))
    kept = reachable(gone & set(before), before)
    if kept:
        metadata = notebook.setdefault("metadata", {}).setdefault("widgets", {})
        form = metadata.setdefault(STATES, {"version_major": 2, "version_minor": 0, "state": {}})
        form["state"] = kept | known
    for data in shown:
        if id_of(data) in gone - set(kept):
            del data[VIEW]
            data.setdefault("text/html", AGAIN)


def outputs(notebook: dict) -> list[dict]:
    return [output for cell in notebook.get("cells", []) for output in cell.get("outputs", [])]


def id_of(data: dict) -> str:
    return str(data[VIEW].get("model_id")) if isinstance(data[VIEW], dict) else ""


def states_of(notebook: dict) -> dict:
    """The widgets that a notebook holds, by their ids."""
    return notebook.get("metadata", {}).get("widgets", {}).get(STATES, {}).get("state", {})


def reachable(ids: set[str], states: dict) -> dict:
    """These widgets, and those that they name, such as their layouts."""
    found, waiting = {}, list(ids)
    while waiting:
        id = waiting.pop()
        if id in states and id not in found:
            found[id] = states[id]
            waiting += re.findall(r"IPY_MODEL_(\w+)", json.dumps(states[id]))
    return found


c = get_config()  # noqa: F821 # pyright: ignore[reportUndefinedVariable] - Jupyter runs this file
c.FileContentsManager.pre_save_hook = keep_widgets
if zmq.has("curve"):  # else each kernel warns, in the terminal, that others on this machine could listen to it
    c.MappingKernelManager.transport_encryption = "auto"
c.LabApp.extra_labextensions_path = [str(Path(__file__).with_name("labextensions"))]
# Jupyter reads its settings more than once, and warns where the same hook is set again.
warnings.filterwarnings("ignore", message="Overriding existing pre_save_hook")
