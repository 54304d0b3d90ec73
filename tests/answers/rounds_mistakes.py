"""Answers to exercise 2, each with one mistake that its judges know, computed as a learner would."""

from answers.rounds import agreeing, kept, late, loop, play


def written(tokens):
    """Wrong tokens, and right marks."""
    return lambda d, c: (tokens(d, c, kept(d, c)), play(d, c)[1])


def entries(made=lambda d, c, a: len(c), stay=lambda d, c, a: a + 1):
    return lambda d, c: (made(d, c, kept(d, c)), stay(d, c, kept(d, c)))


def one_place_later(d, c):
    """How many drafts are what the next choice is."""
    return [*(x == y for x, y in zip(d, c[1:])), False].index(False)


def forgets_a_token(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while len(text) < len(prompt) + n:
        drafts = draft(text, gamma)
        choices = target.extend([text[-1], *drafts])
        if len(text) > len(prompt):
            text.pop()
        text += play(drafts, choices)[0]
        target.rewind(len(text) - 1)


def in_two_passes(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    drafts = draft(text, gamma)
    target.extend([text[-1], *drafts])
    target.rewind(len(text) - 1)
    return target.extend([text[-1], *drafts])


def drafts_twice(prompt, n, target, draft, gamma, end):
    first = draft(prompt, gamma)
    return draft(prompt + first, gamma)


NOTHING = "After the first miss nothing counts"
RIGHT = {}
WRONG = {
    "2.round": {
        "writes all that agree": (written(lambda d, c, a: agreeing(d, c)), "that is not in the text. And the target's own token is missing", 1),
        "all that agree, and the correction": (written(lambda d, c, a: agreeing(d, c) + c[a : a + 1]), NOTHING, 1),
        "all that agree, and the last": (written(lambda d, c, a: agreeing(d, c) + c[len(d) :]), NOTHING, 1),
        "goes on with all that agree": (written(lambda d, c, a: [*c[:a], c[a], *late(d, c)]), NOTHING, 1),
        "the choices": (written(lambda d, c, a: list(c)), f"{NOTHING}: the choices there were computed behind a draft that is not in the text."),
        "the choices without the bonus": (written(lambda d, c, a: c[: len(d)]), "And the bonus is missing"),
        "accepted": (written(lambda d, c, a: d[:a]), "The target's own token is missing: a correction", 6),
        "no correction": (written(lambda d, c, a: d[:a] + (c[a:] if a == len(d) else [])), "The correction is missing", 6),
        "a draft as bonus": (written(lambda d, c, a: d + d[-1:] if a == len(d) else play(d, c)[0]), "and no draft", 10),
        "up to the miss": (written(lambda d, c, a: d[:a] + d[a : a + 1]), "The bonus is missing, and the first draft that misses"),
        "the miss, and its correction": (written(lambda d, c, a: [*d[:a + 1], c[a]]), "the rejected draft and its correction"),
        "all drafts, or the choices": (written(lambda d, c, a: list(c) if a == len(d) else list(d)), "Only those before the first miss are written"),
        "all drafts": (written(lambda d, c, a: list(d)), "whatever the target says"),
        "all drafts, and the last choice": (written(lambda d, c, a: d + c[len(d) :]), "whatever the target says"),
        "the last choice": (written(lambda d, c, a: d[:a] + c[len(d) :]), "You always take the last choice"),
        "the next choice": (written(lambda d, c, a: [*d[:a], (c + c[-1:])[a + 1]]), "from one place too late"),
        "compares later": (written(lambda d, c, a: [*d[:one_place_later(d, c)], c[one_place_later(d, c)]]), "the choice one place later"),
        "compares later, and writes later": (written(lambda d, c, a: c[1:][: one_place_later(d, c) + 1]), "the choice one place later"),
        "one token behind the bonus": (written(lambda d, c, a: [*c, 7] if a == len(d) else c[: a + 1]), "Here there is no miss, so [4, 8, 1, 9, 2] is written"),
        "one token": (written(lambda d, c, a: [c[a]]), "The accepted drafts are missing"),
    },
    "2.loop": {
        "writes nothing": (loop(written=lambda d, c: []), "A round of your loop writes nothing", 6),
        "forgets a token": (forgets_a_token, "A round only adds to it"),
        "two passes": (in_two_passes, "There are several passes in a round"),
        "drafts twice": (drafts_twice, "before the target has checked the first ones"),
    },
    "2.cache": {
        "without the accepted": (entries(made=lambda d, c, a: len(c) - a), "The target skips nothing", 9),
        "drafts without the accepted": (entries(made=lambda d, c, a: len(d) - a), "The target skips nothing", 9),
        "up to the correction": (entries(made=lambda d, c, a: a + 1), "finished before anything is compared"),
        "drafts up to the miss": (entries(made=lambda d, c, a: min(len(d), a + 1)), "finished before anything is compared"),
        "drafts": (entries(made=lambda d, c, a: len(d)), "the last token of the text goes through the pass"),
        "one too many": (entries(made=lambda d, c, a: len(c) + 1), "is chosen, not computed"),
        "one": (entries(made=lambda d, c, a: 1), "all at once, with an entry for each"),
        "one stays": (entries(stay=lambda d, c, a: 1), "so their entries stay", 9),
        "none stays": (entries(stay=lambda d, c, a: 0), "in the text may stay"),
        "all stay": (entries(stay=lambda d, c, a: len(c)), "those are not in the text"),
        "all drafts stay": (entries(stay=lambda d, c, a: len(d)), "those are not in the text"),
        "accepted": (entries(stay=lambda d, c, a: a), "One more may stay"),
        "the correction": (entries(stay=lambda d, c, a: a + 2), "has no entry yet"),
        "the rejected draft": (entries(stay=lambda d, c, a: a + 2 if a < len(d) else a + 1), "The entry of the rejected draft"),
        "drafts that agree": (entries(stay=lambda d, c, a: len(agreeing(d, c))), "even if they agree", 1),
        "what goes": (entries(stay=lambda d, c, a: len(d) - a), "the entries that must go"),
    },
}  # fmt: skip
