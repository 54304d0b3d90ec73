"""Answers to 2.cache."""

from answers.rounds.one_round import agreeing, kept, play


def entries(drafts, choices):
    return len(choices), kept(drafts, choices) + 1


def entries_by_name(drafts, choices):
    made = ["last", *drafts]
    stay = ["last", *play(drafts, choices)[0][:-1]]
    return [len(made), len(stay)]


def entries_by_index(drafts, choices):
    misses = [i for i, (d, c) in enumerate(zip(drafts, choices)) if d != c]
    return len(drafts) + 1, (misses[0] if misses else len(drafts)) + 1


def made(count):
    return lambda d, c: (count(len(d), kept(d, c)), kept(d, c) + 1)


def stay(count):
    return lambda d, c: (len(d) + 1, count(len(d), kept(d, c), len(agreeing(d, c))))


RIGHT = {"2.cache": [entries, entries_by_name, entries_by_index]}
WRONG = {
    "2.cache": {
        "skips accepted drafts": (made(lambda g, a: g + 1 - a), "The target skips nothing", 9),
        "computes what is kept": (made(lambda g, a: a + 1), "finished before anything is compared", None),
        "up to the miss": (made(lambda g, a: min(a + 1, g)), "finished before anything is compared", None),
        "only the drafts": (made(lambda g, a: g), "the last token of the text goes through", None),
        "the own token, too": (made(lambda g, a: g + 2), "chosen, not computed", None),
        "one": (made(lambda g, a: 1), "all at once", None),
        "only the old token stays": (stay(lambda g, a, m: 1), "They are not computed again", 9),
        "nothing stays": (stay(lambda g, a, m: 0), "may stay", None),
        "all stay": (stay(lambda g, a, m: g + 1), "rejected and discarded drafts must go", None),
        "one too few": (stay(lambda g, a, m: a), "One more may stay", None),
        "one too many": (stay(lambda g, a, m: a + 2), "has no entry yet", None),
        "the rejected one": (stay(lambda g, a, m: min(a + 2, g + 1)), "of the rejected draft must go", None),
        "all that agree": (stay(lambda g, a, m: m + 1), "even if they agree", 1),
        "those that go": (stay(lambda g, a, m: g - a), "that must go", None),
        "something else": (stay(lambda g, a, m: 2), "It should be 3", None),
        "exchanged": (lambda d, c: entries(d, c)[::-1], "exchanged", None),
        "one number": (lambda d, c: kept(d, c) + 1, "should be a list", None),
        "three numbers": (lambda d, c: (1, 2, 3), "should return two numbers", None),
        "half": (lambda d, c: (len(c), 0.5), "a whole number", None),
    }
}
