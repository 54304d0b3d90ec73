"""Rounds as a picture that needs nothing: HTML with its styles inline, and plain text."""

from html import escape

from specdec_lab.show.marks import MARKS, marked, visible

MOST = 10  # rounds in a picture, the first ones


def rounds_html(data: dict) -> str:
    """The first rounds of an explorer's data (see `explorer.explorer_data`), a line each."""
    lines = []
    for i, r in enumerate(data["rounds"][:MOST], start=1):
        drafts = "".join(token(d["status"], d["text"]) for d in r["drafted"]) or "nothing drafted "
        own = token(r["emitted"]["kind"], r["emitted"]["text"]) if r["emitted"] else f"stopped ({r['stop']})"
        lines.append(
            f'<div style="margin:6px 0">round {i}: {drafts}→ {own}'
            f'<div style="font-size:12px;opacity:.8">{escape(target_line(data, r))}</div></div>'
        )
    if (left := len(data["rounds"]) - MOST) > 0:
        lines.append(f"<div>… and {left} more.</div>")
    return (
        f'<div style="font-size:14px"><b>{escape(data["title"])}</b>{"".join(lines)}'
        f"<div>{escape(data['summary'])}</div></div>"
    )


def token(word: str, text: str) -> str:
    mark = MARKS[word]
    dashed, struck = ("dashed", "line-through") if word == "discarded" else ("solid", "none")
    return (
        f'<span style="display:inline-block;border:2px {dashed} {mark.colour};border-radius:4px;padding:0 6px;margin:2px">'
        f'{mark.symbol} <code style="background:none;text-decoration:{struck};white-space:pre">{escape(visible(text))}</code>'
        f'<span style="font-size:11px"> {word}</span></span> '
    )


def target_line(data: dict, r: dict) -> str:
    """The target's favourite at each place of a round, the one after the last draft included."""
    tops = [*(d["p_top"] for d in r["drafted"]), r["after_top"]]
    said = "the target said" if data["greedy"] else "the target's favourites"  # sampled, it need not say them
    return f"{said}: " + " ".join(f"“{visible(t[0]['text'])}”" for t in tops if t)


def rounds_text(data: dict) -> str:
    """The same in plain text."""
    lines = [data["title"]]
    for i, r in enumerate(data["rounds"][:MOST], start=1):
        drafts = " ".join(marked(d["status"], d["text"]) for d in r["drafted"]) or "nothing drafted"
        e = r["emitted"]
        own = f"{marked(e['kind'], e['text'])} {e['kind']}" if e else f"stopped ({r['stop']})"
        lines.append(f"round {i}: {drafts}  →  {own}   ({target_line(data, r)})")
    if (left := len(data["rounds"]) - MOST) > 0:
        lines.append(f"… and {left} more rounds")
    return "\n".join([*lines, data["summary"]])
