"""Exercise 9, why throughput can fall: q2() → what changed, and the new gain; q2_why() → a letter."""

from specdec_lab.course.judges.checkpoint.answers import choice, fixed, one_number, several
from specdec_lab.course.judges.question import Mistake
from specdec_lab.course.judges.reading import shown
from specdec_lab.course.judges.wrong import Wrong

NAMES = {"cost": "v", "the cost of a pass": "v", "α": "alpha"}  # other names of what may have changed


def name(value: object) -> str:
    found = value.strip().lower() if isinstance(value, str) else ""
    found = NAMES.get(found, found)
    if found not in ("v", "alpha", "e", "nothing", "quality"):
        raise Wrong(f"What changed? Write “alpha”, “E” or “v”; you write {shown(value)}.")
    return found


CHANGED = fixed("v", read=name, mistakes=(
    Mistake("Look at the column of α: it is the same in both lines.", lambda: "alpha", belief=13),
    Mistake("E follows from α and γ. Has one of them changed?", lambda: "e"),
    Mistake("α and E are as before, but the speed does not follow from them alone.", lambda: "nothing", belief=7),
    Mistake("The text is the target's, at any load.", lambda: "quality", belief=11),
), hint="")  # fmt: skip

GAIN = one_number("The new gain", right=3.05 / 5, room=0.004, mistakes=(
    Mistake("α and E have not changed, so you expect the same gain. What does a pass cost now?", lambda: 3.05, belief=7),
    Mistake("You left out the target's own token: with α = .75 and γ = 4 a pass writes more than 2.05.", lambda: 0.41, belief=6),
    Mistake("α · γ = 3 treats α as a share of the proposed drafts; behind a miss none is kept.", lambda: 0.6, belief=5),
    Mistake("1 + α · γ = 4 treats α as a share of the proposed drafts; behind a miss none is kept.", lambda: 0.8, belief=5),
    Mistake("α is not the number of tokens a pass. First compute E from α and γ.", lambda: 0.15),
    Mistake("The pass costs 5 plain ones, but it also writes more than one token.", lambda: 0.2),
    Mistake("The gain is upside down: 2 should mean twice as fast.", lambda: 1.64),
    Mistake("A pass that costs more makes the gain smaller, and not larger.", lambda: 15.25),
    Mistake("A gain of 1 would mean that nothing is won or lost. Divide the tokens by the cost.", lambda: 1),
    Mistake("This is with 3.3 tokens per pass, which belongs to γ = 5.", lambda: 0.66),
), hint="Compute the tokens per pass from α and γ, and divide by what the pass costs.")  # fmt: skip

several("9.q2", {"what changed": CHANGED, "the new gain": GAIN})
choice("9.q2.why", right="B", wrong=(
    Mistake("No draft changes what is written, good or bad, at any load.", lambda: "A", belief=11),
    Mistake("The log says that α is .75 with 64 texts as with one.", lambda: "C", belief=13),
    Mistake("The same number of tokens from a pass that takes five times as long is no gain.", lambda: "D", belief=7),
))  # fmt: skip
