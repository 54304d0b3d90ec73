"""Recorded runs, live: the Round Explorer, the Tree Explorer, and the race.

A learner marks a round, reveals it, and steps through a whole text; or sees two ways write one text, each as fast as it
was.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import traitlets

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.formats import rounded
from specdec_lab.show.live import Live
from specdec_lab.show.terminal import summary, to_json

if TYPE_CHECKING:  # the first round of the course does not wait for PyTorch
    from specdec_lab.lab import Lab
    from specdec_lab.measure.costs import Race

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


class RoundExplorer(Live):
    """Shows `data`, as `explorer_data` makes it or as it was recorded, or some of these by a menu: {"by", "runs"}."""

    scripts = ("common.js", "controls.js", "explorer.js")
    revealed = traitlets.List(traitlets.Int()).tag(sync=True)  # rounds that were opened
    guesses = traitlets.Dict().tag(sync=True)  # {round: {column: word}}; the column after the drafts is the target's
    seen = traitlets.Dict().tag(sync=True)  # of several runs, both of these for each, by its name


class TreeExplorer(RoundExplorer):
    """Rounds whose drafts are trees, a tree at a time. `guesses`: {round: the drafts that were marked}."""

    scripts = ("common.js", "tree.js")


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


class RaceWidget(Live):
    """Plain and speculative decoding of one text, side by side on the clock that was recorded. Shows `data`, as
    `race_data` makes it or as it was recorded."""

    scripts = ("common.js", "controls.js", "machine.js", "race.js")


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


def explore(lab: "Lab", trace: Trace | Mapping[str, Trace], title: str = "", by: str = "run") -> RoundExplorer:
    """The Round Explorer on a trace that `Lab.speculative` made; the Tree Explorer where some drafts are trees.

    Of several traces, by their names, a menu chooses one; `by` is what it calls them. None of these may have trees.
    """
    if isinstance(trace, Mapping):
        if not trace or any(r.is_tree for each in trace.values() for r in each.rounds):
            raise LabError("A menu needs a trace at least, and traces without trees: show a tree's by itself.")
        # A list, since a notebook's file puts names into alphabetical order.
        runs = [{"name": name} | explorer_data(each, lab.text, title or name) for name, each in trace.items()]
        return RoundExplorer({"by": by, "runs": runs})
    kind = TreeExplorer if any(r.is_tree for r in trace.rounds) else RoundExplorer
    title = title or ("Tree Explorer" if kind is TreeExplorer else "Round by round")
    return kind(explorer_data(trace, lab.text, title))


def replay(lab: "Lab", result: "Race", title: str = "") -> RaceWidget:
    """The last texts of `sd.race`, written again side by side as fast as they were, or slower."""
    title = title or "The race: plain decoding, and with drafts"
    data = race_data(result.plain, result.speculative, lab.text, title, f"{lab.target.name}, {lab.hardware}")
    return RaceWidget(data | {"layers": lab.target.layers})
