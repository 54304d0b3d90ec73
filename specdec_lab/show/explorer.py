"""Recorded runs, live: the Round Explorer, the Tree Explorer, and the race. Each has a picture and a text besides.

A learner marks a round, reveals it, and steps through a whole text; or sees two ways write one text, each as fast as it
was.
"""

from collections.abc import Callable
from html import escape

import traitlets

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError, typed
from specdec_lab.formats import rounded
from specdec_lab.show.charts import label, svg
from specdec_lab.show.live import Live
from specdec_lab.show.marks import MARKS, marked, visible
from specdec_lab.show.table import table
from specdec_lab.show.terminal import summary, to_json

BEFORE = 160  # characters of text shown ahead of a round


def explorer_data(trace: Trace, text_of: Callable[[list[int]], str], title: str) -> dict:
    """Everything the explorer shows, as plain data; the form in which a recorded run is kept.

    Args:
        trace: made with `Keep(top=5)`, so that each token has its alternatives.

    Raises:
        LabError: for a trace without rounds (interrupted before the first).
    """
    if not trace.rounds:
        raise LabError("There is no round to show: the run was interrupted before its first one. Run it again.")
    rounds = to_json(trace, text_of, detail=True)
    text = list(trace.prompt)
    for r, record in zip(trace.rounds, rounds):
        before = text_of(text)
        record["before"] = before if len(before) <= BEFORE else "…" + before[-BEFORE:]
        record["stop"] = r.stop
        record["after_top"] = [{"id": i, "text": text_of([i]), "p": p} for i, p in r.after_top]
        text += r.tokens
    return rounded({"title": title, "greedy": _greedy(trace), "summary": summary(trace), "rounds": rounds}, 4)


def _greedy(trace: Trace) -> bool:
    return all(d.u is None for r in trace.rounds for d in r.drafted)


def token_html(word: str, text: str) -> str:
    """A token in a box with its mark."""
    mark = MARKS[word]
    dashed, struck = ("dashed", "line-through") if word == "discarded" else ("solid", "none")
    box = f"display:inline-block;border:2px {dashed} {mark.colour};border-radius:4px;padding:0 6px;margin:2px"
    code = f"background:none;text-decoration:{struck};white-space:pre"
    return (
        f'<span style="{box}">{mark.symbol} <code style="{code}">{escape(visible(text))}</code>'
        f'<span style="font-size:11px"> {word}</span></span> '
    )


class RoundExplorer(Live):
    """Shows `data`, as `explorer_data` makes it or as it was recorded."""

    scripts = ("common.js", "explorer.js")
    most = 10  # rounds in the picture, the first ones
    revealed = traitlets.List(traitlets.Int()).tag(sync=True)  # rounds that were opened
    guesses = traitlets.Dict().tag(sync=True)  # {round: {column: word}}; the column after the drafts is the target's

    def picture(self) -> str:
        rounds = self.data["rounds"]
        parts = [self.round_html(n, r) for n, r in enumerate(rounds[: self.most], 1)]
        parts += [f"<div>… and {len(rounds) - self.most} more.</div>"] if len(rounds) > self.most else []
        title, summary = escape(self.data["title"]), escape(self.data["summary"])
        return f'<div style="font-size:14px"><b>{title}</b>{"".join(parts)}<div>{summary}</div></div>'

    def text(self) -> str:
        rounds = self.data["rounds"]
        lines = [self.round_text(n, r) for n, r in enumerate(rounds[: self.most], 1)]
        lines += [f"… and {len(rounds) - self.most} more rounds"] if len(rounds) > self.most else []
        return "\n".join([self.data["title"], *lines, self.data["summary"]])

    def round_html(self, n: int, r: dict) -> str:
        drafts = "".join(token_html(d["status"], d["text"]) for d in r["drafted"]) or "nothing drafted "
        own = token_html(r["emitted"]["kind"], r["emitted"]["text"]) if r["emitted"] else f"stopped ({r['stop']})"
        tops = f'<div style="font-size:12px;opacity:.8">{escape(self._target_line(r))}</div>'
        return f'<div style="margin:6px 0">round {n}: {drafts}→ {own}{tops}</div>'

    def round_text(self, n: int, r: dict) -> str:
        drafts = " ".join(marked(d["status"], d["text"]) for d in r["drafted"]) or "nothing drafted"
        e = r["emitted"]
        own = f"{marked(e['kind'], e['text'])} {e['kind']}" if e else f"stopped ({r['stop']})"
        return f"round {n}: {drafts}  →  {own}   ({self._target_line(r)})"

    def _target_line(self, r: dict) -> str:
        """The target's most likely token at each place of a round, the one after the last draft included."""
        tops = [*(d["p_top"] for d in r["drafted"]), r["after_top"]]
        name = "the target said" if self.data["greedy"] else "the target's favourites"  # sampled, it need not say them
        return f"{name}: " + " ".join(f"“{visible(t[0]['text'])}”" for t in tops if t)


class TreeExplorer(RoundExplorer):
    """Rounds whose drafts are trees, a tree at a time. `guesses`: {round: the drafts that were marked}."""

    scripts = ("common.js", "tree.js")
    most = 4

    def round_html(self, n: int, r: dict) -> str:
        lines = "".join(
            f'<div style="padding-left:{26 * depth}px;white-space:nowrap">{token_html(word, text)}</div>'
            for depth, word, text in outline(r)
        )
        return f'<div style="margin:6px 0;overflow-x:auto">round {n}:{lines}</div>'

    def round_text(self, n: int, r: dict) -> str:
        lines = [f"{'   ' * depth}  {marked(word, text)} {word}" for depth, word, text in outline(r)]
        return "\n".join([f"round {n}:", *lines])


def outline(r: dict) -> list[tuple[int, str, str]]:
    """(depth, word, text) of a round's drafts and of the target's own token, each behind what it follows."""
    last = max((i for i, d in enumerate(r["drafted"]) if d["status"] == "accepted"), default=-1)

    def behind(place: int, depth: int) -> list[tuple[int, str, str]]:
        lines = []
        for i, d in enumerate(r["drafted"]):
            if d.get("parent", i - 1) == place:
                lines += [(depth, d["status"], d["text"]), *behind(i, depth + 1)]
        if place == last and r["emitted"]:
            lines.append((depth, r["emitted"]["kind"], r["emitted"]["text"]))
        return lines

    return behind(-1, 0)


def race_data(plain: Trace, speculative: Trace, text_of: Callable[[list[int]], str], title: str, hardware: str) -> dict:
    """What the race shows, as plain data: tokens and rounds with the seconds that each took.

    Raises:
        LabError: for traces without rounds (interrupted before the first).
    """
    if not (plain.rounds and speculative.rounds):
        raise LabError(
            "There is nothing to show of this race: it was interrupted before its first round. Run it again."
        )
    return {
        "title": title,
        "hardware": hardware,
        "greedy": _greedy(speculative),
        "plain": {"tokens": [text_of([token]) for token in plain.tokens], "seconds": plain.times},
        "rounds": to_json(speculative, text_of),
        "seconds": speculative.times,
    }


def lanes(data: dict) -> dict[str, list[tuple[float, int]]]:
    """For both ways of decoding, after each pass: (seconds since the start, tokens written)."""
    rounds = [sum(d["status"] == "accepted" for d in r["drafted"]) + bool(r["emitted"]) for r in data["rounds"]]
    ways = {
        "plain": (data["plain"]["seconds"], [1] * len(data["plain"]["tokens"])),
        "speculative": (data["seconds"], rounds),
    }
    found = {}
    for name, (seconds, tokens) in ways.items():
        at, n, found[name] = 0.0, 0, []
        for more, new in zip(seconds, tokens):
            at, n = at + more, n + new
            found[name].append((at, n))
    return found


def result(data: dict) -> str:
    """Who was how much faster, in a sentence. Texts may differ in length, so what counts is seconds a token."""
    (plain, n), (speculative, m) = (lane[-1] for lane in lanes(data).values())
    ratio = (plain / n) / (speculative / m)
    return (
        f"Plain decoding wrote {n} tokens in {plain:.2f} s, with a pass for each. Speculation wrote {m} tokens in "
        f"{speculative:.2f} s, in {len(data['rounds'])} rounds: {ratio:.2f} times as fast per token."
    )


class RaceWidget(Live):
    """Plain and speculative decoding of one text, side by side on the clock that was recorded. Shows `data`, as
    `race_data` makes it or as it was recorded."""

    scripts = ("common.js", "controls.js", "race.js")

    def picture(self) -> str:
        wide, high, name_width = 640, 34, 96  # pixels: of the picture, of a lane, and of the name in front of it
        found = lanes(self.data)
        end = max(lane[-1][0] for lane in found.values())
        per_second = (wide - name_width - 10) / end
        parts = []
        for i, (name, lane) in enumerate(found.items()):
            top, before = 6 + i * (high + 8), 0.0
            mark = MARKS["plain" if name == "plain" else "bonus"]
            paint = f'fill="{mark.colour}" fill-opacity=".3" stroke="currentColor" stroke-opacity=".5"'
            parts.append(label(0, top + high / 2 + 4, name))
            for at, _ in lane:
                left, width = name_width + before * per_second, (at - before) * per_second
                parts.append(f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{high}" {paint}/>')
                before = at
        look = f'fill="currentColor" style="max-width:{wide}px;width:100%;font:13px sans-serif"'
        drawn = svg(wide, 2 * high + 20, look, "A box is a pass; its width is its time", parts)
        rows = []
        for now in (end * k / 5 for k in range(1, 6)):  # five moments at equal distances
            written = (max([n for at, n in lane if at <= now + 1e-9], default=0) for lane in found.values())
            rows.append((f"{now:.2f} s", *map(str, written)))
        numbers = table(("after", *(f"{name}: tokens" for name in found)), rows, row_heads=True, align="right")
        title, won, hardware = (escape(x) for x in (self.data["title"], result(self.data), self.data["hardware"]))
        about = f"{won} Measured on {hardware}, without the prompt's own pass."
        return f'<div style="font-size:14px"><b>{title}</b>{drawn}{numbers}<div>{about}</div></div>'


@typed
def round_by_hand(before: str, drafts: str, target: str, title: str = "One round, made by hand") -> RoundExplorer:
    """The Round Explorer on a round of words, one for each place, by the greedy rule: no model, no waiting.

    Args:
        before: the text so far.
        drafts: what the draft model proposes.
        target: what the target says at each place, and behind the last draft: one word more than the drafts.

    Raises:
        LabError: for another number of words.
    """
    proposed, said = drafts.split(), target.split()
    if len(said) != len(proposed) + 1:
        raise LabError(
            f"{len(proposed)} drafts and {len(said)} words of the target: it says one at each place and one behind them."
        )
    accepted = next((i for i, draft in enumerate(proposed) if draft != said[i]), len(proposed))

    def surely(word: str) -> list[dict]:
        return [{"id": word, "text": f" {word}", "p": 1.0}]

    def draft(i: int) -> dict:
        right = float(proposed[i] == said[i])
        status = "accepted" if i < accepted else "rejected" if i == accepted else "discarded"
        tops = {"p_top": surely(said[i]), "q_top": surely(proposed[i])}
        numbers = {"p": right, "q": 1.0, "p_raw": right, "q_raw": 1.0, "u": None, "overlap": right}
        return {"id": proposed[i], "text": f" {proposed[i]}", "status": status, **numbers, **tops}

    own = said[accepted]
    emitted = {"id": own, "text": f" {own}", "kind": "bonus" if accepted == len(proposed) else "corrected"}
    emitted |= {"p": 1.0, "p_raw": 1.0, "p_top": surely(own)}
    rounds = [
        {
            "drafted": [draft(i) for i in range(len(proposed))],
            "emitted": emitted,
            "before": before,
            "stop": None,
            "after_top": surely(said[-1]),
        }
    ]
    summary = f"{accepted + 1} new tokens in one target pass."
    return RoundExplorer({"title": title, "greedy": True, "summary": summary, "rounds": rounds, "words": True})


def recorded_round() -> RoundExplorer:
    """The round of lesson 00."""
    return round_by_hand("Last night", "the cat sat on a", "the cat sat by a .")
