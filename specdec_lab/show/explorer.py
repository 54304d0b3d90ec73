"""Recorded runs, live: the Round Explorer, the Tree Explorer, and the race.

A learner marks a round, reveals it, and steps through a whole text; or sees two ways write one text, each as fast as it
was.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import traitlets

from specdec_lab.engine.trace import ACCEPTED, BONUS, CORRECTED, DISCARDED, REJECTED, Draft, Emitted, Round, Trace
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
    """What the race shows, as plain data: tokens and rounds with the seconds that each took."""
    if not (plain.rounds and speculative.rounds):
        raise LabError("There is nothing to show: this race was interrupted before its first round. Run it again.")
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
    """
    proposed, said = drafts.split(), target.split()
    if len(said) != len(proposed) + 1:
        raise LabError(
            f"{len(proposed)} drafts and {len(said)} words of the target: it says one at each place and one behind them."
        )
    words = [before, *dict.fromkeys(f" {word}" for word in (*proposed, *said))]
    guessed, wanted = ([words.index(f" {word}", 1) for word in some] for some in (proposed, said))
    right = [float(guess == want) for guess, want in zip(guessed, wanted)]
    accepted = [*right, 0.0].index(0.0)
    status = [ACCEPTED] * accepted + [REJECTED] + [DISCARDED] * len(right)

    def draft(i: int) -> Draft:
        tops = {"p_top": ((wanted[i], 1.0),), "q_top": ((guessed[i], 1.0),)}
        return Draft(guessed[i], right[i], 1.0, right[i], 1.0, right[i], None, status[i], **tops, parent=i - 1)

    own, kind = wanted[accepted], BONUS if accepted == len(right) else CORRECTED
    emitted = Emitted(own, kind, 1.0, 1.0, ((own, 1.0),))
    made = Round(1, tuple(map(draft, range(len(right)))), emitted, after_top=((wanted[-1], 1.0),))
    data = explorer_data(Trace([0], [made]), lambda ids: "".join(words[i] for i in ids), title)
    return RoundExplorer(data | {"words": True})


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
