"""The HTML of the pages: templates, filled. Text that is put into them is escaped; HTML is called safe there."""

from pathlib import Path

from cells import slug
from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
)
TEMPLATES.filters["slug"] = slug


def fill(name: str, **values) -> str:
    """The template of this name."""
    return TEMPLATES.get_template(f"{name}.html").render(values)
