"""Where the course is published, as pyproject.toml says; both texts are empty where it is not."""

import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
REPOSITORY: str = PROJECT["tool"]["specdec-lab"]["repository"]  # owner/name on GitHub
TAG: str = PROJECT["tool"]["specdec-lab"]["tag"]  # the version that Binder and Colab open


def site_address(repository: str = REPOSITORY) -> str:
    """Of the static pages."""
    owner, _, name = repository.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/" if name else ""
