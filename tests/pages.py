"""Pages of the static site, made for a test."""

import importlib.util
import sys
from pathlib import Path

import nbformat

from specdec_lab.show.live import STORED

ROOT = Path(__file__).parents[1]


def builder():
    """tools/site/build.py as a module; by its name alone it would be one of several."""
    folder = str(ROOT / "tools" / "site")
    if folder not in sys.path:
        sys.path.append(folder)  # it imports its neighbours
    spec = importlib.util.spec_from_file_location("site_build", ROOT / "tools" / "site" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page_with(site: Path, *widgets) -> str:
    """A page that shows these widgets as a lesson's stored results are shown; its path in the site."""
    build = builder()
    outputs = [nbformat.v4.new_output("display_data", data={STORED: w.stored(w.data)}) for w in widgets]
    name = f"lessons/made-{widgets[0].data['id']}.html"
    body = "<h1>Widgets</h1>" + "".join(map(sys.modules["cells"].output, outputs))
    (site / name).write_text(build.page_of(body, "Widgets", name, {}), encoding="utf-8")
    return name
