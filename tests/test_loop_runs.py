"""The rounds that exercise 2's loop is tried with: each kind, and a limit and an end marker at each place of a round."""

import re

from answers import rounds
from specdec_grader.part import WRONG, judged
from specdec_grader.sheets.e02_draft_then_verify import NO_END, PROMPT, prompt_with_end, runs

from specdec_lab.course.given.toy import ToyTarget, written_alone
from specdec_lab.course.reading import common_start

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


def test_loop_rounds_of_each_kind():
    first = [accepted(run) for run in RUNS[:6]]
    assert all(round == (4, 2) for round in first[0])
    assert all(round == (4, 4) for round in first[1])
    assert all(round == (3, 0) for round in first[2])
    assert set(first[3]) == {(0, 0), *((5, right) for right in range(6))}
    assert set(first[4]) == {(1, 0), (1, 1)}
    assert all(round == (0, 0) for round in first[5])


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


def test_loop_an_end_marker_that_is_never_written_is_a_draft_or_a_choice():
    never = [run for run in RUNS if run.n == 14]
    assert len(never) == 3 and all(ended(run) is None for run in never)
    drafts = never[0].drafting(PROMPT, 4)
    choices = ToyTarget().extend([*PROMPT, *drafts])[len(PROMPT) - 1 :]
    assert [run.end for run in never] == [
        drafts[2],
        drafts[3],
        choices[4],
    ]  # the missed, the one behind, the last row's


def test_loop_an_end_marker_of_the_prompt_comes_again_in_the_text():
    prompt, end = prompt_with_end()
    assert prompt[0] == end and written_alone(prompt, 12).index(end) == 6
    tried = [run for run in RUNS if run.prompt == prompt]
    assert [accepted(run)[0][1] for run in tried] == [4, 0] and all(ended(run) == 6 for run in tried)


def test_loop_no_token_is_the_marker_that_never_comes():
    assert all(NO_END not in run.truth for run in RUNS) and not 10 <= NO_END < 100


def test_loop_what_is_changed_after_the_last_round_is_told_as_its_round():
    verdict = judged("2.loop", rounds.loop(cut=lambda new, n, end: [*new[: n - 1], 9]))
    assert verdict.status == WRONG and re.search(r"With the drafts .* your loop writes .* 9\]", verdict.message)
