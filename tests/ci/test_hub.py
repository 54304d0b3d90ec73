"""The hub for a class: what can be checked without one. `exercises/hub/try_class.py` tries a whole class on a real one."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from specdec_lab.course.ledger import Ledger

ROOT = Path(__file__).parents[2]
HUB = ROOT / "exercises" / "hub"


def read(path: Path) -> Config:
    """A configuration as Jupyter reads it."""
    c = Config()
    exec(compile(path.read_text("utf-8"), path, "exec"), {"get_config": lambda: c, "__file__": str(path)})
    return c


@pytest.fixture
def config(tmp_path, monkeypatch) -> Config:
    """The hub's, for a class of two and a teacher."""
    (tmp_path / "learners.txt").write_text("ada\nben\n")
    (tmp_path / "teachers.txt").write_text("tea\n")
    monkeypatch.setenv("SPECDEC_LAB_CLASS", str(tmp_path))
    return read(HUB / "jupyterhub_config.py")


def environment(config: Config, admin: bool) -> dict[str, str]:
    spawner = SimpleNamespace(user=SimpleNamespace(admin=admin), environment=config.Spawner.environment)
    config.Spawner.pre_spawn_hook(spawner)
    return {k: v(spawner) if callable(v) else v for k, v in spawner.environment.items()}


def test_a_learner_has_one_ledger_and_grading_writes_into_none_of_the_teacher_s(config, monkeypatch):
    ada, tea = environment(config, admin=False), environment(config, admin=True)
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", ada["SPECDEC_LAB_LEDGER"])
    assert Ledger().path == Path.home() / "my-course" / "ledger.json"
    assert "SPECDEC_LAB_LEDGER" not in tea


def test_only_teachers_have_the_formgrader(config):
    """nbgrader's parts are called what they are called here."""
    learner, teacher = (environment(config, admin)["JUPYTER_CONFIG_PATH"].split(os.pathsep) for admin in (False, True))
    (only,) = set(learner) - set(teacher)
    assert set(teacher) < set(learner) and all(Path(folder).is_dir() for folder in learner)
    off = json.loads(Path(only, "jupyter_server_config.json").read_text())["ServerApp"]["jpserver_extensions"]
    assert off["nbgrader.server_extensions.formgrader"] is False
    there = json.loads((Path(sys.prefix) / "etc/jupyter/jupyter_server_config.d/nbgrader.json").read_text())
    assert set(off) < set(there["ServerApp"]["jpserver_extensions"])
