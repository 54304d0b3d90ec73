"""How large each folder may be, so that growing is a decision: raise a number with the reason in the commit."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = {  # of Python, and of what runs in a page
    "specdec_lab": (13_500, 4_000),
    "exercises": (6_540, 0),
    "tests": (22_350, 0),
    "tools": (5_430, 3_000),
    "lessons": (400, 0),  # with what the package no longer has, HTML as text
}


@pytest.mark.parametrize("folder", LINES)
def test_a_folder_is_no_larger_than_it_may_be(folder):
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")
    if not any(listed):
        pytest.skip("no clone of git")
    own = [
        path for path in map(ROOT.joinpath, filter(None, listed)) if path.is_file() and "minisearch" not in path.name
    ]
    python, page = (
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in own if path.suffix in kinds)
        for kinds in ((".py",), (".js", ".css"))
    )
    assert python <= LINES[folder][0] and page <= LINES[folder][1]
