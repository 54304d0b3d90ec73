"""The sentences below results, for each kind of numbers that can come: rising, flat, falling, jumping, noisy."""

import re

import pytest

from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds, Trace
from specdec_lab.measure.costs import Race
from specdec_lab.show import words


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

SAID += [
    case("passes", steady({1: 20, 5: 21.4, 16: 32, 64: 90}), says="1.1 times … 10 % … about 23 tokens", never=BUSY),
    case("passes", steady({1: 20, 5: 20.2, 64: 30}), says="at no cost … Even 64 tokens", never=BUSY),
    case("passes", steady({1: 20, 5: 50, 64: 400}), says="2.5 times … 150 % more", never=BUSY),
    case("passes", steady({1: 20, 5: 15, 64: 90}), says="only 0.75 times … These times are doubtful", never=BUSY),
    case("passes", noisy({1: 20, 5: 20.5, 64: 24}, 0.4), says=f"at no cost … Even 64 tokens … {BUSY}"),
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


EASIER = traces_of([(3, 0.9, 0.95), (0, 0.3, 0.2)])

SAID += [
    case("race", race(1.5), says="3.00 tokens … 1.50 times … 3.00 / 1.50 ≈ 2.00 times as fast.", never="loss"),
    case("race", race(4.0), says="0.75 times as fast … a loss"),
    case("race", race(3.0), says="neither a gain nor a loss", never="These times say little"),
    case("race", race(1.5, ratios=(1.0, 2.0, 3.0)), says="These times say little"),
    case("sureness", EASIER, says="0.4, α is 0.30, over 1 … 0.8, α is 0.90, over 3", never="no easier"),
    case("sureness", traces_of([(3, 0.2, 0.95), (0, 0.3, 0.2)]), says="no easier to guess"),
    case("sureness", traces_of([(3, 0.9, 0.95)]), says="equally sure", never="α is"),
]  # fmt: skip


RATIOS = {"a": (1.2, (1.1, 1.3)), "b": (1.2, (0.9, 1.5)), "c": (1.01, (1.005, 1.015)), "d": (0.9, (0.8, 0.95))}

SAID += [
    case("verdict", RATIOS, says="Gained: a (1.20). Lost: d (0.90). No difference … b (1.20) and c (1.01)."),
]  # fmt: skip


FOUND = {1: 2.0, 2: 1.0}
HOPED = {"high": {1: 2.2, 2: 1.2}, "low": {1: 1.8, 2: 0.8}, "both": {1: 2.2, 2: 0.9}, "right": {1: 2.01, 2: 1.0}}
TURNS = {"never": [100, 101, 102], "always": [95, 96, 120], "by confidence": [110, 111, 112]}

SAID += [
    case("predictions", HOPED, FOUND, says="15% … 20% … high. … 15% … 20% … low. … 10% … 10% … both … less than 1%"),
    case("ranked", TURNS, says="“by confidence” and “always” cannot … “by confidence” is 1.10 times as fast as “never”"),
    case("ranked", {"a": [1, 2], "b": [3, 4]}, says="“b” is the fastest: 2.33 times as fast as “a”", never="cannot"),
    case("ranked", {"a": [100, 100], "b": [101, 101]}, says="“b” and “a” cannot", never="times"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "given", "says", "never"), SAID)
def test_what_numbers_say(of, given, says, never):
    said = getattr(words, of)(*given)
    assert stands(says, said), said
    assert not any(piece in said for piece in never.split(" … ") if piece), said
