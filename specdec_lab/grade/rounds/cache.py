"""Exercise 2: which entries of the cache stay."""

from collections.abc import Callable

from specdec_lab.grade.part import Wrong, begun, listed, part, shown, whole
from specdec_lab.grade.rounds.one_round import ROUNDS, case, leading, matching

COUNTS = (  # (entries made, entries that stay) with γ drafts, a right ones, all that agree; what is said; misconception
    ("made", lambda g, a, m: g + 1 - a, "The target skips nothing: accepted drafts go through the pass, too.", 9),
    ("made", lambda g, a, m: g - a, "The target skips nothing: accepted drafts go through the pass, too.", 9),
    (
        "made",
        lambda g, a, m: a + 1,
        "The pass is finished before anything is compared. The drafts that will be rejected go through it, too.",
        None,
    ),
    (
        "made",
        lambda g, a, m: min(a + 1, g),
        "The pass is finished before anything is compared. The drafts that will be rejected go through it, too.",
        None,
    ),
    ("made", lambda g, a, m: g, "Besides the drafts, the last token of the text goes through the pass.", None),
    ("made", lambda g, a, m: g + 2, "You count a token too many: the target's own token is chosen, not computed.", None),
    ("made", lambda g, a, m: 1, "The drafts go through the pass, too: all at once, with an entry for each.", None),
    ("stay", lambda g, a, m: 1, "The accepted drafts are in the text, so their entries stay. They are not computed again.", 9),
    ("stay", lambda g, a, m: 0, "What the pass computed for tokens that are in the text may stay.", None),
    ("stay", lambda g, a, m: g + 1, "The entries of rejected and discarded drafts must go: those are not in the text.", None),
    ("stay", lambda g, a, m: g, "The entries of rejected and discarded drafts must go: those are not in the text.", None),
    ("stay", lambda g, a, m: a, "One more may stay. Which token went through the pass before the drafts?", None),
    (
        "stay",
        lambda g, a, m: a + 2,
        "The target's own token has no entry yet: it was chosen, but no pass has computed it.",
        None,
    ),
    ("stay", lambda g, a, m: min(a + 2, g + 1), "The entry of the rejected draft must go.", None),
    ("stay", lambda g, a, m: m + 1, "The drafts after the first miss are not in the text, even if they agree.", 1),
    ("stay", lambda g, a, m: m, "The drafts after the first miss are not in the text, even if they agree.", 1),
    ("stay", lambda g, a, m: g - a, "These are the entries that must go. The question is which may stay.", None),
)  # fmt: skip


@part("2.cache", points=2)
def cache(made: Callable[[list, list], tuple]) -> None:
    """entries(drafts, choices) → (entries that the pass makes, entries that may stay)."""
    begun(made)
    found = {"made": [], "stay": []}
    for drafts, choices in ROUNDS:
        pair = listed(made(list(drafts), list(choices)), None, "What your function returns")
        if len(pair) != 2:
            raise Wrong(f"Your function should return two numbers, made and stay; it returned {shown(pair)}.")
        for counts, value, what in zip(found.values(), pair, ("made", "stay")):
            counts.append(whole(value, what))
    about = [
        (len(drafts), leading(drafts, choices), len(matching(drafts, choices)), drafts, choices)
        for drafts, choices in ROUNDS
    ]
    right = {"made": [g + 1 for g, *_ in about], "stay": [a + 1 for _, a, *_ in about]}
    if found == right:
        return
    if found["made"] == right["stay"] and found["stay"] == right["made"]:
        raise Wrong("The two numbers are exchanged: first the entries that the pass makes, then those that may stay.")
    what = "made" if found["made"] != right["made"] else "stay"
    earned = 0.5 if found["made"] == right["made"] or found["stay"] == right["stay"] else 0.0
    (*_, drafts, choices), number, want = next(
        found for found in zip(about, found[what], right[what]) if found[1] != found[2]
    )
    seen = f"{case(drafts, choices)} your “{what}” is {number}."
    for which, count, said, misconception in COUNTS:
        if which == what and found[what] == [count(g, a, m) for g, a, m, *_ in about]:
            raise Wrong(f"{seen} {said}", earned, misconception)
    raise Wrong(f"{seen} It should be {want}.", earned)
