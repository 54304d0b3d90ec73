"""Answers to exercise 6."""

import itertools
import json
from importlib import resources


def with_loops(text, gamma):
    for n in (3, 2, 1):
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return copied(text, end, gamma)
    return []


def copied(text, begin, gamma):
    out = list(text)
    for i in range(gamma):
        out.append(out[begin + i])
    return out[len(text) :]


def searched(text, lengths=(3, 2, 1)):
    places = ((n, end) for n in lengths for end in range(len(text) - 1, n - 1, -1))
    return next(((n, end) for n, end in places if text[end - n : end] == text[-n:]), (0, 0))


def by_length(text, gamma):
    """As many tokens as the match is long; a very long one gets all."""
    n, end = searched(text, range(8, 0, -1))
    return copied(text, end, min(gamma, n))


def by_what_was_copied_before(text, gamma):
    """How many of the last tokens this same place has already foretold: so many are copied."""
    _, end = searched(text)
    back = 0
    while back < min(end, gamma) and text[end - 1 - back] == text[-1 - back]:
        back += 1
    return tuple(copied(text, end, back))


def always_something(text, gamma):
    """Fills up what is missing: more tokens per pass, and a dear round."""
    _, end = searched(text[:-1])
    return with_loops(text, gamma) or (copied(text, end + 1, gamma) if end else text[-gamma:])


STORED = resources.files("specdec_lab").joinpath("data/exercises/copying.json").read_text(encoding="utf-8")
TEXTS = [t["prompt"] + t["answer"] for t in json.loads(STORED)["texts"]]


def pattern(tokens):
    """For each token the place where it stands first: the same whatever numbers the tokens have."""
    first = {}
    return [first.setdefault(token, place) for place, token in enumerate(tokens)]


def knows_the_given_texts(text, gamma):
    known = next((t for t in TEXTS if pattern(t[: len(text)]) == pattern(text)), [])
    number = dict(zip(known, text))
    follows = itertools.takewhile(number.__contains__, known[len(text) :][: 8 if len(text) % 4 else 4])
    return [number[token] for token in follows]


RIGHT = {"6.propose": [with_loops], "6.improve": [by_length, by_what_was_copied_before]}
WRONG = {
    "6.propose": {
        "the whole rest": (lambda text, gamma: text[searched(text)[1] :] if with_loops(text, 1) else [], "should be [9, 8]; yours is [9, 8, 1, 2, 3]. Which run matches"),
        "changes the text": (lambda text, gamma: [text.append(token) or token for token in with_loops(text, gamma)], "Work on a copy"),
        "None where nothing is found": (lambda *case: with_loops(*case) or None, "returns nothing for ([1, 2, 3, 4, 5], 3) (None), and it should return []"),
    },
    "6.improve": {
        "the plain version": (with_loops, "when is it worth copying fewer", 8, 0),
        "only when sure": (lambda text, gamma: with_loops(text, gamma) if searched(text, (12,))[0] else [], "is silent in", 11, 0),
        "always something": (always_something, "each one costs", 7),
        "knows the given texts": (knows_the_given_texts, "is silent in 100%", None, 0),
    },
}  # fmt: skip
