"""Exercise 9, why throughput can fall: q2() → what changed, and the new gain; q2_why() → a letter."""

from specdec_grader.kit import Mistake, Wrong, shown
from specdec_grader.sheets.checkpoint.answers import choice, fixed, one_number, several
from specdec_lab.theory import expected_tokens

ALPHA, GAMMA, COST = 0.65, 4, 3.5  # COST: a verify pass at noon, in plain passes at the same B
E = expected_tokens(ALPHA, GAMMA)

NAMES = {"cost": "v", "the cost of a pass": "v", "α": "alpha"}  # other names of what may have changed


def name(value: object) -> str:
    found = value.strip().lower() if isinstance(value, str) else ""
    found = NAMES.get(found, found)
    if found not in ("v", "alpha", "e", "nothing", "quality"):
        raise Wrong(f"What changed? Write “alpha”, “E” or “v”; you write {shown(value)}.")
    return found


CHANGED = fixed("v", read=name, mistakes=[
    Mistake("Look at the column of α: it is the same in both lines.", "alpha", belief=13),
    Mistake("E follows from α and γ. Has one of them changed?", "e"),
    Mistake("α and E are as before, but the speed does not follow from them alone.", "nothing", belief=7),
    Mistake("The text is the target's, at any load.", "quality", belief=11)])  # fmt: skip
GAIN = one_number("The new gain", right=E / COST, room=0.004,
    hint="Compute the tokens per pass from α and γ, and divide by what the pass costs.", mistakes=[
    Mistake("α and E have not changed, so you expect the same gain. What does a pass cost now?", E, belief=7),
    Mistake("You left out the target's own token: it comes on top of the accepted drafts.", (E - 1) / COST, belief=6),
    Mistake("α · γ treats α as a share of the proposed drafts; behind a miss none is kept.", ALPHA * GAMMA / COST, belief=5),
    Mistake("1 + α · γ treats α as a share of the proposed drafts; behind a miss none is kept.", (1 + ALPHA * GAMMA) / COST, belief=5),
    Mistake("α is not the number of tokens a pass. First compute E from α and γ.", ALPHA / COST),
    Mistake(f"The pass costs {COST} plain ones, but it also writes more than one token.", 1 / COST),
    Mistake("The gain is upside down: 2 should mean twice as fast.", COST / E),
    Mistake("A pass that costs more makes the gain smaller, and not larger.", E * COST),
    Mistake("A gain of 1 would mean that nothing is won or lost. Divide the tokens by the cost.", 1),
    Mistake("There is a power of α too many in your E: this is γ = 5.", expected_tokens(ALPHA, GAMMA + 1) / COST),
    Mistake("There is a power of α too few in your E: this is γ = 3.", expected_tokens(ALPHA, GAMMA - 1) / COST)])  # fmt: skip

several("9.q2", {"what changed": CHANGED, "the new gain": GAIN})
choice("9.q2.why", "B",
    Mistake("No draft changes what is written, good or bad, at any load.", "A", belief=11),
    Mistake("The log says that α is .65 with 48 texts as with one.", "C", belief=13),
    Mistake("The same number of tokens from a pass that takes three and a half times as long is no gain.", "D", belief=7))  # fmt: skip
