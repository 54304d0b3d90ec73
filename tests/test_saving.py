"""What is saved of a notebook after its kernel was restarted."""

import json
import runpy
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
from traitlets.config import Config

CONFIG = Path(__file__).parents[1] / "specdec_lab" / "jupyter" / "jupyter_server_config.py"
CHOSEN = Config()
ran = runpy.run_path(str(CONFIG), {"get_config": lambda: CHOSEN})  # as Jupyter does
AGAIN, STATES, VIEW = ran["AGAIN"], ran["STATES"], ran["VIEW"]
keep_widgets = CHOSEN.FileContentsManager.pre_save_hook

WIDGETS = {"a": {"state": {"layout": "IPY_MODEL_b"}}, "b": {"state": {}}, "other": {"state": {}}}


def notebook(*ids, states=(), picture=None):
    picture = {"text/html": picture} if picture else {}
    outputs = [
        {"output_type": "display_data", "data": {VIEW: {"model_id": id}, "text/plain": id, **picture}} for id in ids
    ]
    held = {"widgets": {STATES: {"version_major": 2, "version_minor": 0, "state": {i: WIDGETS[i] for i in states}}}}
    return {"nbformat": 4, "cells": [{"cell_type": "code", "outputs": outputs}], "metadata": held if states else {}}


@pytest.fixture
def saved(tmp_path):
    """(the notebook as the page sends it, the file before) → what is stored."""

    def saved(new, before=None):
        if before is not None:
            (tmp_path / "n.ipynb").write_text(before if isinstance(before, str) else json.dumps(before))
        model = {"type": "notebook", "content": deepcopy(new)}
        manager = SimpleNamespace(_get_os_path=lambda path: str(tmp_path / path))
        keep_widgets(model=model, path="n.ipynb", contents_manager=manager)
        return model["content"]

    return saved


def states(found):
    return found["metadata"]["widgets"][STATES]["state"]


def test_widgets_of_the_file_stay_with_all_that_they_name(saved):
    found = saved(notebook("a"), notebook("a", states="ab"))
    assert set(states(found)) == {"a", "b"} and VIEW in found["cells"][0]["outputs"][0]["data"]
    some = saved(notebook("a", "other", states=["other"]), notebook("a", states="ab"))
    assert set(states(some)) == {"a", "b", "other"}


@pytest.mark.parametrize("before", [None, "{", notebook("a"), notebook("b", states="b")])
def test_a_widget_that_nobody_has_any_more_says_so(saved, before):
    (data,) = (o["data"] for o in saved(notebook("a"), before)["cells"][0]["outputs"])
    assert data == {"text/plain": "a", "text/html": AGAIN}
    (data,) = (o["data"] for o in saved(notebook("a", picture="<svg/>"), before)["cells"][0]["outputs"])
    assert data["text/html"] == "<svg/>" and VIEW not in data


def test_what_needs_nothing_is_left_alone(saved):
    for new in (notebook("a", states="ab"), {"cells": [{"cell_type": "markdown"}]}):
        assert saved(new, notebook("other", states=["other"])) == new
    keep_widgets(model={"type": "file", "content": "x"}, path="x", contents_manager=None)
