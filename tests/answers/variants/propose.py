"""Answers to 6.propose."""

import torch


# 6.propose: right ones
def with_loops(text, gamma):
    for n in (3, 2, 1):
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                copy = list(text)
                for i in range(gamma):
                    copy.append(copy[end + i])
                return copy[len(text) :]
    return []


def with_index(text, gamma):
    follows = {}
    for end in range(1, len(text)):
        for n in range(1, min(3, end) + 1):
            follows[tuple(text[end - n : end])] = end
    keys = [tuple(text[len(text) - n :]) for n in (3, 2, 1) if n <= len(text)]
    end = next((follows[key] for key in keys if key in follows), None)
    if end is None:
        return ()
    period = len(text) - end
    return tuple(text[end + i % period] for i in range(gamma))


def by_score(text, gamma):
    """One pass over all places: how long the match is there, at most 3; ties go to the later one."""
    best, where = 0, None
    for end in range(1, len(text)):
        n = 0
        while n < min(3, end) and text[end - 1 - n] == text[len(text) - 1 - n]:
            n += 1
        if n and n >= best:
            best, where = n, end
    if where is None:
        return torch.tensor([], dtype=torch.long)
    cycle = text[where:]
    return torch.tensor((cycle * (gamma + 1))[:gamma], dtype=torch.long)


# wrong ones
def searched(text, lengths=(3, 2, 1), first=lambda n, size: range(size - 1, n - 1, -1)):
    for n in lengths:
        for end in first(n, len(text)):
            if n <= end and text[end - n : end] == text[len(text) - n :]:
                return n, end
    return 0, None


def copied(text, begin, gamma):
    out = list(text)
    for i in range(gamma):
        out.append(out[begin + i])
    return out[len(text) :]


def variant(lengths=(3, 2, 1), first=lambda n, size: range(size - 1, n - 1, -1), copy=copied):
    def made(text, gamma):
        _, end = searched(text, lengths, first)
        return [] if end is None else copy(text, end, gamma)

    return made


def cut(text, begin, gamma):
    return text[begin : begin + gamma]


def from_the_match(text, gamma):
    n, end = searched(text)
    return copied(text, end - n, gamma) if end is not None else []


def one_too_late(text, gamma):
    _, end = searched(text)
    return text[end + 1 : end + 1 + gamma] if end is not None else []


def all_that_follows(text, gamma):
    _, end = searched(text)
    return copied(text, end, max(gamma, len(text) - end)) if end is not None else []


def whole_rest(text, gamma):
    _, end = searched(text)
    return text[end:] if end is not None else []


def finds_itself(text, gamma):
    for n in (3, 2, 1):
        for end in range(len(text), n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return text[end : end + gamma]
    return []


def changes_the_text(text, gamma):
    _, end = searched(text)
    if end is None:
        return []
    size = len(text)
    for i in range(gamma):
        text.append(text[end + i])
    return text[size:]


def one_by_one(text, gamma):
    out = []
    for _ in range(gamma):
        out += with_loops([*text, *out], 1)
    return out


def nothing_is_none(text, gamma):
    return with_loops(text, gamma) or None


def at_least_one(text, gamma):
    return with_loops(text, max(1, gamma))


def a_pair(text, gamma):
    return with_loops(text, gamma), 3


def a_generator(text, gamma):
    return (token for token in with_loops(text, gamma))


def last_one_only_in_words(text, gamma):
    return " ".join(map(str, with_loops(text, gamma)))


def repeats_the_end(text, gamma):
    """Not a copy of what followed: the last token again and again where the text ends."""
    _, end = searched(text)
    if end is None:
        return []
    copy = text[end : end + gamma]
    return copy + [text[-1]] * (gamma - len(copy))


def raises(text, gamma):
    return text[len(text)]


RIGHT = {"6.propose": [with_loops, with_index, by_score]}
WRONG = {
    "6.propose": {
        "the earliest place": (variant(first=lambda n, size: range(n, size)), "take the most recent one", None),
        "the match itself": (from_the_match, "copy those that follow them", None),
        "one token too late": (one_too_late, "one token too late", None),
        "stops at the end of the text": (variant(copy=cut), "Let it go on with what it has copied itself", None),
        "only runs of three": (variant((3,)), "then look for two", None),
        "only the last token": (variant((1,)), "at the last token first, or only", None),
        "no run of three": (variant((2, 1)), "two at most", None),
        "the shortest run first": (variant((1, 2, 3)), "at the last token first, or only", None),
        "no run of one": (variant((3, 2)), "the last token alone counts", None),
        "runs of any length": (variant(range(20, 0, -1)), "three is the most here", None),
        "runs of four": (variant((4, 3, 2, 1)), "three is the most here", None),
        "not right before the end": (
            variant(first=lambda n, size: range(size - 2, n - 1, -1)),
            "in 7 7 the first 7 is a place",
            None,
        ),
        "no shared tokens": (variant(first=lambda n, size: range(size - n, n - 1, -1)), "may share tokens", None),
        "not at the very beginning": (
            variant(first=lambda n, size: range(size - 1, n, -1)),
            "one place too late",
            None,
        ),
        "finds the end itself": (finds_itself, "the end of the text itself", None),
        "more than γ": (all_that_follows, "at most γ", 8),
        "the whole rest": (whole_rest, "Which run matches", None),
        "a new search for each token": (one_by_one, "Find one place", None),
        "changes the text": (changes_the_text, "Work on a copy", None),
        "None where nothing is found": (nothing_is_none, "returns nothing for", None),
        "γ = 0 gives one": (at_least_one, "With γ = 0", None),
        "a pair": (a_pair, "A proposed token should be a number", None),
        "a generator": (a_generator, "should be a list", None),
        "a text": (last_one_only_in_words, "should be a list", None),
        "repeats the last token": (repeats_the_end, "Which run matches", None),
        "raises": (raises, "IndexError", None),
    }
}
