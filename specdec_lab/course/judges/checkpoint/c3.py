"""Exercise 9, acceptance: c3() → α of the log, tokens per pass, α of A and B at T = 1, and at T = 0; c3_why() → a letter."""

from specdec_lab.course.judges.checkpoint.answers import choice, numbers, one_number, several
from specdec_lab.course.judges.question import Mistake

RATE = one_number("α", right=27 / 31, room=0.004, mistakes=(
    Mistake(".675 is 27/40. Drafts behind the first miss were not examined, and do not count.", lambda: 27 / 40, belief=5),
    Mistake("You divide by the tokens that were written. Which drafts were examined?", lambda: 27 / 37),
    Mistake(".6 is the share of the rounds without a miss. How many drafts were examined, and how many kept?", lambda: 0.6),
    Mistake(".8 counts only the first draft of each round. Later drafts were examined, too.", lambda: 0.8),
    Mistake("This is a mean of ten ratios. Divide the sums: all kept by all examined.", lambda: (0 + 0.5 + 2 / 3 + 6) / 10),
    Mistake("3.7/5 is the share of the places in a round that were filled, the target's own token included.", lambda: 0.74),
), hint=lambda _, found: (
    "A rate is at most 1: write .5 for 50 %." if found > 1 else
    "Add up over the ten rounds: how many drafts were examined, the misses included, and how many were kept?"))  # fmt: skip

PER_PASS = one_number("The number of tokens per pass", right=3.7, room=0.01, mistakes=(
    Mistake("2.7 are the accepted drafts. Each round writes one more token, the target's own.", lambda: 2.7, belief=6),
    Mistake("3.1 is the number of drafts examined in a round, not of the tokens written.", lambda: 3.1),
    Mistake("37 tokens are all that were written: divide them by the number of passes.", lambda: 37),
    Mistake("This is what a formula expects. The log says how many tokens there were: count them.", lambda: 3.87),
    Mistake("This is the formula with .675, which is not α. And the log says how many tokens there were.", lambda: 2.65, belief=5),
    Mistake("A round proposes 4 drafts; not all of them were kept.", lambda: 4),
    Mistake("5 would be all drafts kept in every round, and the bonus.", lambda: 5),
), hint="Divide all tokens that were written by the number of rounds.")  # fmt: skip

SAMPLED = numbers("list for T = 1", right=[0.8, 0.5], room=0.004, mistakes=(
    Mistake("Σ p · q is the chance that two samples match. A draft is kept with chance min(1, p/q).", lambda: [0.42, 0.39], belief=3),
    Mistake("The favourites are equal, but at T = 1 the whole distributions count.", lambda: [1, 1], belief=4),
    Mistake("In pair B the favourites are equal, but at T = 1 the whole distributions count.", lambda: [0.8, 1], belief=4),
    Mistake("These are the chances that a draft is rejected.", lambda: [0.2, 0.5]),
    Mistake("The two numbers have changed places: A comes first.", lambda: [0.5, 0.8]),
    Mistake("Take the mean over what q draws: a token with a large q counts more.", lambda: [0.905, 0.815]),
    Mistake("These are the target's chances for its favourite. What do the other tokens add?", lambda: [0.5, 0.4]),
), hint="At T = 1, α is the chance that a token drawn from q is kept; add up, token by token, what can be kept.")  # fmt: skip

GREEDY = numbers("list for T = 0", right=[1, 1], room=0.004, mistakes=(
    Mistake("At T = 0 nothing is drawn: each player says its favourite token.", lambda: [0.8, 0.5]),
    Mistake("At T = 0 each player says its favourite token. Are they the same here?", lambda: [0, 0]),
    Mistake("At T = 0 the target says its favourite with certainty.", lambda: [0.5, 0.4]),
    Mistake("At T = 0 how far p and q differ makes no difference, as long as they have one favourite.", lambda: [1, 0]),
), hint="At T = 0 p and q put all their chance on their favourites: is the draft what the target says?")  # fmt: skip

several("9.c3", {"α": RATE, "tokens per pass": PER_PASS, "α at T = 1": SAMPLED, "α at T = 0": GREEDY})
choice("9.c3.why", right="D", wrong=(
    Mistake("Whether two samples are equal is another question, and it happens less often.", lambda: "A", belief=3),
    Mistake("Behind a miss drafts were proposed and not examined. They say nothing about α.", lambda: "B", belief=5),
    Mistake("The text is what the target alone would write, with any α.", lambda: "C", belief=11),
))  # fmt: skip
