"""The sentences below results, for each kind of numbers that can come: rising, flat, falling, jumping, noisy."""

from types import SimpleNamespace

import pytest
import torch

from specdec_lab.engine.trace import ACCEPTED, REJECTED, Draft, Emitted, Round, Seconds, Trace
from specdec_lab.measure.costs import Race
from specdec_lab.measure.serving import StepCosts
from specdec_lab.show import in_words


def steady(T: dict[int, float]) -> dict[int, list[float]]:
    """Times in ms, seven turns that agree."""
    return {k: [ms / 1e3] * 7 for k, ms in T.items()}


def noisy(T: dict[int, float], spread: float) -> dict[int, list[float]]:
    return {k: [ms / 1e3 * (1 + spread * turn) for turn in (-2, -1, 0, 0, 0, 1, 2)] for k, ms in T.items()}


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (
            steady({1: 20, 5: 21.4, 16: 32, 64: 90}),
            ["1.07 times as long as one: four places are checked for 7% more", "twice as long with about 23 tokens"],
        ),
        (steady({1: 20, 5: 20.2, 64: 30}), ["checked for nothing", "Even 64 tokens take less than twice as long"]),
        (steady({1: 20, 5: 50, 64: 400}), ["2.50 times as long as one: four places are checked for 150% more"]),
        (
            steady({1: 20, 5: 15, 64: 90}),
            ["take only 0.75 times as long", "plain decoding is not at its best", "These times are doubtful"],
        ),
        (noisy({1: 20, 5: 20.5, 64: 24}, 0.4), ["checked for nothing", "Even 64 tokens"]),
    ],
)
def test_passes_rise_stay_jump_or_fall(times, said):
    found = in_words.passes(times)
    assert all(part in found for part in said), found
    assert ("another program was running" in found) == (times[1][0] != times[1][-1])


def test_one_token_waits_for_reading_or_for_computing():
    assert in_words.one_token(0.020, 0.001) == (
        "Reading takes 20 times as long as computing: plain decoding can write 50 tokens a second at most."
    )
    assert "so there is no idle math: plain decoding can write 25 tokens" in in_words.one_token(0.02, 0.04)
    assert in_words.one_token(0.02, 0.0201).startswith("Both take equally long")


def race(seconds_of_round: float, tokens: int = 3, ratios: int = 3) -> Race:
    """Rounds of so many tokens against plain steps of a second."""

    def trace(n: int, seconds: float) -> Trace:
        drafts = tuple(Draft(0, 1.0, 1.0, None, None, 1.0, None, ACCEPTED) for _ in range(n - 1))
        return Trace(
            [0],
            [
                Round(1 + n * i, drafts, Emitted(0, "bonus", 1.0, None), seconds=Seconds(0, seconds, 0))
                for i in range(4)
            ],
        )

    return Race([tokens / seconds_of_round] * ratios, trace(1, 1.0), trace(tokens, seconds_of_round))


def test_a_race_is_won_lost_or_undecided():
    assert in_words.race(race(1.5)).startswith(
        "A round wrote 3.00 tokens and took 1.50 times as long as a step of plain decoding: 3.00 / 1.50 = 2.00 times as fast."
    )
    assert "0.75 times as fast, so here the drafts were a loss." in in_words.race(race(4.0))
    assert "neither a gain nor a loss" in in_words.race(race(3.0))
    unsteady = Race([1.0, 2.0, 3.0], race(1.5).plain, race(1.5).speculative)
    assert "These times say little" in in_words.race(unsteady)


def test_fewer_bits_are_faster_or_not_and_leave_less_or_not():
    faster = {"32 bits": steady({1: 20, 5: 21}), "16 bits": steady({1: 12, 5: 13}), "4 bits": steady({1: 6, 5: 9})}
    assert "20, 12 and 6 ms with 32 bits, 16 bits and 4 bits" in in_words.formats(faster)
    assert "each further token costs more of it" in in_words.formats(faster)
    assert "a wide pass costs no more of a narrow one" in in_words.formats(faster | {"4 bits": steady({1: 6, 5: 6.2})})
    assert "not faster here" in in_words.formats(faster | {"4 bits": steady({1: 21, 5: 22})})


def test_texts_are_the_same_or_nearly_tied():
    whole, half = (SimpleNamespace(dtype=dtype) for dtype in (torch.float32, torch.bfloat16))
    assert in_words.same_texts(15, 15, whole) == "All 15 texts are those of plain decoding, token for token."
    assert "14 of 15" in in_words.same_texts(14, 15, whole) and "on this device" in in_words.same_texts(14, 15, whole)
    assert "in so few bits" in in_words.same_texts(9, 15, half)


def test_kinds_are_apart_or_overlap():
    apart = {"repeat": {"a": 0.9, "b": 0.8}, "story": {"c": 0.5, "d": None}}
    assert in_words.kinds(apart) == (
        "Mean α by kind: repeat 0.85, story 0.50. Each text of the kind repeat lies above each of the kind story."
    )
    assert "trust no order" in in_words.kinds({"repeat": {"a": 0.9, "b": 0.4}, "story": {"c": 0.5}})


def traces_of(rounds: list[tuple[int, float, float]], gamma: int = 3) -> dict:
    """Rounds that accept so many of γ drafts, each with the same overlap and target's favourite."""
    made = []
    for accepted, overlap, top in rounds:
        statuses = [ACCEPTED] * accepted + [REJECTED] * (accepted < gamma) + ["discarded"] * (gamma - accepted - 1)
        drafts = tuple(Draft(0, overlap, 1.0, None, None, overlap, 0.5, s, ((0, top),)) for s in statuses)
        made.append(Round(1, drafts, Emitted(0, "bonus" if accepted == gamma else "corrected", 1.0, None)))
    return {"kind": {"text": Trace([0], made)}}


def test_a_sure_target_is_easier_or_not():
    easier = traces_of([(3, 0.9, 0.95), (0, 0.3, 0.2)])
    assert in_words.sureness(easier) == (
        "Where the target gives its favourite less than 0.4, α is 0.30, over 1 drafts. Where it gives it more than 0.8, "
        "α is 0.90, over 3."
    )
    assert "no easier to guess" in in_words.sureness(traces_of([(3, 0.2, 0.95), (0, 0.3, 0.2)]))
    assert in_words.sureness(traces_of([(3, 0.9, 0.95)])) == "The target was equally sure at all of these places."


def test_the_formula_agrees_or_promises_too_much_or_too_little():
    agrees = traces_of([(3, 0.75, 0.5), (2, 0.75, 0.5), (1, 0.75, 0.5), (1, 0.75, 0.5)])  # 2.75 tokens, formula 2.73
    assert in_words.formula(agrees, 3).endswith("and 2.75 were counted: 1% apart.")
    assert "too many. Here drafts do not survive" in in_words.formula(traces_of([(0, 0.75, 0.5)] * 3), 3)
    assert "too few" in in_words.formula(traces_of([(3, 0.3, 0.5)] * 3), 3)


def test_the_best_gamma_is_said_of_each_drafter_also_of_one_that_only_loses():
    def row(ratio: float, gamma: int) -> dict:
        return {"gamma": gamma, "ratio_to_plain": ratio}

    results = {
        1: {"plain": row(1.0, 0), "eagle": row(1.4, 1), "untrained": row(0.9, 1)},
        4: {"plain": row(1.0, 0), "eagle": row(1.8, 4), "untrained": row(0.7, 4)},
    }
    assert in_words.best_gammas(results) == (
        "eagle is best with γ = 4, 1.80 times as fast as plain decoding; untrained loses with every γ tried here. "
        "The best of them is eagle."
    )


def test_bits_and_drafts_together_are_less_than_their_product():
    found = {
        "32 bits": {"plain": 30, "best": 60},
        "16 bits": {"plain": 50, "best": 90},
        "4 bits": {"plain": 90, "best": 108},
    }
    said = in_words.fewer_bits(found)
    assert (
        "4 bits in place of 32 bits make plain decoding 3.0 times as fast" in said and "1.20 times with 4 bits" in said
    )
    assert "Both together bring 3.6 times, where 3.0 · 2.0 would be 6.0." in said


def test_it_is_said_where_each_gamma_begins_to_lose_also_if_none_does():
    costs = StepCosts({(n, g): max(1.0, n * (g + 1) / 8) for n in (1, 2, 4, 8) for g in (0, 1, 4)})
    assert in_words.crossovers(costs, {0: 1.0, 1: 1.6, 4: 2.2}) == (
        "Drafting loses with γ = 4 from 4 texts on, with γ = 1 from 7 texts on."
    )
    flat = StepCosts({(n, g): 1.0 for n in (1, 8) for g in (0, 4)})
    assert "with γ = 4 not with up to 8 texts, the most that were timed" in in_words.crossovers(flat, {0: 1.0, 4: 2.2})


def test_policies_are_compared_at_both_ends():
    curves = {
        "never": [(10, 50.0), (90, 300.0)],
        "always 4": [(10, 30.0), (70, 500.0)],
        "by load": [(10, 31.0), (89, 310.0)],
    }
    assert in_words.policies(curves).endswith("always 4 70, by load 89. The best are always 4 and never.")
    assert "by confidence is the best of both." in in_words.policies(
        curves | {"by confidence": [(10, 29.0), (95, 290.0)]}
    )
