"""Exercise 9: the checkpoint. Its eight cases are fixed, so what is judged are answers, and not programs."""

import math
from functools import partial

from specdec_grader.coerce import same, typed
from specdec_grader.question import Question
from specdec_grader.sheets.fixed_answers import (
    alone,
    choice,
    fixed,
    hint_for_marks,
    letter,
    marks_of_round,
    numbers,
    one_number,
    read_marks,
    several,
    text_of,
)
from specdec_lab.theory import acceptance
from specdec_lab.theory import expected_tokens as E  # noqa: F401 - the mistakes of c3 are written with it

# 9.c1, who does what: tokens written, marks

DRAFTS = ["the", "butter", "and", "add", "some", "eggs"]
SAYS = ["the", "butter", "then", "add", "some", "sugar", "slowly"]  # the target, row by row


def tokens_written():
    return "the butter then"


WRITTEN = fixed(
    tokens_written,
    read=text_of,
    seen=lambda _, found, right: f"You say that the round writes “{found}”." if found else "",
    hint="Written are the accepted drafts, from left to right, and then one token of the target.",
)


ACCEPTED_LATE = "`add` and `some` agree with the target, but the round had ended before them."
MARKED = Question(
    [()],
    lambda: marks_of_round(DRAFTS, SAYS),
    read=read_marks,
    hint=lambda _, found: hint_for_marks(DRAFTS, SAYS, found, ACCEPTED_LATE),
)
several("9.c1", {"the tokens written": WRITTEN, "the marks": MARKED})
choice("9.c1.why", "C")

# 9.c2, why the output is identical: chances of acceptance, chance of `bread`, the third token

P, Q = (0.35, 0.1, 0.55), (0.25, 0.6, 0.15)


def hint_chances(_: tuple, found: list[float]) -> str:
    if max(found) > 1.001:
        return f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?"
    return "A token that q says too often, compared with p, must be kept less often; what about the others?"


def chances():
    return [min(1, p / q) for p, q in zip(P, Q)]


CHANCES = numbers(chances, "list of chances to be accepted", room=0.005, hint=hint_chances)


def residual():
    lacking = [max(0, p - q) for p, q in zip(P, Q)]
    return [x / sum(lacking) for x in lacking]


def third():
    kept = Q[2] * chances()[2]
    rejected = 1 - acceptance(P, Q)
    return kept + rejected * residual()[2]


THIRD = one_number(
    third,
    "The chance of `bread`",
    room=0.003,
    hint="Add two chances: that `bread` is drafted and kept, and that it replaces a rejected draft.",
)
several("9.c2", {"the chances": CHANCES, "the chance of `bread`": THIRD})
choice("9.c2.why", "A")

# 9.c3, acceptance: α of the log, tokens per pass

ROUNDS, SILENT = (4, 6, 4, 5), 6  # the rounds that accepted 0, 1, 2, 3 drafts; and those that had no draft

DRAFTED = sum(ROUNDS)  # rounds with drafts, 3 in each
PASSES = DRAFTED + SILENT
KEPT = sum(n * times for n, times in enumerate(ROUNDS))
TESTED = KEPT + DRAFTED - ROUNDS[-1]  # and the miss of each round that has one


def rate():
    return KEPT / TESTED


RATE = one_number(
    rate,
    "α",
    room=0.004,
    hint="Add up over the rounds with drafts: how many were tested, the misses included, and how many were kept?",
)


def tokens_per_pass():
    return (KEPT + PASSES) / PASSES


PER_PASS = one_number(
    tokens_per_pass,
    "The number of tokens per pass",
    room=0.01,
    hint="Divide all tokens that were written by the number of passes.",
)


several("9.c3", {"α": RATE, "tokens per pass": PER_PASS})
choice("9.c3.why", "D")

# 9.c4, load: gains at B = 1, 18, 36, and the crossover

TOKENS, C4_GAMMA, FREE = 2.35, 3, 36  # a pass over FREE rows costs no more than one over a single row
SIZES = (1, FREE // 2, 2 * FREE)


def T(rows: float) -> float:
    return max(1, rows / FREE)


def near(found: float, known: float) -> bool:
    """The crossover may be rounded down or up to a whole text; wrong numbers have 2 % of room."""
    if known == crossover():
        return math.floor(known) <= found <= math.ceil(known)
    return same(found, known, 0.02)


def gains():
    return [TOKENS * T(B) / T(B * (C4_GAMMA + 1)) for B in SIZES]


GAINS = numbers(
    gains, "list of gains", room=0.006, hint="The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts)."
)


def crossover():
    return TOKENS * FREE / (C4_GAMMA + 1)


CROSSOVER = fixed(
    crossover,
    read=partial(typed, what="The crossover"),
    equal=near,
    hint="At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one.",
)
several("9.c4", {"the gains": GAINS, "the crossover": CROSSOVER})
choice("9.c4.why", "B")

# 9.q1, why several positions cost about as much as one: times of passes in milliseconds

WEIGHTS, BITS = 2e9, 16
BYTES_A_SECOND, OPERATIONS_A_SECOND = 800e9, 40e12
WIDTHS = (1, 5, 100)


def times():
    reading = 1000 * WEIGHTS * BITS / 8 / BYTES_A_SECOND
    computing = 1000 * WEIGHTS * 2 / OPERATIONS_A_SECOND
    return [max(reading, k * computing) for k in WIDTHS]


TIMES = numbers(
    times,
    "list of times",
    room=0.004,
    hint="How long does it take to read all weights, and how long to compute with them for one token? A pass takes the longer one.",
)


alone("9.q1", TIMES)
choice("9.q1.why", "D")

# 9.q2.why, why throughput can fall

choice("9.q2.why", "B")

# 9.q3, how many drafts: S with the best γ

ONE_DRAFT, REST = 0.16, 0.02  # plain steps
MEASURED = ((1, 1.72, 1.05), (2, 2.24, 1.10), (4, 2.88, 1.25), (8, 3.39, 1.60))  # γ, tokens per pass, v


def gain():
    return max(tokens / (gamma * ONE_DRAFT + wide + REST) for gamma, tokens, wide in MEASURED)


GAIN = one_number(
    gain,
    "The speed-up",
    room=0.003,
    hint="Compute S = E / (d + v + o) for each γ of the table; d is γ times the cost of one draft.",
)

alone("9.q3", GAIN)

# 9.q4, which drafter reads what: a statement for each


LOOKUP = letter("9.q4 lookup", "B")
DRAFT_MODEL = letter("9.q4 draft model", "D")
MEDUSA = letter("9.q4 Medusa", "A")
EAGLE = letter("9.q4 EAGLE", "C")

several("9.q4", {"lookup": LOOKUP, "the draft model": DRAFT_MODEL, "Medusa": MEDUSA, "EAGLE": EAGLE})
