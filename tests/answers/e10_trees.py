"""Answers to exercise 10."""

import torch

from specdec_lab.theory import residual


def by_ways(parents):
    ways = []
    for i, parent in enumerate(parents):
        ways.append([*(ways[parent] if parent >= 0 else []), i])
    return [(len(way), way) for way in ways]


def in_a_loop(parents, drafts, choices):
    at, kept = -1, []
    while True:
        for i in range(len(drafts)):
            if parents[i] == at and drafts[i] == choices[at + 1]:
                at = i
                kept.append(i)
                break
        else:
            return kept, choices[at + 1]


def lookup(row, w):
    return int((torch.tensor(row).cumsum(0) <= w * sum(row)).sum())


def offering(p, drafts, qs, us, w, tested=None):
    """The rule; or only so many drafts are tested."""
    wanted = list(p)
    for x, q, u in list(zip(drafts, qs, us))[:tested]:
        if u * q[x] < wanted[x]:
            return x
        wanted = residual(wanted, q)
    return lookup(wanted, w)


def recursive(p, drafts, qs, us, w):
    if not drafts:
        return lookup(p, w)
    if us[0] * qs[0][drafts[0]] < p[drafts[0]]:
        return drafts[0]
    return recursive(residual(p, qs[0]), drafts[1:], qs[1:], us[1:], w)


def deciding(cost=lambda texts, T, s: s["d"] + T[texts * (s["drafts"] + 1)] / T[texts]):
    def made(texts, T, shapes):
        gains = {name: s["E"] / cost(texts, T, s) for name, s in shapes.items()}
        best = max(gains, key=gains.get)
        return best if gains[best] > 1 else "plain"

    return made


RIGHT = {"10.sees": [by_ways], "10.walk": [in_a_loop], "10.offer": [offering, recursive], "10.decide": [deciding()]}
WRONG = {
    "10.sees": {
        "no pairs": (lambda parents: [seen for _, seen in by_ways(parents)], "should have 2 items"),
        "changes what it is given": (lambda parents: [parents.append(0), by_ways(parents[:-1])][1], "changes the list"),
    },
    "10.walk": {
        "with gaps": (lambda parents, drafts, choices: ([i for i, x in enumerate(drafts) if x == choices[parents[i] + 1]], in_a_loop(parents, drafts, choices)[1]), "Begin at the text"),
    },
    "10.offer": {
        "only the first": (lambda *case: offering(*case, tested=1), "fewer drafts are kept", None, 2),
        "not the third": (lambda *case: offering(*case, tested=2), "with three it is not", None, 2),
        "a way without a return": (lambda p, drafts, qs, us, w: drafts[0] if us[0] < 0.9 else None, "it should return a token each time"),
    },
    "10.decide": {
        "the first": (lambda texts, T, shapes: next(iter(shapes)), "E / (d + v)"),
        "another key": (lambda texts, T, shapes: max(shapes, key=lambda n: shapes[n]["e"]), "raised KeyError: 'e', in the line"),
        "too many rows": (deciding(lambda texts, T, s: s["d"] + T[99 * texts]), "Your code asks T for"),
    },
}  # fmt: skip
