"""Lesson 02: what a round computes, writes and keeps."""

from collections.abc import Sequence

from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, in_words

ACCEPTED = ((2, 0, 4), (1, 4, 0), (4, 4, 1), (0, 0, 4), (3, 1, 2, 0), (0, 2, 1), (5, 2, 0, 1))


@fresh_numbers(gamma=(4, 5), accepted=ACCEPTED)
def tokens_written(gamma: int, accepted: Sequence[int]) -> Problem:
    accepted = [min(a, gamma) for a in accepted]
    rounds, kept, full = len(accepted), sum(accepted), accepted.count(gamma)
    return Problem(kept + rounds,
        f"γ = {gamma}. The {rounds} rounds of a text accept {in_words(accepted)} drafts; no stop cuts a round. How many tokens do they write?",
        f"Accepted drafts: {kept}. To these, each of the {rounds} rounds adds a corrected or a bonus token: {kept + rounds}.",
        Mistake("Only the drafts are counted. Each round also writes one token of the target's own.", kept, belief=6),
        Mistake("This counts all drafts of every round, also those behind a miss.", rounds * (gamma + 1), belief=1),
        Mistake("The bonus is missing: a round without a miss writes one token more, too.", kept + rounds - full if full else None, belief=6),
        Mistake("The corrections are missing: the target's token stands in the place of each miss.", kept + full if full else None, belief=6),
        tolerance=0)  # fmt: skip


@fresh_numbers(gamma=(5, 6, 7, 8, 9), accepted=(2, 3, 4))
def rows_computed(gamma: int, accepted: int) -> Problem:
    return Problem(gamma + 1,
        f"γ = {gamma}. The first {accepted} drafts are accepted, the next one is rejected. How many rows did the target compute in this round?",
        f"One row for each of the {gamma} drafts, and one for the last token of the text: {gamma + 1}. The pass is over before anything is compared.",
        Mistake("Accepted drafts are not skipped: before the pass nobody knows they are right.", gamma + 1 - accepted, belief=9),
        Mistake("The pass does not stop at the miss; the comparison does.", accepted + 1),
        Mistake("The last token of the text has a row as well: it checks the first draft.", gamma), tolerance=0)  # fmt: skip


@fresh_numbers(gamma=(5, 6, 7, 8), accepted=(1, 2, 3, 4))
def entries_kept(gamma: int, accepted: int) -> Problem:
    return Problem(accepted + 1,
        f"γ = {gamma}. A round accepts {accepted} {'draft' if accepted == 1 else 'drafts'} and corrects the next one. "
        f"Its pass added {gamma + 1} entries to the cache. How many of them stay?",
        f"The entry of the last token of the text, and those of the accepted drafts: {accepted + 1}.",
        Mistake("The corrected token has no entry yet: it was chosen, and no pass has seen it.", accepted + 2),
        Mistake("The entries of the miss and of all behind it must go: those tokens are not in the text.", gamma + 1),
        Mistake("One more stays: the last token of the text went through this pass, too.", accepted), tolerance=0)  # fmt: skip
