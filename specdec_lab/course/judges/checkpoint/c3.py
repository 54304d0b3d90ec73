"""Exercise 9, acceptance: c3() → α of the log, tokens per pass, α of A and B at T = 1, and at T = 0; c3_why() → a letter."""

from specdec_lab.course.judges.checkpoint.answers import choice, numbers, one_number, several
from specdec_lab.course.judges.kit import Mistake


def about_rate(_: tuple, found: float) -> str:
    if found > 1:
        return "A rate is at most 1: write .5 for 50 %."
    return "Add up over the ten rounds: how many drafts were examined, the misses included, and how many were kept?"


RATE = one_number("α", right=27 / 31, room=0.004, hint=about_rate, mistakes=[
    Mistake(".675 is 27/40. Drafts behind the first miss were not examined, and do not count.", 27 / 40, belief=5),
    Mistake("You divide by the tokens that were written. Which drafts were examined?", 27 / 37),
    Mistake(".6 is the share of the rounds without a miss. How many drafts were examined, and how many kept?", 0.6),
    Mistake(".8 counts only the first draft of each round. Later drafts were examined, too.", 0.8),
    Mistake("This is a mean of ten ratios. Divide the sums: all kept by all examined.", (0 + 0.5 + 2 / 3 + 6) / 10),
    Mistake("3.7/5 is the share of the places in a round that were filled, the target's own token included.", 0.74)])  # fmt: skip
PER_PASS = one_number("The number of tokens per pass", right=3.7, room=0.01,
    hint="Divide all tokens that were written by the number of rounds.", mistakes=[
    Mistake("2.7 are the accepted drafts. Each round writes one more token, the target's own.", 2.7, belief=6),
    Mistake("3.1 is the number of drafts examined in a round, not of the tokens written.", 3.1),
    Mistake("37 tokens are all that were written: divide them by the number of passes.", 37),
    Mistake("This is what a formula expects. The log says how many tokens there were: count them.", 3.87),
    Mistake("This is the formula with .675, which is not α. And the log says how many tokens there were.", 2.65, belief=5),
    Mistake("A round proposes 4 drafts; not all of them were kept.", 4),
    Mistake("5 would be all drafts kept in every round, and the bonus.", 5)])  # fmt: skip
SAMPLED = numbers("list for T = 1", right=[0.8, 0.5], room=0.004,
    hint="At T = 1, α is the chance that a token drawn from q is kept; add up, token by token, what can be kept.", mistakes=[
    Mistake("Σ p · q is the chance that two samples match. A draft is kept with chance min(1, p/q).", [0.42, 0.39], belief=3),
    Mistake("The favourites are equal, but at T = 1 the whole distributions count.", [1, 1], belief=4),
    Mistake("In pair B the favourites are equal, but at T = 1 the whole distributions count.", [0.8, 1], belief=4),
    Mistake("These are the chances that a draft is rejected.", [0.2, 0.5]),
    Mistake("The two numbers have changed places: A comes first.", [0.5, 0.8]),
    Mistake("Take the mean over what q draws: a token with a large q counts more.", [0.905, 0.815]),
    Mistake("These are the target's chances for its favourite. What do the other tokens add?", [0.5, 0.4])])  # fmt: skip
GREEDY = numbers("list for T = 0", right=[1, 1], room=0.004,
    hint="At T = 0 p and q put all their chance on their favourites: is the draft what the target says?", mistakes=[
    Mistake("At T = 0 nothing is drawn: each player says its favourite token.", [0.8, 0.5]),
    Mistake("At T = 0 each player says its favourite token. Are they the same here?", [0, 0]),
    Mistake("At T = 0 the target says its favourite with certainty.", [0.5, 0.4]),
    Mistake("At T = 0 how far p and q differ makes no difference, as long as they have one favourite.", [1, 0])])  # fmt: skip

several("9.c3", {"α": RATE, "tokens per pass": PER_PASS, "α at T = 1": SAMPLED, "α at T = 0": GREEDY})
choice("9.c3.why", "D",
    Mistake("Whether two samples are equal is another question, and it happens less often.", "A", belief=3),
    Mistake("Behind a miss drafts were proposed and not examined. They say nothing about α.", "B", belief=5),
    Mistake("The text is what the target alone would write, with any α.", "C", belief=11))  # fmt: skip
