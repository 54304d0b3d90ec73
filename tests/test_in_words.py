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


@pytest.mark.parametrize(("three", "says"), [(1.70, "1.13 times"), (1.51, "no difference"), (1.2, "0.80 times")])
def test_what_a_design_brings_is_told_at_each_size_or_that_it_is_none(three, says):
    def run(design, tokens, E, rehearsed=""):
        return {"design": design, "tokens": tokens, "tokens_a_pass": E, "rehearsed": rehearsed}

    toy = [("last row", 1.4), ("last row, rehearsed", 1.5), ("three depths", 1.4), ("three depths, rehearsed", three)]
    whole = "all the way"
    further = [("last row", 2e7, 9.0, "at the end"), ("last row", 4e7, 3.0, whole), ("three depths", 3e6, 9.0, whole)]
    further += [("three depths", 4e7, 3.3, whole), ("three depths", 9e7, 9.0, whole)]
    said = in_words.designs([run(name, 1e5, E) for name, E in toy], [run(*one) for one in further])
    assert (
        says in said
        and "after 40 M 1.10 times" in said
        and said.endswith("after 0.1 M 1.07 times the tokens a pass (1.50 and 1.40).")
    )


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
    assert "the kind alone does not decide" in in_words.kinds({"repeat": {"a": 0.9, "b": 0.4}, "story": {"c": 0.5}})


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
        "“eagle” gains most: 1.80 times as fast as plain decoding, with γ = 4. "
        "“untrained” loses with every γ tried here."
    )
    for rows in results.values():
        rows["medusa"] = row(1.2, 1)
    assert "The others: “medusa” 1.20 with γ = 4. “untrained” loses" in in_words.best_gammas(results)
    only = {gamma: {name: rows[name] for name in ("plain", "untrained")} for gamma, rows in results.items()}
    assert in_words.best_gammas(only) == "Plain decoding is faster than “untrained”, with every γ tried here."


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
    assert in_words.policies(curves) == (
        "At the lowest load “always 4” is the fastest: 30 ms a token, and 50 with “never”. "
        "At the highest “never” writes the most: 90 tokens a second, and 90 with “never”."
    )
    more = in_words.policies(curves | {"by confidence": [(10, 29.0), (95, 290.0)]})
    assert "“by confidence” writes the most: 95 tokens a second, and 90 with “never”." in more


def test_predictions_are_off_in_one_direction_in_both_or_not_at_all():
    found = {1: 2.0, 2: 1.0}
    hoped = {"high": {1: 2.2, 2: 1.2}, "low": {1: 1.8, 2: 0.8}, "both": {1: 2.2, 2: 0.9}, "right": {1: 2.01, 2: 1.0}}
    assert in_words.predictions(hoped, found) == (
        "high: 15% off on average and 20% at most, too high. low: 15% off on average and 20% at most, too low. "
        "both: 10% off on average and 10% at most, in both directions. right: less than 1% off everywhere."
    )


def test_a_simulation_orders_policies_as_a_real_server_does_or_not():
    real, simulated = {"never": 100.0, "always": 150.0}, {"never": 80.0, "always": 120.0}
    assert in_words.served(real, simulated, again=110.0) == (
        "The order is the same: never before always. The real server took 1.25 to 1.25 times as long as the simulated one. "
        "Two real runs of “never” differ by 10%: policies that lie nearer than this cannot be ordered so."
    )
    tied = {"never": 80.0, "always": 120.0, "schedule": 80.5}
    assert "never and schedule before always" in in_words.served({**real, "schedule": 99.5}, tied, again=100.0)
    assert "The real order is always before never, the simulated one never before always." in in_words.served(
        {"never": 100.0, "always": 90.0}, simulated, again=100.0
    )


def test_a_chosen_gamma_loses_or_does_not():
    good, bad = {"auto": 1.5, "fixed": 1.6}, {"auto": 0.92, "fixed": 0.8}
    assert in_words.auto({"eagle": good}).endswith("With each of them auto was not slower than plain decoding.")
    assert in_words.auto({"eagle": good, "untrained": bad}) == (
        "Times as fast as plain decoding: eagle: auto 1.50, fixed 1.60; untrained: auto 0.92, fixed 0.80. "
        "With untrained auto was slower than plain decoding."
    )


def test_alpha_falls_rises_or_stays_along_an_answer():
    alphas = {"a": {"0": 0.6, "1": 0.5, "2": 0.4}, "b": {"0": 0.5, "1": 0.7}, "c": {"0": 0.5, "1": 0.52, "2": None}}
    assert in_words.stretches(alphas) == (
        "α in the first stretch of the answers, and later: a 0.60, later 0.45, lower; b 0.50, later 0.70, higher; "
        "c 0.50, later 0.52, as high."
    )


def test_a_favourite_survives_more_or_less_often_than_a_drawn_draft():
    assert "survives with chance 0.40, less than a drawn draft with 0.50" in in_words.two_ways(0.5, 0.4, 0.6)
    assert "survives with chance 0.60, more than a drawn draft with 0.50" in in_words.two_ways(0.5, 0.6, 0.6)


@pytest.mark.parametrize(
    ("alone", "both", "says"),
    [
        (0.4, 0.9, ["so α falls. On both", "so α rises."]),
        (0.9, 0.4, ["so α rises. On both", "so α falls."]),
        (0.5, 0.509, ["no change. On both", "no change."]),  # the second: no text differs, but by less than 2 %
    ],
)
def test_a_grammar_changes_alpha_on_one_side_on_both_or_not_at_all(alone, both, says):
    counts = {way: {p: (10 * x, 10) for p in "abcdef"} for way, x in (("none", 0.5), ("p", alone), ("both", both))}
    said = in_words.under_grammar(counts)
    assert all(part in said for part in says) and said.endswith(says[1]), said
    assert f"0.50 without a grammar, {alone:.2f} with one on p alone, and {both:.2f} with" in said


def test_texts_that_a_grammar_changes_in_both_directions_tell_nothing():
    apart = {p: (10 * x, 10) for p, x in zip("abcdef", (0.2, 0.9, 0.3, 0.9, 0.2, 0.8))}
    said = in_words.under_grammar({"none": {p: (5, 10) for p in "abcdef"}, "p": apart, "both": apart})
    assert said.count("cannot tell from no change") == 2


def test_a_draft_row_becomes_dearer_though_the_ratio_falls():
    """The mistake that this sentence is there for: 64 rows cost 32 ms and then 61, while the plain step tripled."""
    costs = {"short texts": {(16, 0): 0.02, (16, 4): 0.052}, "2,000 tokens": {(16, 0): 0.06, (16, 4): 0.121}}
    assert in_words.draft_rows(costs, 16, 4) == (
        "A draft row costs 0.50 ms behind short texts and 0.95 ms behind 2,000 tokens, so it became dearer. A plain step "
        "takes 20 ms and 60 ms. A step with 4 drafts takes 2.60 and 2.02 times as long as one without."
    )
    cheaper = {"short texts": {(8, 0): 0.02, (8, 4): 0.052}, "long ones": {(8, 0): 0.06, (8, 4): 0.07}}
    assert "it became cheaper" in in_words.draft_rows(cheaper, 8, 4)


def test_relaxed_rules_are_compared_with_what_luck_alone_does():
    trace = Trace([0], [Round(1, (), Emitted(0, "plain", 1.0, None))] * 4)
    perplexity = {"plain": [4.0, 4.0], "again": [5.0, 5.0], "relaxed": [2.0, 2.0]}
    said = in_words.prices(perplexity, {way: [trace] for way in perplexity})
    assert said == (
        "Perplexity, in units of plain decoding’s: relaxed, 1 tokens per pass: 0.50. Another seed alone changes it 1.25 times."
    )


def row(gamma: int, E: float, S: float) -> dict:
    return {"gamma": gamma, "tokens_per_pass": E, "ratio_to_plain": S}


def test_a_tree_wins_loses_or_draws_by_the_clock():
    said = in_words.chain_and_tree(row(8, 3.0, 2.0), row(8, 2.5, 1.5))
    assert said.startswith("With 8 drafts the tree writes 3.00 tokens per pass, and the chain 2.50.")
    assert said.endswith("So the tree is ahead in both.")
    assert in_words.chain_and_tree(row(8, 3.0, 1.2), row(8, 2.5, 1.5)).endswith("what it costs decides, and not E.")
    assert in_words.chain_and_tree(row(2, 2.0, 1.4), row(2, 2.2, 1.5)).endswith("So the chain is ahead in both.")
    assert in_words.chain_and_tree(row(2, 2.0, 1.5), row(2, 2.2, 1.52)).endswith("the clock sees no difference.")


def test_the_best_way_is_said_by_the_number_of_texts():
    ways = {"plain": {"1 text": 1.0, "16 texts": 1.0}, "chain of 2": {"1 text": 1.7, "16 texts": 0.9}}
    ways["tree of 8"] = {"1 text": 2.0, "16 texts": 0.5}
    assert in_words.best_ways(ways) == (
        "Best here: a tree of 8 with 1 text, no drafts with 16 texts. The tree of 8 goes from 2.00 times plain decoding "
        "with 1 text to 0.50 times with 16 texts."
    )


def test_a_climb_is_said_by_halves_also_where_it_falls():
    def history(*overlaps):
        return [{"tokens": 10 * i, "steps": [{"overlap": x}]} for i, x in enumerate(overlaps)]

    assert in_words.climbed(history(0.6, 0.65, 0.66)) == (
        "Σ min(p, q) went from 0.600 to 0.660: by +0.050 in the first half of the tokens, and by +0.010 in the second."
    )
    assert "by +0.020 in the first half of the tokens, and by -0.030" in in_words.climbed(history(0.6, 0.62, 0.59))


def test_ways_are_ranked_only_where_all_runs_and_two_percent_say_so():
    paces = {"never": [100, 101, 102], "always": [95, 96, 120], "by confidence": [110, 111, 112]}
    assert in_words.ranked(paces) == (
        "“by confidence” and “always” cannot be told apart here. “by confidence” is 1.10 times as fast as “never”."
    )
    assert in_words.ranked({"a": [1, 2], "b": [3, 4]}) == "“b” is the fastest: 2.33 times as fast as “a”."
    assert in_words.ranked({"a": [100, 100], "b": [101, 101]}) == "“b” and “a” cannot be told apart here."


def test_drafters_within_two_percent_are_not_put_in_an_order():
    def row(S, E):
        return {"ratio_to_plain": S, "tokens_per_pass": E}

    rows = {"lookup": row(1.5, 1.8), "eagle": row(1.7, 2.4), "hybrid": row(1.71, 2.3)}
    assert in_words.fastest(rows, list(rows)) == (
        "By the clock hybrid and eagle lie within 2 %, and are not put in an order. The most tokens per pass, 2.40, has eagle."
    )
    said = in_words.fastest(rows | {"hybrid": row(2.04, 2.3)}, list(rows))
    assert said.startswith("By the clock hybrid is ahead, 1.20 times as fast as eagle, which comes next.")


def test_a_gain_is_one_only_outside_its_interval_and_two_percent():
    ratios = {"a": (1.2, (1.1, 1.3)), "b": (1.2, (0.9, 1.5)), "c": (1.01, (1.005, 1.015)), "d": (0.9, (0.8, 0.95))}
    assert in_words.gained(ratios) == (
        "Gained: a (1.20). Lost: d (0.90). No difference that these prompts can show: b (1.20) and c (1.01)."
    )


def test_a_block_is_compared_through_the_same_old_eagle():
    layer = {"design": "one layer, last row", "of_five": 3.0}
    block = {"design": "a block of 3 layers", "of_five": 3.0}
    tried = {"runs": [layer, block], "cost": {"a draft": 0.1, "a block": 0.25, "pass": 1.0}}
    said = in_words.blocks(tried, [{"of_five": 4.0}, {"of_five": 4.8}])
    assert "block of 3 layers has 1.00 times" in said and "three depths 1.20 times" in said
    assert said.endswith("would be as fast as the block's.")  # 1.2 / 1.5 against 1 / 1.25
    assert in_words.blocks(tried, [{"of_five": 4.0}, {"of_five": 6.0}]).endswith("1.25 times as fast as the block's.")
