"""The files that set the project up agree with each other."""

import ast
import re
import tomllib
from pathlib import Path

import build
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from specdec_lab.cli import VERBS

ROOT = Path(__file__).parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
SETTINGS = tomllib.loads(text("pyproject.toml"))["tool"]["specdec-lab"]
ENVIRONMENT = yaml.safe_load(text("environment.yml"))
PINS = dict(line.split("==") for line in text("constraints.txt").splitlines() if line and not line.startswith("#"))
README, MAKEFILE = text("README.md"), text("Makefile")


def requirements() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"].values()
    return [Requirement(r) for r in (*PROJECT["dependencies"], *(r for group in extras for r in group))]


def test_every_requirement_is_pinned_within_its_range():
    pins = {re.sub("[-_.]+", "-", name).lower(): version for name, version in PINS.items()}
    for r in requirements():
        if r.name != "pip":  # comes with the environment
            assert r.specifier.contains(pins[r.name.lower()]), r


def test_environment_installs_the_project_on_a_python_it_allows():
    python = next(d for d in ENVIRONMENT["dependencies"] if isinstance(d, str) and d.startswith("python="))
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
    pip = next(d["pip"] for d in ENVIRONMENT["dependencies"] if isinstance(d, dict))
    assert pip == ["-c constraints.txt", "-e .[lab]"], "what `make lab` installs"
    assert ENVIRONMENT["channels"] == ["conda-forge"]
    assert f"pytorch={PINS['torch']}" in ENVIRONMENT["dependencies"], "pip would fetch a second torch"


PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_name_commands_and_files_that_exist(name):
    page, targets = text(name), set(re.findall(r"^(\w+):", MAKEFILE, re.M))
    named, asked = set(re.findall(r"(?:^|`)make (\w+)", page, re.M)), set(re.findall(r"specdec-lab ([\w-]+)", page))
    assert named <= targets and asked <= set(VERBS)
    if name == "README.md":
        assert {"lab", "test"} <= named and {"demo", "doctor", "lab"} <= asked
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_addresses_for_binder_and_colab_come_from_one_place():
    names = [path.stem for path in sorted((ROOT / "lessons" / "src").glob("[0-9]*.md"))]
    shown = build.hosted(SETTINGS["repository"], SETTINGS["tag"], names)
    assert f"{build.BEGIN}\n{shown}\n{build.END}" in README, "run `make links`"


def test_the_readme_leads_to_the_site_where_there_is_an_address():
    shown = build.site_link(SETTINGS["repository"])
    assert README.split("\n\n")[1] == f"{build.SITE}{shown}{build.SITE_END}", "run `make links`"


def test_the_lab_never_imports_the_grader():
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "specdec_lab").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None), *(alias.name for alias in node.names)]
        if name and name.split(".")[0] == "specdec_grader"
    ]
    assert found == []
