"""Answers to exercises 6, 10, 11 and 12, each with one mistake that its judges know, computed as a learner would."""

from answers.own import in_milliseconds
from answers.today import named
from answers.trees import by_ways, deciding, in_a_loop
from answers.variants import copied, with_loops


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


def searching(lengths=(3, 2, 1), first=0, last=0, order=reversed, shift=lambda n: 0, copy=copied):
    """Run by run; first, last: how many places are left out at the beginning and at the end."""

    def made(text, gamma):
        for n in lengths:
            for begin in order(range(first, len(text) - n - last)):
                if text[begin : begin + n] == text[len(text) - n :]:
                    return copy(text, begin + n + shift(n), gamma)
        return []

    return made


def until_the_end(text, begin, gamma):
    return text[begin:][:gamma]


def without_overlap(text, gamma):
    for n in (3, 2, 1):
        for begin in reversed(range(len(text) - 2 * n + 1)):
            if text[begin : begin + n] == text[-n:]:
                return copied(text, begin + n, gamma)
    return []


def anew(text, gamma):
    out = list(text)
    for _ in range(gamma):
        out.extend(with_loops(out, 1))
    return out[len(text) :]


def around(text, begin, gamma):
    """What follows `begin`, and then the same again."""
    follows = text[begin:]
    return [follows[i % len(follows)] for i in range(gamma)] if follows else []


def paid(minute):
    """With another length of a minute."""
    return lambda *case: x if (x := in_milliseconds(*case)) == "never" else x * minute / 60_000


LATE, THE_TOKEN, MINUTE = "begins one token too late", "The kept drafts are right. The token", "a minute has 60,000"
RIGHT = {}
WRONG = {
    "6.propose": {
        "the end itself": (lambda text, gamma: [], "the end of the text itself"),
        "all that follows": (searching(copy=lambda text, begin, gamma: around(text, begin, max(gamma, len(text) - begin))), "and not at most γ tokens", 8),
        "the earliest": (searching(order=list), "take the most recent one"),
        "the match": (searching(shift=lambda n: -n), "You copy the tokens that match"),
        "too late": (searching(shift=lambda n: 1, copy=around), LATE),
        "too late, until the end": (searching(shift=lambda n: 1, copy=until_the_end), LATE),
        "until the end": (searching(copy=until_the_end), "Your copy stops where the text ends"),
        "runs of three": (searching((3,)), "then look for two"),
        "the last token": (searching((1,)), "the last token first"),
        "runs of two": (searching((2, 1)), "runs of two at most"),
        "no run of one": (searching((3, 2)), "before runs of one token"),
        "not just before the end": (searching(last=1), "one token before the end of the text"),
        "no overlap": (without_overlap, "share tokens with the end"),
        "not at the beginning": (searching(first=1), "one place too late"),
        "anew for each token": (anew, "a new place after each copied token"),
        "one for γ = 0": (lambda text, gamma: with_loops(text, max(gamma, 1)), "With γ = 0 there is nothing"),
    },
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
