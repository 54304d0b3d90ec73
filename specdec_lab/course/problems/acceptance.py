"""Lesson 04: α, and the tokens of a pass."""

from collections.abc import Sequence

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, distributions, fresh_numbers, in_words
from specdec_lab.formats import short

PAIRS = (  # p and q over the tokens a, b and c
    ((0.6, 0.3, 0.1), (0.3, 0.6, 0.1)), ((0.5, 0.4, 0.1), (0.8, 0.1, 0.1)), ((0.4, 0.3, 0.3), (0.8, 0.1, 0.1)),
    ((0.6, 0.2, 0.2), (0.5, 0.1, 0.4)), ((0.7, 0.2, 0.1), (0.4, 0.5, 0.1)), ((0.4, 0.4, 0.2), (0.2, 0.5, 0.3)),
    ((0.2, 0.7, 0.1), (0.6, 0.3, 0.1)), ((0.3, 0.5, 0.2), (0.1, 0.8, 0.1)), ((0.8, 0.1, 0.1), (0.5, 0.3, 0.2)),
)  # fmt: skip
ROUNDS = (  # of a text: how many accepted no draft, one, two, …, all
    (3, 1, 1, 1, 4), (2, 2, 0, 1, 5), (4, 2, 1, 1, 2), (1, 3, 2, 0, 4), (5, 2, 1, 0, 2), (2, 0, 1, 3, 4), (1, 0, 3, 2, 4),
)  # fmt: skip


@fresh_numbers(rows=PAIRS)
def alpha_of(rows: tuple[theory.Row, theory.Row]) -> Problem:
    p, q = rows
    answer = theory.acceptance(p, q)
    same = p.index(max(p)) == q.index(max(q))
    least = " + ".join(str(min(a, b)) for a, b in zip(p, q))
    return Problem(answer,
        f"Temperature 1. {distributions(rows)} How large is α here?",
        f"α is the sum of the smaller one of p and q: {least} = {short(answer)}.",
        Mistake("This is the chance that two separate draws match. The rule accepts more than that.", sum(a * b for a, b in zip(p, q)), belief=3),
        Mistake("This is the part in which p and q differ: the chance of a rejection.", 1 - answer),
        Mistake(f"{'The same' if same else 'Another'} favourite token does not decide it: all of p and q counts.", float(same), belief=4))  # fmt: skip


@fresh_numbers(rounds=ROUNDS)
def rate_from_rounds(rounds: Sequence[int]) -> Problem:
    gamma, total = len(rounds) - 1, sum(rounds)
    accepted = sum(n * count for n, count in enumerate(rounds))
    tested = accepted + total - rounds[-1]
    drafts = [n for n, count in enumerate(rounds) for _ in range(count)]
    return Problem(accepted / tested,
        f"γ = {gamma}. The {total} rounds of a text accepted {in_words(drafts)} drafts. Which share of the drafts that were tested was accepted?",
        f"Accepted: {accepted}. Rejected: one in each round that is not full, {total - rounds[-1]}. "
        f"So {accepted} of {tested} that were tested: {short(accepted / tested)}.",
        Mistake("This divides by all drafts that were proposed. Those behind a miss were never tested.", accepted / (gamma * total), belief=5),
        Mistake("This is the share of rounds without a miss.", rounds[-1] / total),
        Mistake("This is tokens per pass. A share of drafts cannot be above 1.", (accepted + total) / total))  # fmt: skip


@fresh_numbers(alpha=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), gamma=(2, 3, 5, 6))
def tokens_per_pass(alpha: float, gamma: int) -> Problem:
    expected = theory.expected_tokens(alpha, gamma)
    powers = " + ".join(["1", f"{alpha}", *(f"{alpha}^{i}" for i in range(2, gamma + 1))])
    return Problem(expected,
        f"Each draft survives with probability α = {alpha}, independently of the others, and γ = {gamma}. "
        "How many tokens does a pass of the target give, on average?",
        f"{powers} = {short(expected)}.",
        Mistake("These are the accepted drafts. The corrected or bonus token comes on top.", expected - 1, belief=6),
        Mistake("This also counts drafts behind a miss, which are thrown away even if they agree.", 1 + gamma * alpha, belief=1),
        Mistake(f"One power too many: this is γ = {gamma + 1}.", theory.expected_tokens(alpha, gamma + 1)))  # fmt: skip
