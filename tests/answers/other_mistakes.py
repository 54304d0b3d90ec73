"""Answers to exercises 10, 11 and 12, each with one mistake that its judges know, computed as a learner would."""

from answers.own import in_milliseconds
from answers.today import named
from answers.trees import by_ways, deciding, in_a_loop


def sees(which, place=lambda parents, i, way: len(way)):
    """Other drafts that are seen, or other places."""
    return lambda parents: [(place(parents, i, way), which(parents, i, way)) for i, (_, way) in enumerate(by_ways(parents))]  # fmt: skip


def below(parents, i):
    """The drafts that go on from draft i."""
    return [j for j, (_, way) in enumerate(by_ways(parents)) if i in way]


def with_token(token):
    """The kept drafts are right, and the token is this."""
    return lambda parents, drafts, choices: ((kept := in_a_loop(parents, drafts, choices)[0]), token(kept, choices))


def walking(behind, said=lambda choices, at: choices[at + 1]):
    """From draft to draft; behind: whether draft i is looked at where draft `at` is the last one that was kept."""

    def made(parents, drafts, choices):
        at, kept = -1, []
        for i, token in enumerate(drafts):
            if behind(parents, i, at) and token == said(choices, at):
                at = i
                kept.append(i)
        return kept, said(choices, at)

    return made


def first_that_pays(texts, T, shapes):
    for name, s in shapes.items():
        if s["E"] > s["d"] + T[texts * (s["drafts"] + 1)] / T[texts]:
            return name
    return "plain"


def paid(minute):
    """With another length of a minute."""
    return lambda *case: x if (x := in_milliseconds(*case)) == "never" else x * minute / 60_000


THE_TOKEN, MINUTE = "The kept drafts are right. The token", "a minute has 60,000"
RIGHT = {}
WRONG = {
    "10.decide": {
        "rows of one text": (deciding(lambda texts, T, s: s["d"] + T.get(s["drafts"] + 1, T[1]) / T[1]), "the rows of one text"),
        "a row too few": (deciding(lambda texts, T, s: s["d"] + T.get(texts * s["drafts"], max(T.values())) / T[texts]), "The row of the newest token"),
        "the first that pays": (first_that_pays, "the smallest shape that pays"),
    },
    "10.sees": {
        "what is not deeper": (sees(lambda parents, i, way: [j for j, (place, _) in enumerate(by_ways(parents)) if j <= i and place <= len(way)]), "older drafts of another way"),
        "not itself, and from 0": (sees(lambda parents, i, way: way[:-1], lambda parents, i, way: len(way) - 1), "also sees itself"),
        "what goes on from it": (sees(lambda parents, i, way: below(parents, i)), "You follow the children"),
        "older siblings": (sees(lambda parents, i, way: [*way, *(j for j in range(i) if parents[j] == parents[i])]), "Siblings stand for"),
    },
    "10.walk": {
        "the choice behind the draft": (walking(lambda parents, i, at: parents[i] == at, lambda choices, at: [*choices, choices[-1]][at + 2]), "the choice *behind* it"),
        "any later draft": (walking(lambda parents, i, at: True), "any later draft"),
        "the first choice": (with_token(lambda kept, choices: choices[0]), THE_TOKEN),
        "the choice by count": (with_token(lambda kept, choices: choices[len(kept)]), THE_TOKEN),
        "the first draft of each place": (walking(lambda parents, i, at: parents.index(at) == i if at in parents else False), "only try the first draft"),
    },
    "11.which": {
        "without q": (named(lambda p, q, keeps, other: [k + max(0, 1 - sum(keeps)) * o for k, o in zip(keeps, other)]), "the draft comes from q"),
    },
    "12.paid": {
        "a minute of 1000": (paid(1000), MINUTE),
        "a minute of one": (paid(1), MINUTE),
    },
}  # fmt: skip
