"""Lesson 10: what a tree brings, and what its rows are."""

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers
from specdec_lab.formats import short

FIRST = ((0.6, 0.3), (0.5, 0.4), (0.7, 0.2), (0.5, 0.3), (0.4, 0.3), (0.6, 0.2))


@fresh_numbers(first=FIRST, behind=((0.8, 0.5), (0.5, 0.9), (0.6, 0.8)))
def tokens_of_tree(first: tuple[float, float], behind: tuple[float, float]) -> Problem:
    ways = [a * b for a, b in zip(first, behind)]
    expected = 1 + sum(first) + sum(ways)
    chain = 1 + first[0] + ways[0]
    return Problem(expected,
        f"A tree has four drafts. For the first place “red” (chance {first[0]} to be what the target says) and “blue” ({first[1]}). Behind "
        f"each of them one more; if its way is right so far, it is right with chance {behind[0]} behind “red”, and {behind[1]} behind "
        "“blue”. The text is greedy. How many tokens does a pass give, on average?",
        f"Each draft counts with the chance of its whole way: 1 + {first[0]} + {first[1]} + {first[0]} · {behind[0]} + {first[1]} · "
        f"{behind[1]} = {short(expected)}.",
        Mistake("This counts a draft behind a wrong one. It is kept only if its parent is.", 1 + sum(first) + sum(behind), belief=1),
        Mistake("These are the accepted drafts. The corrected or bonus token comes on top.", expected - 1, belief=6),
        Mistake("This is the chain of “red” and the draft behind it. The other way counts as well.", chain),
        Mistake("This leaves out the drafts behind the first ones.", 1 + sum(first)))  # fmt: skip


@fresh_numbers(texts=(4, 8, 16, 32), drafts=(3, 7, 15), idle=(32, 64, 100))
def tree_in_batch(texts: int, drafts: int, idle: int) -> Problem:
    rows = texts * (drafts + 1)
    v = max(1.0, rows / idle) / max(1.0, texts / idle)
    return Problem(v,
        f"On a card a pass over up to {idle} rows takes one unit of time; beyond that the time grows with the rows. It serves {texts} texts, each "
        f"with a tree of {drafts} drafts. How many times as long as a plain step does the target's pass take?",
        f"{texts} · {drafts + 1} = {rows} rows: {f'within {idle}, so the pass takes 1' if rows <= idle else f'{rows} / {idle} = {short(rows / idle)}'}. "
        f"A plain step has {texts} rows and takes 1. So {short(v)}.",
        Mistake("This takes the rows of one text. Each text of the batch brings its own.", max(1.0, (drafts + 1) / idle) if rows > idle else None),
        Mistake("The row of the newest token is missing: each text has one row more than drafts.",
                max(1.0, texts * drafts / idle) if texts * drafts > idle else None),
        Mistake("So many rows in all. But the pass takes one unit of time until the card is busy.", float(rows)))  # fmt: skip


@fresh_numbers(rows=(((0.5, 0.4, 0.1), (0.1, 0.35, 0.55)), ((0.6, 0.3, 0.1), (0.2, 0.25, 0.55)), ((0.4, 0.5, 0.1), (0.1, 0.45, 0.45)),
                     ((0.7, 0.2, 0.1), (0.3, 0.15, 0.55)), ((0.45, 0.35, 0.2), (0.05, 0.25, 0.7)), ((0.55, 0.35, 0.1), (0.15, 0.3, 0.55)),
                     ((0.3, 0.6, 0.1), (0.1, 0.5, 0.4))))  # fmt: skip
def second_sibling(rows: tuple[theory.Row, theory.Row]) -> Problem:
    p, q = rows
    left = theory.residual(p, q)
    chance = left[1] / q[1]
    return Problem(chance,
        f"Two drafts for one place are drawn from q, independently. p = ({', '.join(map(str, p))}) and q = ({', '.join(map(str, q))}) for the tokens a, "
        f"b and c. The first draft was c, and it is refused. The second one is b. With what chance is it kept?",
        f"The refused draft leaves norm(max(0, p − q)), where b has {short(left[1])}. Divided by q(b) = {q[1]}: {short(chance)}.",
        Mistake("This compares the second draft with p. It must be compared with what the first one left of p.", min(1.0, p[1] / q[1]), belief=2),
        Mistake("This is what is left for it. It was drawn with chance q, so divide by that.", left[1]),
        Mistake("Scale what is left up to 1: it is a distribution again.", (p[1] - q[1]) / q[1]))  # fmt: skip
