"""Which tests belong to a file of the packages: those that import from it, or whose helpers do; what takes most of it first, eight
files at most. What clicks in a browser is none of them."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "specdec_lab", ROOT / "exercises" / "specdec_grader"
TESTS = [*ROOT.glob("tests/test_*.py"), *ROOT.glob("tests/ci/test_*.py")]
# Sheets are found by their names, and not imported; nor is what all answers go through.
GRADING = ["tests/test_grading.py", "tests/test_mistakes.py", "tests/test_judges.py"]


def name_of(path: Path) -> str:
    """The module's name."""
    package = next(package for package in PACKAGES if package in path.parents)
    return ".".join(path.with_suffix("").relative_to(package.parent).parts).removesuffix(".__init__")


@cache
def imports(path: Path) -> list[tuple[str, str]]:
    """(module, name) of all that a file takes from modules; of a package that hands on, the module that has it."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    taken = [(node.module, a.name) for node in tree if isinstance(node, ast.ImportFrom) for a in node.names]
    if path.name == "__init__.py":
        return taken
    handed_on = {
        (name_of(init), name): (module, name)
        for package in PACKAGES
        for init in package.rglob("__init__.py")
        for module, name in imports(init)
    }
    return [handed_on.get(pair, pair) for pair in taken]


@cache
def taken_by(path: Path) -> list[str]:
    """The modules that a test file takes from, each as often as it takes something; and its helpers' once."""
    own, helpers = imports(path), {path.parent / f"{module}.py" for module, _ in imports(path)}
    found = [x for module, name in own for x in (module, f"{module}.{name}")]
    return found + [x for helper in helpers if helper.is_file() for x in set(taken_by(helper))]


def tests_of(file: str) -> list[str]:
    """What pytest is given."""
    module = name_of(ROOT / file)
    times = {str(path.relative_to(ROOT)): taken_by(path).count(module) for path in TESTS}
    found = sorted(filter(times.get, times), key=lambda tests: (-times[tests], tests))[:8]
    if sheet := re.search(r"sheets/e0?(\d+)_", file):
        return [*found, *GRADING, "-k", f"{sheet[1]}. or {sheet[1]}_"]
    records = ["tests/test_records.py"] * ("/engine/" in file)  # recomputes all numbers of a round, by way of a Lab
    return [*dict.fromkeys(found + records)] + GRADING * ("specdec_grader" in file and not found)


def files() -> list[str]:
    """All that have tests."""
    every = (path for package in PACKAGES for path in sorted(package.rglob("*.py")))
    return [file for path in every if tests_of(file := str(path.relative_to(ROOT)))]
