"""The steps of exercise 6's drafter, on results that are made up: the share reached, the refusal, and what is advised."""

import pytest
from specdec_grader.mistake import Wrong
from specdec_grader.sheets import e06_variants as sheet
from specdec_grader.sheets.e06_variants import next_step, renumbered
from specdec_grader.supplied.copying import Replayed, Text

PLAIN = Replayed(tokens=124_000, passes=80_000, drafted=200_000, silent=10_000)  # 1.24 tokens per cost, 1.55 per pass


def times_plain(times: float) -> Replayed:
    """A result of so many times the plain version's tokens per cost, half of its rounds silent."""
    return Replayed(round(124_000 * times), 90_000, 100_000, 45_000)


@pytest.fixture
def judged(monkeypatch):
    def of(yours: Replayed) -> Wrong | None:
        results = iter([yours, PLAIN])
        monkeypatch.setattr(sheet, "texts", list)
        monkeypatch.setattr(sheet, "total", lambda replays: next(results))
        try:
            return sheet.judge_improve(None)
        except Wrong as wrong:
            return wrong

    return of


def test_improve_each_step_is_a_third_and_counts_where_it_is_reached(judged):
    shares = {times: judged(times_plain(times)) for times in (1.04, 1.05, 1.11, 1.12, 1.17)}
    assert {times: round(wrong.earned, 3) for times, wrong in shares.items()} == {
        1.04: 0, 1.05: 0.333, 1.11: 0.333, 1.12: 0.667, 1.17: 0.667,
    }  # fmt: skip
    assert judged(times_plain(1.18)) is None and judged(times_plain(1.54)) is None


def test_improve_more_than_anybody_could_reach_is_refused_and_brings_nothing(judged):
    wrong = judged(times_plain(1.56))
    assert str(wrong).startswith("Your drafter brings 1.56 times the plain version.") and wrong.earned == 0


def test_improve_the_result_is_told_with_that_of_the_plain_version(judged):
    assert str(judged(times_plain(1.1))).startswith(
        "Your drafter brings 1.36 tokens per cost, 1.100 times the plain version (1.24); the steps are 1.05, 1.12, 1.18. "
    )


@pytest.mark.parametrize(
    ("yours", "times", "said", "belief"),
    [
        (
            Replayed(100, 100, 50, 61),
            0.9,
            "It is silent in 61% of the rounds. A wrong draft does not spoil the text, it only costs 0.1: try more",
            11,
        ),
        (Replayed(100, 100, 50, 61), 1.0, "It is silent in 61% of the rounds.", None),
        (Replayed(160, 100, 600, 60), 0.99, "(1.60 against 1.55), but it drafts 6.0 tokens in a round", 7),
        (Replayed(155, 100, 600, 0), 0.97, "Where are its drafts wrong", None),
        (Replayed(155, 100, 410, 0), 0.981, "It drafts 4.1 tokens in a round, and most of them stand behind a miss", 8),
        (Replayed(160, 100, 400, 0), 1.01, "After how long a match is a copy mostly right?", None),
        (Replayed(160, 100, 410, 0), 1.02, "After how long a match is a copy mostly right?", None),
    ],
)
def test_improve_what_to_think_about_next(yours, times, said, belief):
    mistake = next_step(yours, PLAIN, times)
    assert said in mistake.said and mistake.belief == belief


def test_improve_other_numbers_for_tokens_keep_what_follows_what():
    text = Text("a", [7, 8, 7, 9], [8, 7, 300])
    other = renumbered(text, 1)
    ids, new = text.prompt + text.answer, other.prompt + other.answer
    assert len(other.prompt) == 4 and other.id == "a" and not set(ids) & set(new)
    assert len(set(zip(ids, new))) == len(set(ids)) == len(set(new))
    assert renumbered(text, 1) == other != renumbered(text, 2)
    assert all(0 <= i < sheet.VOCABULARY for i in new)
