"""A traffic report as a page that needs nothing, and as text."""

from html import escape

from specdec_lab.show.lines import Line, chart
from specdec_lab.show.table import table
from specdec_lab.show.widget import as_text

HEADS = ("arm", "γ", "kind", "prompts", "tokens a pass", "α", "times plain", "interval", "repetition")
STYLE = "font:16px/1.5 sans-serif;max-width:52em;margin:2em auto;padding:0 1em"


class Report:
    """A report in a notebook. Displayed as the last value of a cell."""

    def __init__(self, result: dict):
        self.result = result

    def _repr_html_(self) -> str:
        return body(self.result)

    def __repr__(self) -> str:
        return report_text(self.result)


def page(result: dict) -> str:
    title = f"Speculation on {escape(result['meta']['file'])}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{title}</title>'
        f'<body style="{STYLE}"><h1>{title}</h1>{body(result)}</body></html>'
    )


def report_text(result: dict) -> str:
    return as_text(body(result))


def body(result: dict) -> str:
    """The verdict first, then what it rests on."""
    parts = from_endpoint(result) if "endpoint" in result else from_measurement(result)
    if result["problems"]:
        parts.append("<h2>Left out</h2><ul>" + "".join(f"<li>{escape(p)}</li>" for p in result["problems"]) + "</ul>")
    return "".join(parts)


def from_measurement(result: dict) -> list[str]:
    meta, policy = result["meta"], result["policy"]
    rows = [
        (
            r["arm"],
            r["gamma"] or "–",
            r["kind"],
            r["prompts"],
            f"{r['tokens_per_pass']:.2f}",
            "–" if r["alpha"] is None else f"{r['alpha']:.2f}",
            f"{r['ratio_to_plain']:.2f}",
            f"{r['ratio_interval'][0]:.2f} to {r['ratio_interval'][1]:.2f}" if r["ratio_interval"] else "–",
            f"{r['repetition']:.0%}",
        )
        for r in result["rows"]
    ]
    paces = [(name, *(f"{x[key]:.1f}" for key in ("mean", "p50", "p95"))) for name, x in result["latency"].items()]
    lines = [
        Line(f"{r['arm']}", list(enumerate(r["alpha_by_position"], 1)))
        for r in result["rows"]
        if r["kind"] == "overall" and r["alpha_by_position"]
    ]
    return [
        f"<p><b>{escape(result['verdict'].upper())}.</b> {escape(result['reason'])}</p>",
        f"<p>{escape(in_words(policy))}</p>",
        f"<p>{escape(meta['target'])} on {escape(meta['hardware'])}, temperature {meta['temperature']:g}, "
        f"{meta['prompts']} prompts, each decoded {meta['repeats']} times by every arm, by turns. "
        "Times are of writing, not of reading the prompt.</p>",
        "<h2>Milliseconds a token</h2>",
        table(("arm", "mean", "half within", "95 % within"), paces),
        "<h2>By drafter and kind</h2>",
        table(HEADS, rows),
        chart("Of the tested drafts, the share that was accepted", lines, "place in the round", "α by position", 0.0)
        if lines
        else "",
    ]


def in_words(policy: dict) -> str:
    """The policy as a sentence."""
    if not policy["drafter"]:
        return "Policy: decode plainly."
    kinds = f", except for {', '.join(policy['off_for_kinds'])}" if policy["off_for_kinds"] else ""
    limit, largest = policy["off_above_texts_at_once"], policy["largest_batch_measured"]
    if limit >= largest:
        load = f"it paid up to the largest batch that was measured, {largest} texts"
    else:
        load = f"off when more than {limit} texts are decoded at once"
    return f"Policy: draft with {policy['drafter']}, γ = {policy['gamma']}{kinds}; {load}."


def from_endpoint(result: dict) -> list[str]:
    pace, found = result["ms_per_token"], result["speculation"]
    parts = [
        f"<p>{escape(result['model'])} at {escape(result['endpoint'])}: {result['answers']} prompts, one after the other.</p>",
        f"<p>{result['ms_to_first_token']:.0f} ms to the first token"
        + (f", then {pace['mean']:.1f} ms a token (95 % within {pace['p95']:.1f})." if pace else ".")
        + "</p>",
    ]
    if found:
        places = [
            (i, f"{s:.2f}", f"{a:.2f}")
            for i, (s, a) in enumerate(zip(found["survival_by_position"], found["alpha_by_position"]), 1)
        ]
        parts += [
            f"<p>{found['rounds']} rounds with drafts, {found['tokens_per_pass']:.2f} tokens each.</p>",
            table(("place", "survival (as the server counts)", "α by position (survival / the one before)"), places),
        ]
    return parts
