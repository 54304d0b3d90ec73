"""The rounds that exercise 2's loop is tried with: each kind, and a limit and an end marker at each place of a round."""

import re

from answers import e02_draft_then_verify as rounds
from specdec_grader.coerce import common_start
from specdec_grader.part import WRONG, grade_part
from specdec_grader.sheets.e02_draft_then_verify import NO_END, runs

RUNS = runs()


def accepted(run) -> list[tuple[int, int]]:
    """(drafts, of them right) of each round, if the whole text is written."""
    at, found = len(run.prompt), []
    while at < len(run.prompt) + run.n:
        text = run.truth[:at]
        drafts = run.drafting(text, run.gamma)
        right = common_start(drafts, run.truth[at:])
        found.append((len(drafts), right))
        at += right + 1
    return found


def ended(run) -> int | None:
    """The place of the end marker in the new text, if it is written."""
    new = run.truth[len(run.prompt) :][: run.n]
    return new.index(run.end) if run.end in new else None


def test_loop_the_limit_is_at_each_place_of_a_round():
    no_end = [run for run in RUNS[6:] if run.end == NO_END]
    all_right, two_right = ({run.n for run in no_end if accepted(run)[0][1] == right} for right in (4, 2))
    assert {(n - 1) % 5 for n in all_right} == set(range(5)) and max(all_right) > 5
    assert two_right == {1, 2, 3, 5}


def test_loop_the_end_marker_is_at_each_place_of_a_round():
    for right, length in ((4, 5), (2, 3)):
        places = {ended(run) for run in RUNS if run.n == 16 and accepted(run)[0][1] == right}
        assert {place % length for place in places} == set(range(length))
        assert max(places) >= length, "also in a later round"


def test_loop_what_is_changed_after_the_last_round_is_told_as_its_round():
    verdict = grade_part("2.loop", rounds.loop(cut=lambda new, n, end: [*new[: n - 1], 9]))
    assert verdict.status == WRONG and re.search(r"With the drafts .* your loop writes .* 9\]", verdict.message)
