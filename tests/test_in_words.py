"""The sentences below results, for each kind of numbers that can come: rising, flat, falling, jumping, noisy."""

import random
import re
from types import SimpleNamespace

import pytest
import torch

from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds, Trace
from specdec_lab.measure.costs import Race
from specdec_lab.measure.serving import StepCosts
from specdec_lab.show import in_words


def stands(pieces: str, said: str) -> bool:
    """Whether all pieces, parted by …, stand in what is said, in this order; no number is a part of a longer one."""
    whole = [rf"(?<!\d)(?<!\d\.){re.escape(piece)}(?!\d)" for piece in pieces.split(" … ")]
    return re.search(".*".join(whole), said) is not None


def case(of: str, *given, says: str, never: str = ""):
    """What a function of `in_words` says: pieces of it, its branch and its numbers; and pieces of other branches, which it
    must not say."""
    return pytest.param(of, given, says, never, id=f"{of}: {says}")


SAID = []


def steady(T: dict[int, float]) -> dict[int, list[float]]:
    """Times in ms, seven turns that agree."""
    return noisy(T, 0.0)


def noisy(T: dict[int, float], spread: float) -> dict[int, list[float]]:
    return {k: [ms / 1e3 * (1 + spread * turn) for turn in (-2, -1, 0, 0, 0, 1, 2)] for k, ms in T.items()}


BUSY = "another program was running"
FEWER = {"32 bits": steady({1: 20, 5: 21}), "16 bits": steady({1: 12, 5: 13}), "4 bits": steady({1: 6, 5: 9})}
STEPS = {"32 bits": FEWER["32 bits"], "4 bits": steady({1: 6, 2: 6.2, 3: 6.4, 4: 6.6, 5: 9.9})}
EVEN_STEPS = {1: 6, 2: 8, 3: 9, 4: 10, 5: 11}
WHOLE, HALF = (SimpleNamespace(dtype=dtype) for dtype in (torch.float32, torch.bfloat16))

SAID += [
    case("passes", steady({1: 20, 5: 21.4, 16: 32, 64: 90}), says="1.1 times … 10 % … about 23 tokens", never=BUSY),
    case("passes", steady({1: 20, 5: 20.2, 64: 30}), says="for nothing … Even 64 tokens", never=BUSY),
    case("passes", steady({1: 20, 5: 50, 64: 400}), says="2.5 times … 150 % more", never=BUSY),
    case("passes", steady({1: 20, 5: 15, 64: 90}), says="only 0.75 times … These times are doubtful", never=BUSY),
    case("passes", noisy({1: 20, 5: 20.5, 64: 24}, 0.4), says=f"for nothing … Even 64 tokens … {BUSY}"),
    case("formats", FEWER, says="20, 12 and 6 ms with 32 bits, 16 bits and 4 bits … each further token costs more"),
    case("formats", FEWER | {"4 bits": steady({1: 6, 5: 6.2})}, says="costs no more of a narrow one"),
    case("formats", FEWER | {"4 bits": steady({1: 21, 5: 22})}, says="not faster here"),
    case("formats", STEPS, says="With 4 bits the largest step … 1.50 times"),
    case("formats", STEPS | {"4 bits": steady(EVEN_STEPS)}, says="costs more", never="largest step"),
    case("formats", STEPS | {"4 bits": steady({1: 6, 5: 9.9})}, says="costs more", never="largest step"),  # 4: not timed
    case(
        "of_a_card", {1: 2.0, 5: 2.2, 64: 2.4, 256: 3.0, 512: 4.0}, "8 billion weights", 295.2,
        says="8 billion … 5 tokens 1.10 times, 64 tokens 1.20 times, 256 tokens 1.50 times and 512 tokens 2.00 … 295.",
    ),
    case("same_texts", 15, 15, WHOLE, says="All 15", never="part"),
    case("same_texts", 14, 15, WHOLE, says="14 of 15 … on this device"),
    case("same_texts", 9, 15, HALF, says="9 of 15 … in so few bits"),
]  # fmt: skip


def race(seconds_of_round: float, ratios: tuple[float, ...] = ()) -> Race:
    """Rounds of three tokens against plain steps of a second."""

    def trace(n: int, seconds: float) -> Trace:
        drafts = tuple(Draft(0, 1.0, 1.0, None, None, 1.0, None, ACCEPTED) for _ in range(n - 1))
        own, took = Emitted(0, "bonus", 1.0, None), Seconds(0, seconds, 0)
        return Trace([0], [Round(1 + n * i, drafts, own, seconds=took) for i in range(4)])

    return Race([*ratios] or [3 / seconds_of_round] * 3, trace(1, 1.0), trace(3, seconds_of_round))


def marks(accepted: int, gamma: int) -> list[str]:
    return ([ACCEPTED] * accepted + [REJECTED] + [DISCARDED] * gamma)[:gamma]


def traces_of(rounds: list[tuple[int, float, float]], gamma: int = 3) -> dict:
    """Rounds that accept so many of γ drafts, each with the same overlap and target's favourite."""
    made = []
    for accepted, overlap, top in rounds:
        drafts = tuple(Draft(0, overlap, 1.0, None, None, overlap, 0.5, s, ((0, top),)) for s in marks(accepted, gamma))
        made.append(Round(1, drafts, Emitted(0, "bonus" if accepted == gamma else "corrected", 1.0, None)))
    return {"kind": {"text": Trace([0], made)}}


def chains(rates: tuple[float, ...], gamma: int, later: float = 1.0, texts: int = 16, rounds: int = 40) -> dict:
    """Greedy rounds of some texts. All drafts of a round survive with one rate, of which each round draws one; each
    further draft with `later` times that of the one before."""
    dice, kinds = random.Random(gamma), {"kind": {}}
    for text in range(texts):
        made = []
        for _ in range(rounds):
            rate, accepted = dice.choice(rates), 0
            while accepted < gamma and dice.random() < rate * later**accepted:
                accepted += 1
            drafts = (Draft(0, 1.0, 1.0, None, None, float(s == ACCEPTED), None, s) for s in marks(accepted, gamma))
            made.append(Round(1, (*drafts,), Emitted(0, "bonus" if accepted == gamma else "corrected", 1.0, None)))
        kinds["kind"][str(text)] = Trace([0], made)
    return kinds


def texts(*rates: float) -> list[Trace]:
    return [chains((rate,), 1, texts=1, rounds=200)["kind"]["0"] for rate in rates]


KINDS = {"repeat": {"a": 0.9, "b": 0.8}, "story": {"c": 0.5, "d": None}}
EASIER = traces_of([(3, 0.9, 0.95), (0, 0.3, 0.2)])
NO_ROUNDS = {"kind": {**chains((0.6,), 3, texts=1)["kind"], "1": Trace([0], [])}}
ALPHAS = {"a": {"0": 0.6, "1": 0.5, "2": 0.4}, "b": {"0": 0.5, "1": 0.7}, "c": {"0": 0.5, "1": 0.52, "2": None}}
OWN = {"a": texts(0.8, 0.7, 0.8, 0.7), "b": texts(0.5, 0.5, 0.5, 0.5), "c": texts(0.4, 0.4, 0.8, 0.8)}
OTHER = {"a": texts(0.5, 0.4, 0.5, 0.4), "b": texts(0.8, 0.8, 0.8, 0.8), "c": texts(0.8, 0.8, 0.4, 0.4)}

SAID += [
    case("race", race(1.5), says="3.00 tokens … 1.50 times … 3.00 / 1.50 ≈ 2.00 times as fast.", never="loss"),
    case("race", race(4.0), says="0.75 times as fast … a loss"),
    case("race", race(3.0), says="neither a gain nor a loss", never="These times say little"),
    case("race", race(1.5, ratios=(1.0, 2.0, 3.0)), says="These times say little"),
    case("kinds", KINDS, says="repeat 0.85, story 0.50 … 0.50 to 0.90 … repeat lies above each of the kind story"),
    case("kinds", KINDS | {"repeat": {"a": 0.9, "b": 0.4}}, says="the kind alone does not decide"),
    case("sureness", EASIER, says="0.4, α is 0.30, over 1 … 0.8, α is 0.90, over 3", never="no easier"),
    case("sureness", traces_of([(3, 0.2, 0.95), (0, 0.3, 0.2)]), says="no easier to guess"),
    case("sureness", traces_of([(3, 0.9, 0.95)]), says="equally sure", never="α is"),
    case("formula", chains((0.6,), 1), chains((0.6,), 3), 3, says="do not show that it is wrong", never="survive"),
    # Half of the rounds are easy, half hard: in truth 2.44, by the formula 2.02. Then drafts that are worse further ahead.
    case("formula", chains((0.95, 0.15), 1), chains((0.95, 0.15), 3), 3, says="too few … do not survive independently"),
    case("formula", chains((0.7,), 1), chains((0.7,), 3, later=0.7), 3, says="too many … do not survive independently"),
    case("formula", chains((0.6,), 1, texts=2), NO_ROUNDS, 3, says="too few to say more", never="Other such texts"),
    case("stretches", ALPHAS, says="a 0.60, later 0.45, lower; b 0.50, later 0.70, higher; c 0.50, later 0.52, as high"),
    case("templates", OWN, OTHER, says="a … lower; b … higher; c … cannot tell apart"),
    case("two_ways", 0.5, 0.4, 0.6, says="0.40, less often than … 0.50 … 0.60"),
    case("two_ways", 0.5, 0.6, 0.6, says="0.60, more often than … 0.50 … 0.60"),
    case("two_ways", 0.5, 0.51, 0.6, says="0.51, as often as … 0.50 … 0.60"),
]  # fmt: skip


def row(gamma: int | None, E: float, S: float | None, slow: float = 0.0) -> dict:
    return {"gamma": gamma, "tokens_per_pass": E, "ratio_from_parts": S, "slow_rounds": slow}


def by_gamma(slow: float = 0.0, **gains: tuple[float, float]) -> dict:
    """Rows of some drafters, by their gains with γ = 1 and γ = 4; with the latter so large a share of slow rounds."""
    return {
        gamma: {"plain": row(None, 1, None)} | {name: row(gamma, 2, of[i], slow * i) for name, of in gains.items()}
        for i, gamma in enumerate((1, 4))
    }


def arms(**paces: tuple[float, float, float]) -> dict:
    """Rows of another program, by tokens a second and the interval of its ratio."""
    return {
        f"p-{name}": {"tokens_per_second": x, "ratio_interval": [low, high]} for name, (x, low, high) in paces.items()
    }


def clocked(**ratios: tuple[float, float]) -> tuple[dict, list[str]]:
    """Rows of some drafters, by their times plain and their tokens per pass, with intervals as wide for all; their names."""
    rows = {
        name: {"ratio_to_plain": S, "tokens_per_pass": E, "ratio_interval": (S - 0.1, S + 0.1)}
        for name, (S, E) in ratios.items()
    }
    return rows, list(rows)


BITS = {
    "32 bits": {"plain": 30, "best": 59.1, "times plain": (1.97, [1.8, 2.2])},
    "16 bits": {"plain": 50, "best": 90, "times plain": (1.8, [1.6, 2.0])},
    "4 bits": {"plain": 95.5, "best": 108, "times plain": (1.13, [1.0, 1.3])},
}
AS_MUCH = {"4 bits": {"plain": 60, "best": 108, "times plain": (1.9, [1.7, 2.1])}}
ARMS = arms(plain=(114, 2.2, 2.4), ngram=(110, 2.1, 2.3), draft=(61, 1.2, 1.3))
PACES = {"plain": 100, "a": 160, "b": 101, "c": 80}, {"plain": 100, "a": 90, "b": 60, "c": 50}
TWO = {"lookup": (1.5, 1.8), "eagle": (1.7, 2.4)}
SAME = dict.fromkeys(PACES[0], 12)
RATIOS = {"a": (1.2, (1.1, 1.3)), "b": (1.2, (0.9, 1.5)), "c": (1.01, (1.005, 1.015)), "d": (0.9, (0.8, 0.95))}

SAID += [
    case("best_gammas", by_gamma(eagle=(1.4, 1.8)), says="“eagle” 1.80 times with γ = 4", never="slow rounds"),
    case(
        "best_gammas", by_gamma(medusa=(1.21, 1.20), lookup=(1.01, 0.9), untrained=(0.9, 0.7)),
        says="“medusa” 1.21 times with γ = 1 or 4. “lookup” at best comes out even. “untrained” loses",
    ),
    case("best_gammas", by_gamma(untrained=(0.9, 0.7)), says="Nothing gains … “untrained” loses", never="As fast"),
    case("best_gammas", by_gamma(untrained=(0.9, 0.7), slow=0.25), says="25% of the time of untrained, γ = 4"),
    case(  # the factors that are shown are multiplied, as one does it by hand
        "fewer_bits", BITS,
        says="4 bits … 32 bits … 3.18 times … 1.97 times … with 32 bits … 1.13 times with 4 bits … 3.60 times … "
        "3.18 · 1.97 would be 6.26 … less with 4 bits … fewer bits bring more",
    ),
    case("fewer_bits", BITS | AS_MUCH, says="2.00 times … 1.90 times", never="So drafts … Alone"),
    case("other_program", ARMS, says="“p-plain” … 114 … 110 with “p-ngram” and 61 … “p-ngram” cannot … “p-draft” is slower"),
    case("other_program", ARMS | arms(draft=(200, 3.0, 4.0)), says="“p-draft” is faster; “p-ngram” cannot"),
    case(
        "drafters_on_a_card", *PACES, SAME | {"b": 10}, 12,
        says="faster … “a” 1.60; as fast: “b” 1.01; slower: “c” 0.80. … 1, slower: “a” 0.90, “b” 0.60 … 0.50. … 2 with “b”",
    ),
    case("drafters_on_a_card", *PACES, SAME, 12, says="All 12 greedy texts"),
    case("fastest", *clocked(**TWO, hybrid=(1.71, 2.3)), says="hybrid and eagle lie within 2 % … 2.40, has eagle"),
    case("fastest", *clocked(**TWO, hybrid=(2.04, 2.3)), says="hybrid … 1.20 times … eagle … 2.40", never="overlap"),
    case("fastest", *clocked(**TWO, hybrid=(1.8, 2.3)), says="hybrid is ahead … overlap"),
    case("gained", RATIOS, says="Gained: a (1.20). Lost: d (0.90). No difference … b (1.20) and c (1.01)."),
]  # fmt: skip


BENDS = StepCosts({(n, g): max(1.0, n * (g + 1) / 8) for n in (1, 2, 4, 8) for g in (0, 1, 4)})
FLAT = StepCosts({(n, g): 1.0 for n in (1, 8) for g in (0, 4)})
CURVES = {
    "never": [(10, 50.0), (90, 300.0)],
    "always 4": [(10, 30.0), (70, 500.0)],
    "by load": [(10, 31.0), (88, 310.0)],
}
LEVEL, AHEAD = {"by load": [(10, 30.5), (89, 310.0)]}, {"by confidence": [(10, 29.0), (95, 290.0)]}
FOUND = {1: 2.0, 2: 1.0}
HOPED = {"high": {1: 2.2, 2: 1.2}, "low": {1: 1.8, 2: 0.8}, "both": {1: 2.2, 2: 0.9}, "right": {1: 2.01, 2: 1.0}}
REAL, SIMULATED = {"never": 100.0, "always": 150.0}, {"never": 80.0, "always": 120.0}
ROWS = {"short": {(16, 0): 0.02, (16, 4): 0.052}, "long": {(16, 0): 0.06, (16, 4): 0.121}}
TURNS = {"never": [100, 101, 102], "always": [95, 96, 120], "by confidence": [110, 111, 112]}

SAID += [
    case("crossovers", BENDS, {0: 1.0, 1: 1.6, 4: 2.2}, says="γ = 4 … to 3 … from 4 on; γ = 1 … to 6 … from 7 on"),
    case("crossovers", FLAT, {0: 1.0, 4: 2.2}, says="pays with up to 8 … loses nowhere up to 8"),
    case("crossovers", FLAT, {0: 1.0, 4: 1.01}, says="γ = 4 pays nowhere and loses nowhere"),  # a tie
    case("crossovers", FLAT, {0: 1.0, 4: 0.99}, says="γ = 4 pays nowhere and loses nowhere up to 8"),
    case("policies", CURVES, says="“always 4” is … 30 ms … 50 with “never” … “never” writes … 90 tokens … 90 with “never”"),
    case("policies", CURVES | LEVEL, says="“always 4” and “by load” cannot … 30 ms … “never” and “by load” cannot … 90"),
    case("policies", CURVES | AHEAD, says="“by confidence” writes the most: 95 … 90 with “never”"),
    case("predictions", HOPED, FOUND, says="15% … 20% … high. … 15% … 20% … low. … 10% … 10% … both … less than 1%"),
    case("served", REAL, SIMULATED, 110.0, says="same: never before always. … 1.25 to 1.25 … “never” differ by 10%"),
    case("served", REAL | {"third": 99.5}, SIMULATED | {"third": 80.5}, 100.0, says="never and third before always"),
    case("served", REAL | {"always": 90.0}, SIMULATED, 100.0, says="real … always before never … never before always"),
    case(  # the mistake that it is there for: a row costs more, though the ratio falls, as the plain step tripled
        "draft_rows", ROWS, 16, 4,
        says="0.50 ms after short and 0.95 ms after long … more expensive … 20 ms and 60 ms … 4 drafts … 2.60 and 2.02",
    ),
    case("draft_rows", ROWS | {"long": {(16, 0): 0.06, (16, 4): 0.07}}, 16, 4, says="cheaper"),
    case("ranked", TURNS, says="“by confidence” and “always” cannot … “by confidence” is 1.10 times as fast as “never”"),
    case("ranked", {"a": [1, 2], "b": [3, 4]}, says="“b” is the fastest: 2.33 times as fast as “a”", never="cannot"),
    case("ranked", {"a": [100, 100], "b": [101, 101]}, says="“b” and “a” cannot", never="times"),
]  # fmt: skip


def grammar(alone: float | tuple, both: float | tuple) -> dict:
    """Sums of α over ten places of six prompts, 0.5 without a grammar; one α for all, or one of each."""
    ways = {"none": 0.5, "p": alone, "both": both}
    spread = {way: x if isinstance(x, tuple) else (x,) * 6 for way, x in ways.items()}
    return {way: {p: (10 * x, 10) for p, x in zip("abcdef", of)} for way, of in spread.items()}


IN_BOTH = (0.2, 0.9, 0.3, 0.9, 0.2, 0.8)  # some lower, some higher
FOUR_ROUNDS = [Trace([0], [Round(1, (), Emitted(0, "plain", 1.0, None))] * 4)]
PERPLEXITY = {"plain": [4.0, 4.0], "again": [5.0, 5.0], "relaxed": [2.0, 2.0]}

SAID += [
    case("under_grammar", grammar(0.4, 0.9), says="0.50 … 0.40 … 0.90 … so α falls. … so α rises."),
    case("under_grammar", grammar(0.9, 0.4), says="0.50 … 0.90 … 0.40 … so α rises. … so α falls."),
    case("under_grammar", grammar(0.5, 0.509), says="0.50 … 0.51 … no change. … no change."),  # less than 2 %
    case("under_grammar", grammar(IN_BOTH, IN_BOTH), says="no change. … no change."),
    case("prices", PERPLEXITY, dict.fromkeys(PERPLEXITY, FOUR_ROUNDS), says="relaxed, 1 tokens per pass: 0.50 … 1.25 times"),
]  # fmt: skip


def trees(*found: tuple) -> dict:
    """By drafts: tokens per pass of a chain and of a tree, and the interval of their ratio."""
    return {
        n: {"chain": (chain, ()), "tree": (tree, ()), "tree / chain": (tree / chain, interval)}
        for n, chain, tree, interval in found
    }


WAYS = {
    "plain": {"1 text": 1.0, "16 texts": 1.0},
    "chain of 2": {"1 text": 1.7, "16 texts": 0.9},
    "tree of 8": {"1 text": 2.0, "16 texts": 0.5},
}
NEAR = {"chain of 2": {"1 text": 1.99, "16 texts": 0.99}}

SAID += [
    case("chain_and_tree", row(8, 3.0, 2.0), row(8, 2.5, 1.5), says="8 drafts … 3.00 … 2.50 … tree is ahead in both"),
    case("chain_and_tree", row(8, 3.0, 1.2), row(8, 2.5, 1.5), says="what it costs decides, and not E"),
    case("chain_and_tree", row(2, 2.0, 1.4), row(2, 2.2, 1.5), says="chain is ahead in both"),
    case("chain_and_tree", row(2, 2.0, 1.5), row(2, 2.2, 1.52), says="no difference", never="slow rounds"),
    case("chain_and_tree", row(2, 2.0, 1.6), row(2, 2.01, 1.5), says="tree is ahead by what it costs, and not by E"),
    # One pause of a quarter of a second made o = 0.25 of a chain: its clock ratio was 1.25, and by medians it is 1.41.
    case("chain_and_tree", row(8, 2.6, 1.55), row(8, 2.46, 1.54, slow=0.12), says="no difference … 12% … the chain"),
    case(
        "suite_of_trees", {"greedy": trees((4, 2.0, 2.1, (1.03, 1.06)), (16, 2.2, 2.73, (1.2, 1.3)))},
        says="Greedy: the tree writes more with 4 and 16 … From 4 to 16 … chain grow 1.10 times … tree 1.30 times",
    ),
    case(
        "suite_of_trees", {"sampled": trees((4, 2.0, 2.0, (1.005, 1.03)), (8, 2.0, 1.8, (0.85, 0.95)))},
        says="the two cannot be told apart with 4, the chain writes more with 8",
    ),
    case("best_ways", WAYS, says="a tree of 8 with 1 text, no drafts with 16 … tree of 8 … 2.00 times … 1 text … 0.50 … 16"),
    case("best_ways", WAYS | NEAR, says="a chain of 2 or a tree of 8 with 1 text, no drafts or a chain of 2 with 16"),
]  # fmt: skip


def history(*overlaps: float) -> list[dict]:
    return [{"tokens": 10 * i, "steps": [{"overlap": x}]} for i, x in enumerate(overlaps)]


def depths(three: float) -> tuple[list[dict], list[dict]]:
    """Runs of a toy training, in which three depths reach `three`; and long ones, among them some that do not count."""

    def run(design, tokens, E, rehearsed=""):
        return {"design": design, "tokens": tokens, "tokens_a_pass": E, "rehearsed": rehearsed}

    toy = [("last row", 1.4), ("last row, rehearsed", 1.5), ("three depths", 1.4), ("three depths, rehearsed", three)]
    whole = "all the way"
    further = [("last row", 4e7, 3.0, whole), ("last row", 2e7, 9.0, "at the end"), ("three depths", 3e6, 9.0, whole)]
    further += [("three depths", 4e7, 3.3, whole), ("three depths", 9e7, 9.0, whole)]
    return [run(name, 1e5, E) for name, E in toy], [run(*one) for one in further]


TRIED = {
    "runs": [{"design": "one layer, last row", "of_five": 3.0}, {"design": "a block of 3 layers", "of_five": 3.0}],
    "cost": {"a draft": 0.1, "a block": 0.25, "pass": 1.0},
}

SAID += [
    case("climbed", history(0.6, 0.65, 0.66), says="0.600 to 0.660 … +0.050 … first half … +0.010 … second"),
    case("climbed", history(0.6, 0.62, 0.59), says="+0.020 … -0.030"),
    case(  # 1.2 / 1.5 against 1 / 1.25
        "blocks", TRIED, [{"of_five": 4.0}, {"of_five": 4.8}],
        says="block of 3 layers has 1.00 times … has 1.20 times … would be as fast as the block's",
    ),
    case("blocks", TRIED, [{"of_five": 4.0}, {"of_five": 6.0}], says="1.25 times as fast as the block's"),
    case("designs", *depths(1.70), says="0.1 M tokens 1.13 times … 40 M 1.10 times … 0.1 M 1.07 times … (1.50 and 1.40)"),
    case("designs", *depths(1.51), says="0.1 M tokens no difference … 40 M 1.10 times … 0.1 M 1.07 times"),
    case("designs", *depths(1.20), says="0.1 M tokens 0.80 times … 40 M 1.10 times … 0.1 M 1.07 times"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "given", "says", "never"), SAID)
def test_what_numbers_say(of, given, says, never):
    said = getattr(in_words, of)(*given)
    assert stands(says, said), said
    assert not any(piece in said for piece in never.split(" … ") if piece), said


@pytest.mark.parametrize(
    ("device", "price", "says"), [("cpu", 1.01, "no time"), ("cpu", 1.5, "1.50 times"), ("cuda", 1.5, "On this device")]
)
def test_what_equal_bits_cost_on_this_machine(monkeypatch, device, price, says):
    monkeypatch.setattr(in_words.costs, "price_of_bits", lambda: price)
    said = in_words.equal_bits(SimpleNamespace(device=torch.device(device)))
    assert [part for part in ("no time", "1.50 times", "On this device") if part in said] == [says]


@pytest.mark.parametrize(
    ("warm", "says"), [((1.3, [1.2, 1.4]), "costs 62% of the gain"), ((1.7, [1.5, 1.9]), "1.90) at")]
)
def test_what_sampling_costs_where_intervals_lie_apart(monkeypatch, warm, says):
    def saved(temperature, **_):
        S, interval = warm if temperature else (1.8, [1.7, 1.9])
        rows = [{"arm": "eagle", "kind": "overall", "prompts": 36, "ratio_to_plain": S, "ratio_interval": interval}]
        return [{"meta": {"hardware": "a machine"}, "rows": rows}]

    monkeypatch.setattr(in_words.gains, "saved_results", saved)
    sampled, greedy = (traces_of([(n, 0.5, 0.5)])["kind"]["text"] for n in (0, 3))
    said = in_words.sampling(sampled, greedy)
    assert stands(f"1.00 tokens per pass … has 4.00 … 36 prompts, recorded on a machine … {says}", said)
    assert ("of the gain" in said) == ("gain" in says)
