"""Exercise 9, acceptance: c3() → α of the log, tokens per pass, α of A and B at T = 1, and at T = 0; c3_why() → a letter."""

from specdec_grader.kit import Mistake, pretty
from specdec_grader.sheets.checkpoint.answers import choice, numbers, one_number, several
from specdec_lab.theory import Row, acceptance
from specdec_lab.theory import expected_tokens as E

ROUNDS, SILENT = (4, 6, 4, 5), 6  # the rounds that accepted 0, 1, 2, 3 drafts; and those that had no draft
PAIRS = {"A": ((0.3, 0.45, 0.25), (0.46, 0.33, 0.21)), "B": ((0.45, 0.3, 0.25), (0.88, 0.08, 0.04))}  # p and q

GAMMA, DRAFTED = len(ROUNDS) - 1, sum(ROUNDS)
PASSES = DRAFTED + SILENT
KEPT = sum(n * times for n, times in enumerate(ROUNDS))
EXAMINED = KEPT + DRAFTED - ROUNDS[-1]  # and the miss of each round that has one
ALPHA, OF_PROPOSED = KEPT / EXAMINED, KEPT / (GAMMA * DRAFTED)


def same_favourite(p: Row, q: Row) -> int:
    return int(p.index(max(p)) == q.index(max(q)))


def matches(p: Row, q: Row) -> float:
    return sum(a * b for a, b in zip(p, q))


def weighed_with_p(p: Row, q: Row) -> float:
    return sum(a * min(1, a / b) for a, b in zip(p, q))


def both(number) -> list[float]:
    """A number of each pair."""
    return [number(*pair) for pair in PAIRS.values()]


def about_rate(_: tuple, found: float) -> str:
    if found > 1:
        return "A rate is at most 1: write .5 for 50 %."
    return "Add up over the rounds with drafts: how many were examined, the misses included, and how many were kept?"


RATE = one_number("α", right=ALPHA, room=0.004, hint=about_rate, mistakes=[
    Mistake(f"{pretty(OF_PROPOSED)} is {KEPT}/{GAMMA * DRAFTED}. Drafts behind the first miss were not examined, and do not count.", OF_PROPOSED, belief=5),
    Mistake("In the rounds without drafts nothing was proposed, and nothing was examined.", KEPT / (EXAMINED + SILENT), KEPT / (GAMMA * PASSES)),
    Mistake("You divide by the tokens that were written. Which drafts were examined?", KEPT / (KEPT + PASSES), KEPT / (KEPT + DRAFTED)),
    Mistake(f"{pretty(ROUNDS[-1] / DRAFTED)} is the share of the rounds without a miss. How many drafts were examined, and how many kept?", ROUNDS[-1] / DRAFTED),
    Mistake(f"{pretty(1 - ROUNDS[0] / DRAFTED)} counts only the first draft of each round. Later drafts were examined, too.", 1 - ROUNDS[0] / DRAFTED),
    Mistake("This is a mean of ratios, one for each round. Divide the sums: all kept by all examined.",
            sum(times * n / min(n + 1, GAMMA) for n, times in enumerate(ROUNDS)) / DRAFTED),
    Mistake("This is right with two digits, and rounded too much: give three.", round(ALPHA, 2))])  # fmt: skip
PER_PASS = one_number("The number of tokens per pass", right=(KEPT + PASSES) / PASSES, room=0.01,
    hint="Divide all tokens that were written by the number of passes.", mistakes=[
    Mistake(f"{pretty((KEPT + DRAFTED) / DRAFTED)} is right for the rounds with drafts. The others are passes, too, and each writes a token.", (KEPT + DRAFTED) / DRAFTED),
    Mistake("These are the accepted drafts. Each round writes one more token, the target's own.", KEPT / PASSES, KEPT / DRAFTED, belief=6),
    Mistake("A round without drafts writes a token, too: the target's own.", (KEPT + DRAFTED) / PASSES),
    Mistake("This is the number of drafts examined in a round, not of the tokens written.", EXAMINED / PASSES, EXAMINED / DRAFTED),
    Mistake(f"{KEPT + PASSES} tokens are all that were written: divide them by the number of passes.", KEPT + PASSES),
    Mistake("This is what a formula expects. The log says how many tokens there were: count them.", E(ALPHA, GAMMA)),
    Mistake(f"This is the formula with {pretty(OF_PROPOSED)}, which is not α. And the log says how many tokens there were.", E(OF_PROPOSED, GAMMA), belief=5),
    Mistake(f"A round proposes at most {GAMMA} drafts; not all of them were kept.", GAMMA),
    Mistake(f"{GAMMA + 1} would be all drafts kept in every round, and the bonus.", GAMMA + 1)])  # fmt: skip
SAMPLED = numbers("list for T = 1", right=both(acceptance), room=0.004,
    hint="At T = 1, α is the chance that a token drawn from q is kept; add up, token by token, what can be kept.", mistakes=[
    Mistake("Σ p · q is the chance that two samples match. A draft is kept with chance min(1, p/q).", both(matches), belief=3),
    Mistake("Whether the favourites are equal does not decide it: at T = 1 the whole distributions count.", both(same_favourite), belief=4),
    Mistake("In pair B the favourites are equal, but at T = 1 the whole distributions count.", [both(acceptance)[0], 1], belief=4),
    Mistake("These are the chances that a draft is rejected.", [1 - a for a in both(acceptance)]),
    Mistake("The two numbers have changed places: A comes first.", both(acceptance)[::-1]),
    Mistake("Take the mean over what q draws: a token with a large q counts more.", both(weighed_with_p)),
    Mistake("These are the target's chances for its favourite. What do the other tokens add?", both(lambda p, q: max(p)))])  # fmt: skip
GREEDY = numbers("list for T = 0", right=both(same_favourite), room=0.004,
    hint="At T = 0 p and q put all their chance on their favourites: is the draft what the target says?", mistakes=[
    Mistake("At T = 0 nothing is drawn: each player says its favourite token.", both(acceptance)),
    Mistake("At T = 0 each player says its favourite token. In which pair is it the same one?", [1, 1], [0, 0]),
    Mistake("At T = 0 the target says its favourite with certainty.", both(lambda p, q: max(p))),
    Mistake("At T = 0 the better overlap of A is no help: what counts is whether both have one favourite.", [1, 0])])  # fmt: skip

several("9.c3", {"α": RATE, "tokens per pass": PER_PASS, "α at T = 1": SAMPLED, "α at T = 0": GREEDY})
choice("9.c3.why", "D",
    Mistake("Whether two samples are equal is another question, and it happens less often.", "A", belief=3),
    Mistake("Behind a miss drafts were proposed and not examined. They say nothing about α.", "B", belief=5),
    Mistake("The text is what the target alone would write, with any α.", "C", belief=11))  # fmt: skip
