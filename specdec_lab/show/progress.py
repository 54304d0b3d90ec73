"""How far a learner is, in a notebook."""

from specdec_lab.learn.progress import progress as read
from specdec_lab.learn.progress import progress_text


class Progress:
    """Displayed as the last value of a cell: a line for each lesson, and what is still open."""

    def __init__(self, path: str | None = None):
        self.done, self.told = read(path)

    def __repr__(self) -> str:
        return progress_text(self.done, self.told)

    def _repr_html_(self) -> str:
        rows = []
        for x in self.done["lessons"]:
            points, most = (sum(p[key] for p in x["parts"]) for key in ("points", "max_points"))
            share = points / most if most else 0
            bar = (
                f'<div style="display:inline-block;width:120px;height:12px;border:1px solid currentColor;vertical-align:middle">'
                f'<div style="width:{share:.0%};height:100%;background:currentColor;opacity:.5"></div></div> {points:g} of {most}'
                if most
                else "–"
            )
            quiz = f"{x['quiz'][0]} of {x['quiz'][1]}" if x["quiz"][1] else "–"
            still = ", ".join(p["id"] for p in x["parts"] if p["points"] < p["max_points"]) or "–"
            cells = (x["lesson"], f"{x['guesses']}, {x['measured']} measured", quiz, bar, still)
            rows.append(
                "<tr style='background:none'>"
                + "".join(f"<td style='text-align:left'>{c}</td>" for c in cells)
                + "</tr>"
            )
        heads = ("lesson", "guesses", "quiz, right", "exercise", "parts still open")
        head = "".join(f"<th scope='col' style='text-align:left'>{h}</th>" for h in heads)
        told = f"<div>{self.told}</div>" if self.told else ""
        return f"<div style='font-size:14px'>{told}<table><tr style='background:none'>{head}</tr>{''.join(rows)}</table></div>"


def progress(path: str | None = None) -> Progress:
    """What you have done so far, from your ledger (default: the one beside this notebook)."""
    return Progress(path)
