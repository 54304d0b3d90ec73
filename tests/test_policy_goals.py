"""The goals of exercise 7's policy, on times that are given: which are reached, with how much room, and what is advised."""

import pytest
from specdec_grader.sheets import e07_when_it_backfires as sheet
from specdec_grader.sheets.e07_when_it_backfires import DAY, NIGHT, NOON

# (mean, 95 %) in ms: what γ = 0 and γ = 4 take at each time. At night drafts are the best, at noon none.
FIXED = {
    0: {NIGHT: (20.0, 30.0), NOON: (100.0, 200.0), DAY: (40.0, 60.0)},
    4: {NIGHT: (10.0, 20.0), NOON: (300.0, 400.0), DAY: (50.0, 80.0)},
}
BEST = {NIGHT: (10.0, 20.0), NOON: (100.0, 200.0), DAY: (30.0, 50.0)}


@pytest.fixture(autouse=True)
def given(monkeypatch):
    monkeypatch.setattr(sheet, "times", lambda log: log)
    monkeypatch.setattr(sheet, "with_fixed_gamma", FIXED.__getitem__)


def test_7_policy_all_goals_are_reached_at_their_limits():
    assert sheet.missed(BEST) == []
    assert sheet.missed({NIGHT: (10.5, 21.0), NOON: (103.0, 206.0), DAY: (38.0, 59.9)}) == []


@pytest.mark.parametrize(
    ("when", "found"),
    [
        (NIGHT, (10.6, 20.0)), (NIGHT, (10.0, 21.1)), (NOON, (103.5, 200.0)), (NOON, (100.0, 206.5)),
        (DAY, (38.5, 50.0)), (DAY, (30.0, 60.0)),
    ],
)  # fmt: skip
def test_7_policy_each_goal_is_about_the_mean_and_the_slowest(when, found):
    assert sheet.missed({**BEST, when: found}) == [when]


def test_7_policy_the_goals_are_told_in_their_order():
    assert sheet.missed(FIXED[0]) == [NIGHT, DAY] and sheet.missed(FIXED[4]) == [NOON, DAY]
