"""Exercise 2: entries(drafts, choices) → (entries that the pass makes, entries that may stay)."""

from collections.abc import Callable

from specdec_grader.kit import Mistake, Question, Wrong, common_start, part, whole
from specdec_grader.sheets.rounds.one_round import ROUNDS, SEEN, matching, mistake, two_results

MADE = Question(
    cases=ROUNDS, right=lambda d, c: len(d) + 1,
    seen=f"{SEEN} your “made” is {{found}}.",
    hint=lambda case, found: f"It should be {MADE.right(*case)}.",
    mistakes=[
        mistake("The target skips nothing: accepted drafts go through the pass, too.",
                lambda d, c, a: len(d) + 1 - a, lambda d, c, a: len(d) - a, belief=9),
        mistake("The pass is finished before anything is compared. The drafts that will be rejected go through it, too.",
                lambda d, c, a: a + 1, lambda d, c, a: min(a + 1, len(d))),
        mistake("Besides the drafts, the last token of the text goes through the pass.", lambda d, c, a: len(d)),
        mistake("You count a token too many: the target's own token is chosen, not computed.", lambda d, c, a: len(d) + 2),
        Mistake("The drafts go through the pass, too: all at once, with an entry for each.", 1)])  # fmt: skip
STAY = Question(
    cases=ROUNDS, right=lambda d, c: common_start(d, c) + 1,
    seen=f"{SEEN} your “stay” is {{found}}.",
    hint=lambda case, found: f"It should be {STAY.right(*case)}.",
    mistakes=[
        Mistake("The accepted drafts are in the text, so their entries stay. They are not computed again.", 1, belief=9),
        Mistake("What the pass computed for tokens that are in the text may stay.", 0),
        mistake("The entries of rejected and discarded drafts must go: those are not in the text.",
                lambda d, c, a: len(d) + 1, lambda d, c, a: len(d)),
        mistake("One more may stay. Which token went through the pass before the drafts?", lambda d, c, a: a),
        mistake("The target's own token has no entry yet: it was chosen, but no pass has computed it.", lambda d, c, a: a + 2),
        mistake("The entry of the rejected draft must go.", lambda d, c, a: min(a + 2, len(d) + 1)),
        mistake("The drafts after the first miss are not in the text, even if they agree.",
                lambda d, c, a: len(matching(d, c)) + 1, lambda d, c, a: len(matching(d, c)), belief=1),
        mistake("These are the entries that must go. The question is which may stay.", lambda d, c, a: len(d) - a)])  # fmt: skip


@part("2.cache", points=2, asks=[MADE, STAY])
def cache(made: Callable[[list, list], tuple]) -> None:
    pairs = [(whole(a, "made"), whole(b, "stay")) for a, b in zip(*two_results(made, "numbers, made and stay"))]
    entries, stays = zip(*pairs)
    if not MADE.first_wrong(stays) and not STAY.first_wrong(entries):
        raise Wrong("The two numbers are exchanged: first the entries that the pass makes, then those that may stay.")
    MADE.compare(entries, earned=0.5 * (not STAY.first_wrong(stays)))
    STAY.compare(stays, earned=0.5)
