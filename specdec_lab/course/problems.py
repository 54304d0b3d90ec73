"""The quiz questions with numbers, lesson by lesson: each is a function of its numbers, so that a retry can ask with other ones.

It is written as a text: the question, and the results that somebody may find. The first is the answer, with the
calculation. The others are what usual mistakes lead to, and what is said to them; #7 is the belief behind one (see
MISCONCEPTIONS), and None stands where a mistake cannot be made with these numbers. Answers are judged in show/quiz.js.
"""

import itertools
import re
from ast import literal_eval
from collections.abc import Callable, Sequence
from typing import NamedTuple

from specdec_lab import theory
from specdec_lab.formats import joined, short
from specdec_lab.theory import Row

RESULT = re.compile(r"\n *(\S+)(?: #(\d+))? \| ")  # the result, and the belief behind it


class Slip(NamedTuple):
    """What a usual mistake leads to: what is said to it, the wrong results, and the number of the belief behind it."""

    said: str
    results: tuple[float, ...]
    belief: int | None


class Problem:
    """A question with its numbers filled in.

    Args:
        text: as the module's docstring says.
        unit: such as "s"; empty for chances, ratios and counts.
        tolerance: as a share of the answer; 0 for counts.

    Attributes:
        how: the calculation.
        mistakes: those that can be made with these numbers.
    """

    def __init__(self, text: str, unit: str = "", tolerance: float = 0.02):
        question, *found = RESULT.split(text)
        results, beliefs = [literal_eval(result) for result in found[0::3]], found[1::3]
        said = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in (question, *found[2::3])]
        self.question, self.how, self.answer = said[0], said[1], results[0]
        self.mistakes = [
            Slip(sentence, (result,), int(belief) if belief else None)
            for sentence, result, belief in zip(said[2:], results[1:], beliefs[1:])
            if result is not None
        ]
        self.unit, self.tolerance = unit, tolerance

    @property
    def shown(self) -> str:
        """The answer with its unit."""
        return f"{short(self.answer)} {self.unit}" if self.unit else short(self.answer)

    @property
    def clear(self) -> bool:
        """Whether the answer and every mistake can be told apart: they differ by more than twice the tolerance."""
        values = [self.answer, *(result for m in self.mistakes for result in m.results)]
        return not any(
            abs(a - b) <= 2 * self.tolerance * max(abs(a), abs(b)) + 1e-9 for a, b in itertools.combinations(values, 2)
        )


PROBLEMS: dict[str, tuple[Callable[..., Problem], dict[str, Sequence]]] = {}


def problem(unit: str = "", tolerance: float = 0.02, **choices: Sequence):
    """Register a question and the values that each of its numbers can take."""

    def register(text: Callable[..., str]):
        PROBLEMS[text.__name__] = lambda *args, **numbers: Problem(text(*args, **numbers), unit, tolerance), choices
        return text

    return register


def variants(name: str) -> list[Problem]:
    """All versions of a problem whose answers can be told apart."""
    make, choices = PROBLEMS[name]
    versions = (make(**dict(zip(choices, values))) for values in itertools.product(*choices.values()))
    return [version for version in versions if version.clear]


def listed(numbers: Sequence[int]) -> str:
    return joined([str(n) for n in numbers])


def distribution(row: Row) -> str:
    return f"({', '.join(map(str, row))})"


def distributions(p: Row, q: Row) -> str:
    return f"For the tokens a, b and c the target has p = {distribution(p)}, the drafter q = {distribution(q)}."


def shares(text: str) -> list[tuple[float, ...]]:
    """Tuples of shares, written in hundredths: "80 60, 75 5" is (0.8, 0.6) and (0.75, 0.05)."""
    return [tuple(int(share) / 100 for share in row.split()) for row in text.split(",")]


def pairs(text: str) -> list[tuple[Row, Row]]:
    """Pairs of distributions p and q over the tokens a, b and c, as `shares` with semicolons between the pairs."""
    return [(p, q) for p, q in map(shares, text.split(";"))]


# Lesson 01: what a pass costs
@problem(unit="ms", millions=(100, 300, 500, 700), bytes_each=(2, 4), reads=(50, 100, 200))
def reading_time(millions: int, bytes_each: int, reads: int) -> str:
    size = millions * bytes_each  # MB
    ms = size / reads
    return f"""
    A model has {millions} million weights, each stored in {bytes_each} bytes. The memory gives {reads} GB/s. How long
    does it take to read all the weights once?
    {ms} | {millions} million · {bytes_each} bytes = {size} MB, and {size} MB / {reads} GB/s = {short(ms)} ms.
    {ms / bytes_each} | Here each weight would be one byte; it is stored in {bytes_each}.
    {8 * ms} | GB are gigabytes, not gigabits: there is no 8 in it.
    {1000 * ms} | A million bytes at a thousand million bytes a second is a thousandth of a second.
    {ms / 1000} | This is in seconds; the answer is asked in thousandths of a second.
    """


@problem(unit="ms", megabytes=(200, 400, 600, 1000), reads=(50, 100, 200), computes=(2, 4, 8), k=(5, 10, 20, 40, 80))
def pass_time(megabytes: int, reads: int, computes: int, k: int) -> str:
    operations = megabytes / 1000  # GFLOP: two operations for each weight of two bytes
    reading, computing = megabytes / reads, k * operations / computes
    least = max(reading, computing)
    longer, other = ("reading", computing) if reading > computing else ("computing", reading)
    return f"""
    A model has {megabytes} MB of weights and needs {operations:g} GFLOP for each new token. The machine reads {reads}
    GB/s and computes {1000 * computes} GFLOP/s, both at the same time. How long is a pass over {k} new tokens, at
    least?
    {least} | Reading: {megabytes} MB / {reads} GB/s = {short(reading)} ms, once for the pass. Computing: {k} ·
        {operations:g} / {1000 * computes} s = {short(computing)} ms. They overlap, so the longer one counts:
        {short(least)} ms.
    {k * reading} | Here every token reads the weights for itself; one reading serves the whole pass.
    {reading + computing} | This is the sum. The machine reads and computes at the same time.
    {other} | This is the shorter of the two times; here {longer} takes longer.
    """


@problem(unit="tokens", reading=(3, 6, 12, 24), computing=(0.2, 0.3, 0.5, 0.6, 1.5))
def bend(reading: float, computing: float) -> str:
    k = reading / computing
    return f"""
    Reading the weights takes {reading} ms for each pass, and computing takes {computing} ms for each new token. At how
    many new tokens are the two equal?
    {k} | k · {computing} ms = {reading} ms at k = {reading} / {computing} = {short(k)}. Beyond it, each token is paid
        for.
    {2 * k} | There the computing takes twice as long as the reading; they are equal before.
    {1 / k} | This is upside down: it is the share of the reading that one token can fill.
    {reading * computing} | A product of two times is not a number of tokens.
    """


# Lesson 02: what a round computes, writes and keeps
@problem(
    tolerance=0,
    gamma=(4, 5),
    accepted=((2, 0, 4), (1, 4, 0), (4, 4, 1), (0, 0, 4), (3, 1, 2, 0), (0, 2, 1), (5, 2, 0, 1)),
)
def tokens_written(gamma: int, accepted: Sequence[int]) -> str:
    accepted = [min(a, gamma) for a in accepted]
    rounds, kept, full = len(accepted), sum(accepted), accepted.count(gamma)
    written = kept + rounds
    return f"""
    γ = {gamma}. The {rounds} rounds of a text accept {listed(accepted)} drafts; no stop cuts a round. How many tokens
    do they write?
    {written} | Accepted drafts: {kept}. To these, each of the {rounds} rounds adds a corrected or a bonus token:
        {written}.
    {kept} #6 | Only the drafts are counted. Each round also writes one token of the target's own.
    {rounds * (gamma + 1)} #1 | This counts all drafts of every round, also those after a miss.
    {written - full if full else None} #6 | The bonus is missing: a round without a miss writes one token more, too.
    {kept + full if full else None} #6 | The corrections are missing: the target's token stands in the place of each
        miss.
    """


# Lesson 03: the rule, and what it writes
@problem(p=(0.1, 0.2, 0.3, 0.6), q=(0.2, 0.4, 0.5, 0.8))
def accept_chance(p: float, q: float) -> str:
    answer = min(1.0, p / q)
    return f"""
    Temperature 1. The drafter has drafted a token with q = {q}; the target gives it p = {p}. With which probability is
    it accepted?
    {answer} | min(1, p / q) = min(1, {short(p / q)}) = {short(answer)}.
    {p} #3 | This is the chance that the target would draw the token itself. The rule compares p with q.
    {p * q} #3 | This is the chance that both draw the token. The rule needs no second draw.
    {q / p if p > q else None} | This is upside down.
    {1 - p / q if p <= q else None} | This is the chance of a rejection.
    {q - p if p < q else None} | This is how much too often the token is drafted, not how often it is kept.
    """


@problem(
    rows=pairs("""60 30 10, 30 60 10; 50 40 10, 80 10 10; 40 30 30, 80 10 10; 60 20 20, 50 10 40; 70 20 10, 40 50 10;
                  40 40 20, 20 50 30; 20 70 10, 60 30 10; 30 50 20, 10 80 10; 80 10 10, 50 30 20""")
)
def alpha_of(rows: tuple[Row, Row]) -> str:
    p, q = rows
    answer = theory.acceptance(p, q)
    match = sum(a * b for a, b in zip(p, q))
    same = p.index(max(p)) == q.index(max(q))
    least = " + ".join(str(min(a, b)) for a, b in zip(p, q))
    return f"""
    Temperature 1. {distributions(p, q)} How large is α here?
    {answer} | α is the sum of the smaller one of p and q: {least} = {short(answer)}.
    {match} #3 | This is the chance that two separate draws match. The rule accepts more than that.
    {1 - answer} | This is the part in which p and q differ: the chance of a rejection.
    {float(same)} #4 | {"The same" if same else "Another"} favourite token does not decide it: all of p and q counts.
    """


# Of a text: how many rounds accepted no draft, one, two, …, all
@problem(
    rounds=(
        *((3, 1, 1, 1, 4), (2, 2, 0, 1, 5), (4, 2, 1, 1, 2), (1, 3, 2, 0, 4)),
        *((5, 2, 1, 0, 2), (2, 0, 1, 3, 4), (1, 0, 3, 2, 4)),
    )
)
def rate_from_rounds(rounds: Sequence[int]) -> str:
    gamma, total = len(rounds) - 1, sum(rounds)
    accepted = sum(n * count for n, count in enumerate(rounds))
    tested = accepted + total - rounds[-1]
    drafts = [n for n, count in enumerate(rounds) for _ in range(count)]
    rate = accepted / tested
    return f"""
    γ = {gamma}. The {total} rounds of a text accepted {listed(drafts)} drafts. Which share of the drafts that were
    tested was accepted?
    {rate} | Accepted: {accepted}. Rejected: one in each round that is not full, {total - rounds[-1]}. So {accepted} of
        {tested} that were tested: {short(rate)}.
    {accepted / (gamma * total)} #5 | This divides by all drafts that were proposed. Those after a miss were never
        tested.
    {rounds[-1] / total} | This is the share of rounds without a miss.
    {(accepted + total) / total} | This is tokens per pass. A share of drafts cannot be above 1.
    """


# Lesson 05: what is gained by the clock
@problem(tolerance=0, alpha=(0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9), c=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3))
def best_gamma(alpha: float, c: float) -> str:
    gammas = (1, 2, 3, 4, 6, 8)
    shown = [f"{theory.expected_tokens(alpha, gamma):.2f}" for gamma in gammas]
    gains = {gamma: float(E) / (gamma * c + 1) for gamma, E in zip(gammas, shown)}  # as one computes from what is shown
    second, best = sorted(gammas, key=gains.__getitem__)[-2:]
    close = gains[best] < 1.01 * gains[second]  # then the same result stands twice, and so the version is not clear
    return f"""
    With γ = {listed(gammas)} a pair gives {", ".join(shown)} tokens per pass. A draft costs {c} of a plain step, and
    the checking pass costs 1 for each of these γ. Which of them is the fastest?
    {best} | S = E / (γ · {c} + 1) is {", ".join(f"{gain:.2f}" for gain in gains.values())}: the largest at γ = {best}.
    8 #8 | It gives the most tokens per pass, and the last drafts cost more than they bring.
    1 | It spends the least on drafts; the second draft would still bring more than it costs.
    {best if close else None} | Too close to call.
    """


@problem(gamma=(2, 3, 4, 5, 6), c=(0.05, 0.1, 0.2, 0.3), v=(1.1, 1.2, 1.4, 1.6))
def break_even_tokens(gamma: int, c: float, v: float) -> str:
    cost = gamma * c + v
    return f"""
    γ = {gamma}, a draft costs {c} of a plain step, and the checking pass costs {v} plain steps; nothing else takes
    time. From how many tokens per pass on is there a gain?
    {cost} | A round costs {gamma} · {c} + {v} = {short(cost)} plain steps; in this time plain decoding writes
        {short(cost)} tokens.
    1.0 #7 | More than one token per pass is not yet a gain: a round takes longer than a plain step.
    {v} | This is enough only if drafts are free.
    {1 + gamma * c} | This takes the checking pass for a plain one; it costs {v}.
    """


def machine(idle: int, gamma: int, expected: float) -> str:
    return (
        f"Up to n = {idle} a pass over n tokens takes as long as one over a single token; beyond, it takes n / {idle} "
        f"times as long. Drafts are free, γ = {gamma}, and each text gets {expected:g} tokens per pass."
    )


@problem(idle=(24, 48, 60, 96), texts=(4, 16, 30, 64), drafts=((2, 2.2), (3, 2.6), (4, 2.8)))
def gain_at_load(idle: int, texts: int, drafts: tuple[int, float]) -> str:
    gamma, expected = drafts
    rows = texts * (gamma + 1)
    plain, wide, narrow = (max(1.0, tokens / idle) for tokens in (texts, rows, texts * gamma))
    costly = wide > plain
    answer = expected * plain / wide
    return f"""
    {machine(idle, gamma, expected)} {texts} texts are written at once. How many times as fast as without drafts is
    this?
    {answer} | Without drafts a pass has {texts} tokens and costs {short(plain)}, with drafts it has {texts} ·
        {gamma + 1} = {rows} and costs {short(wide)}. So {expected} · {short(plain)} / {short(wide)} = {short(answer)}.
    {expected * texts} | Plain decoding writes one token a pass for each of the {texts} texts, too.
    {expected if costly else None} #7 | This is tokens per pass. A pass over {rows} tokens costs more than a plain one.
    {expected * plain / narrow if costly else None} | Each text brings its newest token into the pass, besides its
        {gamma} drafts.
    {expected / wide if plain > 1 else None} | For so many texts a pass without drafts costs more, too.
    {expected / (gamma + 1) if plain == 1 else None} | This pays for every token. Up to {idle} of them share the price
        of one.
    """


# Lesson 08: what a serving engine reports about its drafts


@problem(first=shares("60 30, 50 40, 70 20, 50 30, 40 30, 60 20"), after=shares("80 50, 50 90, 60 80"))
def tokens_of_tree(first: tuple[float, float], after: tuple[float, float]) -> str:
    ways = [a * b for a, b in zip(first, after)]
    expected = 1 + sum(first) + sum(ways)
    return f"""
    A tree has four drafts. For the first place “red” (chance {first[0]} to be what the target says) and “blue”
    ({first[1]}). After each of them one more; if its way is right so far, it is right with chance {after[0]} after
    “red”, and {after[1]} after “blue”. The text is greedy. How many tokens does a pass give, on average?
    {expected} | Each draft counts with the chance of its whole way: 1 + {first[0]} + {first[1]} + {first[0]} ·
        {after[0]} + {first[1]} · {after[1]} = {short(expected)}.
    {1 + sum(first) + sum(after)} #1 | This counts a draft after a wrong one. It is kept only if its parent is.
    {expected - 1} #6 | These are the accepted drafts. The corrected or bonus token comes on top.
    {1 + first[0] + ways[0]} | This is the chain of “red” and the draft after it. The other way counts as well.
    {1 + sum(first)} | This leaves out the drafts after the first ones.
    """


@problem(texts=(4, 8, 16, 32), drafts=(3, 7, 15), idle=(32, 64, 100))
def tree_in_batch(texts: int, drafts: int, idle: int) -> str:
    rows = texts * (drafts + 1)
    v = max(1.0, rows / idle) / max(1.0, texts / idle)
    computed = f"within {idle}, so the pass takes 1" if rows <= idle else f"{rows} / {idle} = {short(rows / idle)}"
    one_text = max(1.0, (drafts + 1) / idle) if rows > idle else None
    too_few = texts * drafts / idle if texts * drafts > idle else None
    return f"""
    On a card a pass over up to {idle} rows takes one unit of time; beyond that the time grows with the rows. It serves
    {texts} texts, each with a tree of {drafts} drafts. How many times as long as a plain step does the target's pass
    take?
    {v} | {texts} · {drafts + 1} = {rows} rows: {computed}. A plain step has {texts} rows and takes 1. So {short(v)}.
    {one_text} | This takes the rows of one text. Each text of the batch brings its own.
    {too_few} | The row of the newest token is missing: each text has one row more than drafts.
    {float(rows)} | So many rows in all. But the pass takes one unit of time until the card is busy.
    """


@problem(tokens=((1.8, 2.25), (1.6, 2.0), (2.0, 2.6)), speed=(1.3, 1.4, 1.5))
def speed_after(tokens: tuple[float, float], speed: float) -> str:
    before, after = tokens
    answer = speed * after / before
    return f"""
    A draft is trained further on a firm's own texts. It is as large as before. On prompts put aside its tokens per pass
    rise from {before} to {after}; with the old weights decoding was {speed} times as fast as plain. How many times as
    fast is it now?
    {answer} | The cost of a round has not changed, so S grows as E does: {speed} · {after} / {before} =
        {short(answer)}.
    {after} #7 | This is tokens per pass. A round costs more than a plain step, as before.
    {speed + after - before} | The cost of a round stays the same, so S is multiplied by after / before; nothing is
        added.
    {speed} | Nothing about the cost has changed, but more tokens come out of each round.
    """
