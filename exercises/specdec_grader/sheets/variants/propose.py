"""Exercise 6: propose(text, gamma) → at most gamma token ids, by prompt lookup."""

import copy
from collections.abc import Callable, Iterable, Sequence

from specdec_grader.kit import Mistake, Question, Wrong, part, shown
from specdec_lab.course.given.copying import Propose, drafts


def ends_with_the_text(text: Sequence[int], begin: int, gamma: int) -> list[int]:
    return list(text[begin : begin + gamma])


def goes_on_with_itself(text: Sequence[int], begin: int, gamma: int) -> list[int]:
    """gamma tokens from the place `begin`; where the text ends, the copy goes on with itself."""
    return (list(text[begin:]) * gamma)[:gamma]


def by_lookup(
    lengths: Sequence[int] = (3, 2, 1),
    ends: Callable[[int, int], Iterable[int]] = lambda n, size: range(size - 1, n - 1, -1),
    begin: Callable[[int, int], int] = lambda n, end: end,
    copied: Callable[[Sequence[int], int, int], list[int]] = goes_on_with_itself,
) -> Propose:
    """Prompt lookup, or with something changed: the lengths, where a run may end, where the copy begins, how it is made."""

    def made(text: Sequence[int], gamma: int) -> list[int]:
        size = len(text)
        for n in lengths:
            for end in ends(n, size):
                if n <= end and text[end - n : end] == text[size - n :]:
                    return copied(text, begin(n, end), gamma)
        return []

    return made


lookup = by_lookup()


def one_by_one(text: Sequence[int], gamma: int) -> list[int]:
    out = list(text)
    for _ in range(gamma):
        out += lookup(out, 1)
    return out[len(text) :]


PROPOSE = Question(
    right=lookup, read=drafts,
    cases=(
        ([1, 2, 3, 9, 8, 1, 2, 3], 2),
        ([4, 5, 6, 7, 2, 6, 8, 4, 5, 6], 3),  # the longest run, though a shorter one stands nearer
        ([1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3], 4),  # twice: the later one
        ([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 2),  # a run of two stands nearer, and goes on differently
        ([1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 1, 2, 3], 2),  # what was copied stands nearer, too
        ([3, 7, 1, 9, 6, 4, 3, 5, 2, 1, 9], 4), ([6, 1, 4, 2, 5, 8, 4], 3), ([1, 2, 3, 4, 5], 3),  # a run of two, of one, none
        ([7, 7], 3), ([1, 2, 1, 2], 5), ([3, 5, 5, 5], 4), ([8, 6, 8], 6),  # the copy goes on with itself
        ([1, 2, 1, 9, 1, 2, 1, 2, 1], 3),  # the match and the end of the text share a token
        ([9, 4, 4, 1, 8, 2, 4, 4, 1, 8, 3, 7, 2, 4, 1, 8], 3),  # three match in both; four in neither
        ([7, 1, 2, 3, 4, 5, 1, 2, 3, 9, 7, 1, 2, 3], 2),  # a run of four, longer than it may be, stands further back
        ([5], 4), ([], 4), ([1, 2, 1, 2], 0)),
    seen=lambda case, found, right: "For the text {} and γ = {} the proposal should be {}; yours is {}.".format(*case, right, shown(found, 60)),
    hint="Which run matches the end of the text, where does it stand, and what follows it?",
    mistakes=[
        Mistake("Did you find the end of the text itself? It always matches, and nothing follows it: look only for places that something follows.",
                []),
        Mistake("You propose all that follows, and not at most γ tokens: each draft is a row that the target must compute.",
                by_lookup(copied=lambda text, begin, gamma: goes_on_with_itself(text, begin, max(gamma, len(text) - begin))), belief=8),
        Mistake("You take the earliest place; take the most recent one.", by_lookup(ends=range)),
        Mistake("You copy the tokens that match; copy those that follow them.", by_lookup(begin=lambda n, end: end - n)),
        Mistake("Your copy begins one token too late: it must begin right behind the match.",
                by_lookup(begin=lambda n, end: end + 1), by_lookup(begin=lambda n, end: end + 1, copied=ends_with_the_text)),
        Mistake("Your copy stops where the text ends. Let it go on with what it has copied itself.", by_lookup(copied=ends_with_the_text)),
        Mistake("You give up when no run of three is found; then look for two, and then for one. A wrong draft does no harm: it is refused.", by_lookup((3,))),
        Mistake("You look at the last token first, or only at it; begin with a run of three, then two.", by_lookup((1,))),
        Mistake("You look for runs of two at most; begin with three.", by_lookup((2, 1))),
        Mistake("You stop before runs of one token; the last token alone counts, too.", by_lookup((3, 2))),
        Mistake("You also look for runs of four or more tokens; three is the most here.", by_lookup(range(20, 0, -1))),
        Mistake("A match may also end one token before the end of the text: in 7 7 the first 7 is a place.",
                by_lookup(ends=lambda n, size: range(size - 2, n - 1, -1))),
        Mistake("A match may share tokens with the end of the text: in 1 2 1 2 1 the run 1 2 1 stands twice.",
                by_lookup(ends=lambda n, size: range(size - n, n - 1, -1))),
        Mistake("A run may also stand at the very beginning of the text; you begin your search one place too late.",
                by_lookup(ends=lambda n, size: range(size - 1, n, -1))),
        Mistake("You look for a new place after each copied token. Find one place, and copy all tokens from there.", one_by_one),
        Mistake("With γ = 0 there is nothing to propose; your function proposes a token.", lambda text, gamma: lookup(text, gamma or 1))])  # fmt: skip


@part("6.propose", points=3, asks=[PROPOSE])
def propose(made: Propose) -> None:
    text, gamma = copy.deepcopy(PROPOSE.cases[1])
    made(text, gamma)
    if text != PROPOSE.cases[1][0]:
        raise Wrong("Your function changes the text that it is given. Work on a copy: the target still needs it.")
    PROPOSE.judge(made)
