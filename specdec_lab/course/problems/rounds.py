"""Lesson 02: what a round computes, writes and keeps."""

from collections.abc import Sequence

from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, listed


@fresh_numbers(
    gamma=(4, 5), accepted=((2, 0, 4), (1, 4, 0), (4, 4, 1), (0, 0, 4), (3, 1, 2, 0), (0, 2, 1), (5, 2, 0, 1))
)
def tokens_written(gamma: int, accepted: Sequence[int]) -> Problem:
    accepted = [min(a, gamma) for a in accepted]
    rounds, kept, full = len(accepted), sum(accepted), accepted.count(gamma)
    mistakes = [
        Mistake(kept, "Only the drafts are counted. Each round also writes one token of the target's own.", 6),
        Mistake(rounds * (gamma + 1), "This counts all drafts of every round, also those behind a miss.", 1),
    ]
    if full:
        mistakes += [
            Mistake(
                kept + rounds - full, "The bonus is missing: a round without a miss writes one token more, too.", 6
            ),
            Mistake(
                kept + full, "The corrections are missing: the target's token stands in the place of each miss.", 6
            ),
        ]
    return Problem(
        f"γ = {gamma}. The {rounds} rounds of a text accept {listed(accepted)} drafts; no stop cuts a round. "
        "How many tokens do they write?",
        kept + rounds,
        f"Accepted drafts: {kept}. To these, each of the {rounds} rounds adds a corrected or a bonus token: {kept + rounds}.",
        mistakes,
        tolerance=0,
    )


@fresh_numbers(gamma=(5, 6, 7, 8, 9), accepted=(2, 3, 4))
def rows_computed(gamma: int, accepted: int) -> Problem:
    return Problem(
        f"γ = {gamma}. The first {accepted} drafts are accepted, the next one is rejected. "
        "How many rows did the target compute in this round?",
        gamma + 1,
        f"One row for each of the {gamma} drafts, and one for the last token of the text: {gamma + 1}. "
        "The pass is over before anything is compared.",
        [
            Mistake(
                gamma + 1 - accepted, "Accepted drafts are not skipped: before the pass nobody knows they are right.", 9
            ),
            Mistake(accepted + 1, "The pass does not stop at the miss; the comparison does."),
            Mistake(gamma, "The last token of the text has a row as well: it checks the first draft."),
        ],
        tolerance=0,
    )


@fresh_numbers(gamma=(5, 6, 7, 8), accepted=(1, 2, 3, 4))
def entries_kept(gamma: int, accepted: int) -> Problem:
    return Problem(
        f"γ = {gamma}. A round accepts {accepted} {'draft' if accepted == 1 else 'drafts'} and corrects the next one. "
        f"Its pass added {gamma + 1} entries to the cache. How many of them stay?",
        accepted + 1,
        f"The entry of the last token of the text, and those of the accepted drafts: {accepted + 1}.",
        [
            Mistake(accepted + 2, "The corrected token has no entry yet: it was chosen, and no pass has seen it."),
            Mistake(
                gamma + 1, "The entries of the miss and of all behind it must go: those tokens are not in the text."
            ),
            Mistake(accepted, "One more stays: the last token of the text went through this pass, too."),
        ],
        tolerance=0,
    )
