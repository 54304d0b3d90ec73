"""The Tree Explorer: rounds whose drafts are trees, a tree at a time; and its picture and text."""

from html import escape

from specdec_lab.show.explorer import RoundExplorer
from specdec_lab.show.marks import marked
from specdec_lab.show.static import token

MOST = 4  # rounds in a picture, the first ones


class TreeExplorer(RoundExplorer):
    """Shows `data`, as `explorer_data` makes it of a trace with trees. `guesses`: {round: the drafts that were marked}."""

    scripts = ("common.js", "tree.js")

    def picture(self) -> str:
        return trees_html(self.data)

    def text(self) -> str:
        return trees_text(self.data)


def outline(r: dict) -> list[tuple[int, str, str]]:
    """(depth, word, text) of a round's drafts and of the target's own token, each behind what it follows."""
    kept = [i for i, d in enumerate(r["drafted"]) if d["status"] == "accepted"]
    last = kept[-1] if kept else -1

    def behind(place: int, depth: int) -> list[tuple[int, str, str]]:
        lines = []
        for i, d in enumerate(r["drafted"]):
            if d.get("parent", i - 1) == place:
                lines += [(depth, d["status"], d["text"]), *behind(i, depth + 1)]
        if place == last and r["emitted"]:
            lines.append((depth, r["emitted"]["kind"], r["emitted"]["text"]))
        return lines

    return behind(-1, 0)


def trees_html(data: dict) -> str:
    """The first rounds, with a line for each draft, indented by its depth."""
    parts = []
    for n, r in enumerate(data["rounds"][:MOST], start=1):
        lines = "".join(
            f'<div style="padding-left:{26 * depth}px;white-space:nowrap">{token(word, text)}</div>'
            for depth, word, text in outline(r)
        )
        parts.append(f'<div style="margin:6px 0;overflow-x:auto">round {n}:{lines}</div>')
    more = len(data["rounds"]) - MOST
    parts += [f"<div>… and {more} more.</div>"] if more > 0 else []
    return f'<div style="font-size:14px"><b>{escape(data["title"])}</b>{"".join(parts)}<div>{escape(data["summary"])}</div></div>'


def trees_text(data: dict) -> str:
    """The same in plain text."""
    lines = [data["title"]]
    for n, r in enumerate(data["rounds"][:MOST], start=1):
        lines.append(f"round {n}:")
        lines += [f"{'   ' * depth}  {marked(word, text)} {word}" for depth, word, text in outline(r)]
    more = len(data["rounds"]) - MOST
    return "\n".join([*lines, *([f"… and {more} more rounds"] if more > 0 else []), data["summary"]])
