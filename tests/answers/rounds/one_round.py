"""Answers to 2.round."""

import itertools


def play(drafts, choices):
    a = 0
    while a < len(drafts) and drafts[a] == choices[a]:
        a += 1
    if a == len(drafts):
        return [*drafts, choices[a]], ["accepted"] * a + ["bonus"]
    marks = ["accepted"] * a + ["rejected"] + ["discarded"] * (len(drafts) - a - 1) + ["corrected"]
    return [*drafts[:a], choices[a]], marks


def play_token_by_token(drafts, choices):
    written, marks, open_ = [], [], True
    for draft, choice in zip(drafts, choices):
        if not open_:
            marks.append("discarded")
            continue
        written.append(choice)
        open_ = draft == choice
        marks.append("accepted" if open_ else "rejected")
    if open_:
        written.append(choices[-1])
    return written, [*marks, "bonus" if open_ else "corrected"]


def play_with_itertools(drafts, choices):
    agree = list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(drafts, choices)))
    own = choices[len(agree)]
    marks = ["accepted" for _ in agree]
    if len(agree) < len(drafts):
        marks.append("rejected")
    while len(marks) < len(drafts):
        marks.append("discarded")
    return (*(d for d, _ in agree), own), [*marks, "corrected" if "rejected" in marks else "bonus"]


def kept(drafts, choices):
    return play(drafts, choices)[1].count("accepted")


def agreeing(drafts, choices):
    return [d for d, c in zip(drafts, choices) if d == c]


def writes(way):
    """Wrong tokens and right marks."""
    return lambda drafts, choices: (way(drafts, choices, kept(drafts, choices)), play(drafts, choices)[1])


def marks(way):
    """Right tokens and wrong marks."""
    return lambda d, c: (play(d, c)[0], way(play(d, c)[1], d, c))


def late(d, c, a):
    return agreeing(d[a + 1 :], c[a + 1 :])


RIGHT = {"2.round": [play, play_token_by_token, play_with_itertools]}
WRONG = {
    "2.round": {
        "counts all that agree": (writes(lambda d, c, a: [*agreeing(d, c), c[a]]), "After the first miss nothing", 1),
        "counts all that agree, last choice": (writes(lambda d, c, a: [*agreeing(d, c), c[-1]]), "nothing counts", 1),
        "only what agrees": (writes(lambda d, c, a: agreeing(d, c)), "own token is missing", 1),
        "goes on after the correction": (
            writes(lambda d, c, a: c if a == len(d) else [*d[:a], c[a], *late(d, c, a)]),
            "After the first miss nothing",
            1,
        ),
        "goes on with all choices": (writes(lambda d, c, a: c), "After the first miss nothing", None),
        "goes on with one agreeing draft": (
            writes(lambda d, c, a: [*d[:a], c[a], *late(d, c, a)[:1]]),
            "After the first miss nothing",
            1,
        ),
        "no own token": (writes(lambda d, c, a: d[:a]), "own token is missing", 6),
        "no bonus": (writes(lambda d, c, a: [*d[:a], *c[a : a + 1]][: len(d)]), "The bonus is missing", 6),
        "no correction": (writes(lambda d, c, a: d[:a] if a < len(d) else c), "The correction is missing", 6),
        "bonus from the drafter": (
            writes(lambda d, c, a: [*d[:a], c[a]] if a < len(d) else [*d, d[-1]]),
            "The bonus is the target's choice",
            10,
        ),
        "the rejected draft": (writes(lambda d, c, a: d[: a + 1]), "The bonus is missing, and the first draft", None),
        "rejected and corrected": (
            writes(lambda d, c, a: [*d[: a + 1], c[a]]),
            "The correction stands in its place",
            None,
        ),
        "all drafts": (writes(lambda d, c, a: d), "all drafts, whatever the target says", None),
        "all drafts and one": (writes(lambda d, c, a: [*d, c[-1]]), "all drafts, whatever", None),
        "last choice": (writes(lambda d, c, a: [*d[:a], c[-1]]), "always take the last choice", None),
        "a place too late": (
            writes(lambda d, c, a: [*d[:a], c[min(a + 1, len(d))]]),
            "comes from one place too late",
            None,
        ),
        "compares with the next choice": (
            writes(lambda d, c, a: play(d, [*c[1:], c[0]])[0] if d[0] != c[1] else c[1:]),
            "each draft with the choice one place later",
            None,
        ),
        "only the own token": (writes(lambda d, c, a: [c[a]]), "accepted drafts are missing", None),
        "writes nothing": (lambda d, c: ([], []), "so [4, 8, 7] is written", None),
        "something else": (writes(lambda d, c, a: [1, 2]), "so [4, 8, 7] is written", None),
        "one list": (lambda d, c: play(d, c)[0], "should return two lists", None),
        "exchanged": (lambda d, c: play(d, c)[::-1], "come first, then the marks", None),
        "text for tokens": (lambda d, c: ("478", []), "should be a list", None),
        "raises": (lambda d, c: play([*d[:-2], c[9]], c), "IndexError", None),
        "own words": (marks(lambda m, d, c: [x.upper() for x in m]), "is no mark", None),
        "agreeing drafts marked accepted": (
            marks(lambda m, d, c: ["accepted" if x == y else z for x, y, z in zip(d, c, m)] + m[-1:]),
            "never accepted, even if it agrees",
            1,
        ),
        "one mark for each place": (
            marks(lambda m, d, c: ["corrected" if x == "rejected" else x for x in m][: len(d)]),
            "are two tokens",
            None,
        ),
        "no mark for the own token": (marks(lambda m, d, c: m[:-1]), "it is the last one", None),
        "a mark for each written token": (
            marks(lambda m, d, c: ["accepted"] * kept(d, c) + m[-1:]),
            "There should be 5 marks",
            None,
        ),
        "always bonus": (marks(lambda m, d, c: [*m[:-1], "bonus"]), "The last mark should be corrected", None),
        "always corrected": (marks(lambda m, d, c: [*m[:-1], "corrected"]), "should be bonus", None),
        "all rejected": (
            marks(lambda m, d, c: ["rejected" if x == "discarded" else x for x in m]),
            "Only one draft is rejected",
            None,
        ),
        "none rejected": (
            marks(lambda m, d, c: ["discarded" if x == "rejected" else x for x in m]),
            "The first miss was compared",
            None,
        ),
        "marks shuffled": (marks(lambda m, d, c: ["rejected", *m[1:]]), "They should be", None),
    }
}
