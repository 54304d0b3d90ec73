"""Exercise 9: the checkpoint. Its eight cases are fixed, so what is judged are answers, and not programs."""

import math
from functools import partial

from specdec_grader.coerce import common_start, same
from specdec_grader.mistake import Mistake
from specdec_grader.sheets.fixed_answers import (
    alone,
    choice,
    fixed,
    letter_of,
    marks_of,
    numbers,
    one_number,
    several,
    text_of,
    typed_number,
)
from specdec_lab.theory import acceptance
from specdec_lab.theory import expected_tokens as E  # noqa: F401 - the mistakes of c3 are written with it

# 9.c1, who does what: tokens written, marks

DRAFTS = ["the", "butter", "and", "add", "some", "eggs"]
SAYS = ["the", "butter", "then", "add", "some", "sugar", "slowly"]  # the target, row by row
SIZE = len(DRAFTS)
MISS = common_start(DRAFTS, SAYS)  # the place of the first miss, from 0: the drafts before it are accepted
LATE = [i for i in range(MISS + 1, SIZE) if DRAFTS[i] == SAYS[i]]  # the discarded drafts that agree all the same


def hint_marks(_: tuple, found: list[str]) -> str | Mistake:
    if len(found) != SIZE + 1:
        asked = f"There are {SIZE + 1} marks, one for each of the {SIZE} drafts and one at the end"
        return f"{asked}; you give {len(found)}."
    *drafts, own = found
    later = drafts[MISS + 1 :]
    if drafts == ["accepted"] * SIZE:
        return "You accept every draft. Compare `and` with what the target says in its place."
    if drafts[:MISS] != ["accepted"] * MISS:
        places = "`the` and `butter` are what the target says in their places."
        return f"{places} The row at a token is about the token *after* it."
    if drafts[MISS] == "corrected":
        return "The third mark is the draft's, `and`. The mark of what replaces it comes at the end."
    if drafts[MISS] != "rejected":
        return "The third draft was compared, and it is not what the target says: what is the mark for that?"
    if "accepted" in [drafts[i] for i in LATE]:
        return Mistake("`add` and `some` agree with the target, but the round had ended before them.", belief=1)
    if "rejected" in later:
        return "A draft after the miss was never compared with anything, so it was not rejected."
    if later != ["discarded"] * len(later):
        return "What is the mark of a draft that stands after the miss?"
    if own == "bonus":
        return "The target's token is a bonus only where all drafts were kept."
    return "What is the mark of the token that stands in the place of a miss?"


def tokens_written():
    return "the butter then"


WRITTEN = fixed(
    tokens_written,
    read=text_of,
    seen=lambda _, found, right: f"You say that the round writes “{found}”." if found else "",
    hint="Written are the accepted drafts, from left to right, and then one token of the target.",
    wrong="""
then → then add some
then → then add some sugar
    `add some` agrees with the target, but stands after the miss: those rows are about a text with `and`. [belief 1]
then → add some
    What agrees after the miss does not count, and the place of the miss itself is not left empty. [belief 1]
then → then add some sugar slowly
    The target's column is not one sentence: after the miss it is about a text with `and`. [belief 1]
return "the butter"
    In the place of the miss the round writes one more token, the target's own. [belief 6]
then → and
    `and` was rejected, so it is not written. What stands in its place?
then → and add some eggs
    These are the drafts. What does the target say after `butter`?
then → and add some eggs slowly
    Not all drafts agree with the target: look at what it says after `butter`.
return "then"
    The drafts that were accepted are written too, and not only the target's token.
return "butter"
    You compare a draft with its own row. What the target says in a row comes *after* the token of that row.
""",
)


def marks():
    return ["accepted"] * MISS + ["rejected"] + ["discarded"] * (SIZE - MISS - 1) + ["corrected"]


MARKED = fixed(marks, wrong="", read=marks_of, hint=hint_marks)


C1_WHY = """
return "A"
    The target said so about a text with `and` in it, and `and` is not there. [belief 1]
return "B"
    The pass is finished before anything is compared: seven rows were computed, one for each of these two as well. [belief 9]
return "D"
    There is a bonus only where all drafts were kept, and it is one token, the target's. [belief 10]
"""

several("9.c1", {"the tokens written": WRITTEN, "the marks": MARKED})
choice("9.c1.why", "C", C1_WHY)

# 9.c2, why the output is identical: chances of acceptance, chance of `bread`, the third token

P, Q = (0.35, 0.1, 0.55), (0.25, 0.6, 0.15)


def hint_chances(_: tuple, found: list[float]) -> str:
    if max(found) > 2 and all(abs(x / 100 - y) < 0.01 for x, y in zip(found, chances())):
        return "These are right in percent. A chance lies between 0 and 1: divide by 100."
    if max(found) > 1.001:
        return f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?"
    return "A token that q says too often, compared with p, must be kept less often; what about the others?"


def chances():
    return [min(1, p / q) for p, q in zip(P, Q)]


CHANCES = numbers(
    chances,
    "list of chances to be accepted",
    room=0.005,
    hint=hint_chances,
    wrong="""
return [1, 0.16, 1]
    The second chance is cut off too early: give three digits after the point.
min(1, p / q) → p
    You accept a token with chance p: that waits for the target to draw the same token. [belief 3]
min(1, p / q) → p * q
    p · q is the chance that both draw this token. [belief 3]
return [0, 0, 1]
    You keep the target's favourite and nothing else; p and q are distributions, and all counts. [belief 4]
p / q → q / p
    These are the chances min(1, q/p): p and q have changed places.
min(1, p / q) → min(p, q)
    min(p, q) is the chance that a token is drafted and accepted; here it is drafted.
return [acceptance(P, Q)] * 3
    α is a mean over the tokens that q draws. Each token has a chance of its own.
return [1, 1, 1]
    If every draft is accepted, the second token comes out with chance 0.6, which is too often.
""",
)


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
    wrong="""
return 55.0
    This is right in percent. A chance lies between 0 and 1: divide by 100.
residual()[2] → P[2]
    The chance 0.425 comes from drawing from p after a rejection. [belief 2]
residual()[2] → Q[2]
    The chance 0.225 comes from drawing from q after a rejection.
residual()[2] → P[2] / (P[0] + P[2])
    The chance 0.456 comes from drawing from p without the rejected token.
residual()[2] → (P[2] - Q[2])
    The chance 0.35 comes from p − q as it is. To draw from it, it must add up to 1: divide it by its sum.
residual()[2] → 1
    The chance 0.65 gives `bread` the whole residual. `rice` has a share of it, too.
+ rejected * residual()[2] →
    This is the chance that it is drafted and kept. It can also come in after a rejection.
kept + →
    This is the chance that it comes in after a rejection. It can also be drafted and kept.
return P[2] * Q[2]
    p · q is the chance that both draw this token. [belief 3]
return residual()[2]
    This is its share of the residual. There are two ways to come out, and each has its chance.
return 1.0
    With chance 1 it is kept when it is drafted; how often is it drafted?
""",
)
C2_WHY = """
return "B"
    With these p and q such a rule writes (0.35, 0.1, 0.55): it is exact, and only keeps fewer drafts. [belief 3]
return "C"
    Such a rule never keeps the first token when it is drafted, and writes (0.17, 0, 0.83). [belief 4]
return "D"
    With a right rule no q changes what comes out, so (0.25, 0.1, 0.65) shows a bug. [belief 11]
"""

several("9.c2", {"the chances": CHANCES, "the chance of `bread`": THIRD})
choice("9.c2.why", "A", C2_WHY)

# 9.c3, acceptance: α of the log, tokens per pass

ROUNDS, SILENT = (4, 6, 4, 5), 6  # the rounds that accepted 0, 1, 2, 3 drafts; and those that had no draft

DRAFTED = sum(ROUNDS)  # rounds with drafts, 3 in each
PASSES = DRAFTED + SILENT
KEPT = sum(n * times for n, times in enumerate(ROUNDS))
TESTED = KEPT + DRAFTED - ROUNDS[-1]  # and the miss of each round that has one


def hint_rate(_: tuple, found: float) -> str:
    if found > 1:
        return "A rate is at most 1: write 0.5 for 50 %."
    return "Add up over the rounds with drafts: how many were tested, the misses included, and how many were kept?"


def rate():
    return KEPT / TESTED


RATE = one_number(
    rate,
    "α",
    room=0.004,
    hint=hint_rate,
    wrong="""
TESTED → (3 * DRAFTED)
    0.509 is 29/57. Drafts after the first miss were not tested, and do not count. [belief 5]
TESTED → (TESTED + SILENT)
TESTED → (3 * PASSES)
    In the rounds without drafts nothing was proposed, and nothing was tested.
TESTED → (KEPT + PASSES)
TESTED → (KEPT + DRAFTED)
    You divide by the tokens that were written. Which drafts were tested?
return ROUNDS[3] / DRAFTED
    0.263 is the share of the rounds without a miss. How many drafts were tested, and how many kept?
return 1 - ROUNDS[0] / DRAFTED
    0.789 counts only the first draft of each round. Later drafts were tested, too.
return sum(times * n / min(n + 1, 3) for n, times in enumerate(ROUNDS)) / DRAFTED
    This is a mean of ratios, one for each round. Divide the sums: all kept by all tested.
return round(KEPT / TESTED, 2)
    This is right with two digits, and rounded too much: give three.
""",
)


def tokens_per_pass():
    return (KEPT + PASSES) / PASSES


PER_PASS = one_number(
    tokens_per_pass,
    "The number of tokens per pass",
    room=0.01,
    hint="Divide all tokens that were written by the number of passes.",
    wrong="""
PASSES → DRAFTED
    2.53 is right for the rounds with drafts. The others are passes, too, and each writes a token.
return KEPT / PASSES
return KEPT / DRAFTED
    These are the accepted drafts. Each round writes one more token, the target's own. [belief 6]
return (KEPT + DRAFTED) / PASSES
    A round without drafts writes a token, too: the target's own.
return TESTED / PASSES
return TESTED / DRAFTED
    This is the number of drafts tested in a round, not of the tokens written.
/ PASSES →
    54 tokens are all that were written: divide them by the number of passes.
return E(KEPT / TESTED, 3)
    This is what a formula expects. The log says how many tokens there were: count them.
return E(KEPT / (3 * DRAFTED), 3)
    This is the formula with 0.509, which is not α. And the log says how many tokens there were. [belief 5]
return 3
    A round proposes at most 3 drafts; not all of them were kept.
return 4
    4 would be all drafts kept in every round, and the bonus.
""",
)


C3_WHY = """
return "A"
    Whether two samples are equal is another question, and it happens less often. [belief 3]
return "B"
    After a miss drafts were proposed and not tested. They say nothing about α. [belief 5]
return "C"
    The text is what the target alone would write, with any α. [belief 11]
"""

several("9.c3", {"α": RATE, "tokens per pass": PER_PASS})
choice("9.c3.why", "D", C3_WHY)

# 9.c4, load: gains at B = 1, 18, 36, and the crossover

TOKENS, C4_GAMMA, FREE = 2.35, 3, 36  # a pass over FREE rows costs no more than one over a single row
SIZES = (1, FREE // 2, FREE)


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
    gains,
    "list of gains",
    room=0.006,
    hint="The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts).",
    wrong="""
return [2.35, 1.17, 0.58]
    The last gain is cut off too early: give three digits after the point.
* T(B) / T(B * (C4_GAMMA + 1)) →
    2.35 tokens a pass are a gain of 2.35 only while a pass costs what it did. Count the rows. [belief 7]
(C4_GAMMA + 1) → C4_GAMMA
    You count γ rows for each text. The target computes one more, so γ + 1.
B * (C4_GAMMA + 1) → B + C4_GAMMA
B * (C4_GAMMA + 1) → B + C4_GAMMA + 1
    Each text brings its own drafts: all of them make B · (γ + 1) rows.
* T(B) / T(B * (C4_GAMMA + 1)) → / (C4_GAMMA + 1)
    You divide by 4 everywhere. Up to 36 rows a pass costs 1, whatever is in it.
TOKENS * T(B) → B * TOKENS
    This is tokens per unit of time. The gain compares it with the plain pass.
TOKENS * T(B) / T(B * (C4_GAMMA + 1)) → T(B * (C4_GAMMA + 1)) / T(B) / TOKENS
    The gain is upside down: 2 should mean twice as fast.
TOKENS → (TOKENS - 1)
    E already counts the target's own token, so nothing is taken away from it. [belief 6]
TOKENS → TOKENS / B
    You divide by B. Each of the B texts gets its E tokens from the pass.
""",
)


def crossover():
    return TOKENS * FREE / (C4_GAMMA + 1)


CROSSOVER = fixed(
    crossover,
    read=partial(typed_number, what="The crossover"),
    equal=near,
    hint="At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one.",
    wrong="""
(C4_GAMMA + 1) → C4_GAMMA
    You count γ rows for each text. The target computes one more, so γ + 1.
TOKENS * →
    From 9 texts on a row costs something. It is a loss only when all of E is used up.
return FREE / C4_GAMMA
    You count γ rows for each text, not γ + 1; and where a row begins to cost is not yet a loss.
return FREE
    At 36 the plain pass begins to cost more. The pass with drafts has done so before.
/ (C4_GAMMA + 1) →
return math.ceil(crossover()) * (C4_GAMMA + 1)
    This is a number of rows. How many texts have so many rows?
""",
)
C4_WHY = """
return "A"
    More drafts are more rows, and here every row costs; of the late drafts fewer and fewer are kept. [belief 8]
return "C"
    α belongs to the pair and the text. It does not know how many other texts are decoded. [belief 13]
return "D"
    You computed the gain at B = 36: the tokens are there, but the pass costs more than they save. [belief 7]
"""

several("9.c4", {"the gains": GAINS, "the crossover": CROSSOVER})
choice("9.c4.why", "B", C4_WHY)

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
    wrong="""
max(reading, k * computing) → reading + k * computing
    You add reading and computing. They run at the same time, so a pass takes as long as the longer of the two.
max(reading, k * computing) → k * reading
max(reading, k * computing) → k * (reading + computing)
    You pay for a reading of the weights with each token. All tokens of a pass share one.
max(reading, k * computing) → k * computing
    This is the computing alone. All weights must be read, too, however few the tokens are.
max(reading, k * computing) → reading
* 2 / OPERATIONS → / OPERATIONS
    Is this right for 100 tokens? Each of them takes two operations with each weight.
max(reading, k * computing) → min(reading, k * computing)
    You take the shorter of the two jobs. The pass is over when the longer one is.
* BITS / 8 →
    You read one byte for each weight. 16 bits are two bytes.
BITS / 8 → BITS
    You read 16 bytes for each weight. 16 bits are two bytes.
1000 * →
    These are seconds. Asked for are milliseconds.
""",
)


Q1_WHY = """
return "A"
    The check uses the whole target, all its layers and weights; else it would say something else.
return "B"
    Every draft goes through all of the target's layers: a pass with γ drafts has γ + 1 rows. [belief 9]
return "C"
    Rows are free only as long as their arithmetic takes less than the reading. [belief 8]
"""

alone("9.q1", TIMES)
choice("9.q1.why", "D", Q1_WHY)

# 9.q2.why, why throughput can fall

Q2_WHY = """
return "A"
    No draft changes what is written, good or bad, at any load. [belief 11]
return "C"
    The log says that α is the same with 48 texts as with one. [belief 13]
return "D"
    The tokens a pass are the same, but the pass takes longer than they save. [belief 7]
"""

choice("9.q2.why", "B", Q2_WHY)

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
    wrong="""
return 1.55
    This is cut off too early: give three digits after the point.
gamma * ONE_DRAFT + wide + REST → 1
return 2.24
    These are tokens per pass. A round takes longer than a plain step: divide by what it costs. [belief 7]
gamma * ONE_DRAFT + wide → wide
    The drafting is missing: one draft costs 0.16, and a round makes γ of them.
return 2.24 / (1.1 + REST)
    2 is a γ of the table, or an S without the drafting: one draft costs 0.16, and a round makes two of them.
gamma * ONE_DRAFT → ONE_DRAFT
return 2.24 / (ONE_DRAFT + 1.1 + REST)
    This pays for one draft. A round makes γ of them, one after the other.
ONE_DRAFT + wide → ONE_DRAFT + 1
return 2.24 / (2 * ONE_DRAFT + 1 + REST)
    This takes the target's pass for a plain one. The table has what it costs.
+ REST →
    The rest of the round is missing: 0.02 plain steps.
MEASURED → MEASURED[:1]
    This is S for γ = 1, which spends the least on drafts. The second draft still brings more than it costs.
MEASURED → MEASURED[2:]
    This is S for γ = 4, and there is one that has more. Compute it for all four.
MEASURED → MEASURED[3:]
    This is S for γ = 8, with the most tokens per pass. Its drafts and its wide pass cost more than they bring. [belief 8]
return 4
return 8
    This is a γ of the table. Asked for is the speed-up with the best one.
max(tokens / (gamma * ONE_DRAFT + wide + REST) → min((gamma * ONE_DRAFT + wide + REST) / tokens
    The speed-up is upside down: 2 should mean twice as fast.
""",
)

alone("9.q3", GAIN)

# 9.q4, which drafter reads what: a statement for each


def of_lookup():
    return "B"


def of_draft_model():
    return "D"


def of_medusa():
    return "A"


def of_eagle():
    return "C"


LOOKUP = fixed(
    of_lookup,
    read=letter_of,
    wrong="""
return "A"
return "C"
    Lookup computes nothing, so a hidden row is of no use to it. It compares tokens.
return "D"
    Lookup has no layers: it copies what stands in the text.
""",
)
DRAFT_MODEL = fixed(
    of_draft_model,
    read=letter_of,
    wrong="""
return "A"
return "C"
    A draft model never sees what the target has computed. It is a language model of its own, and reads tokens.
return "B"
    A draft model does not copy: its layers compute which token is likely.
""",
)
MEDUSA = fixed(
    of_medusa,
    read=letter_of,
    wrong="""
return "B"
return "D"
    Medusa does not read the tokens of the text. It adds heads to something that the target has computed.
return "C"
    Medusa's heads guess all at once, so none of them is given the draft of another.
""",
)
EAGLE = fixed(
    of_eagle,
    read=letter_of,
    wrong="""
return "A"
    EAGLE goes step by step: from the second draft on, a step is given the draft before it.
return "B"
return "D"
    EAGLE does not read tokens alone. It begins with what the target has computed.
""",
)

several("9.q4", {"lookup": LOOKUP, "the draft model": DRAFT_MODEL, "Medusa": MEDUSA, "EAGLE": EAGLE})
