"""Answers to exercise 12."""

import statistics

import torch


def in_order(customers):
    aside = list(dict.fromkeys(customers))[::4]
    return [i for i, name in enumerate(customers) if name in aside]


def counted(customers):
    number, found = {}, []
    for i, name in enumerate(customers):
        number.setdefault(name, len(number))
        if number[name] % 4 == 0:
            found.append(i)
    return found


def as_set(customers):
    order = sorted(set(customers), key=customers.index)
    return torch.tensor([i for i in range(len(customers)) if order.index(customers[i]) % 4 == 0][::-1])


def first_best(learned, aside):
    return aside.index(max(aside))


def by_tensor(learned, aside):
    return torch.tensor(aside, dtype=torch.float64).argmax()


def by_sorting(learned, aside):
    return sorted(range(len(aside)), key=lambda i: -aside[i])[0]


def pooled(old, new):
    rates = [sum(n for n, _ in counts) / sum(p for _, p in counts) for counts in (old, new)]
    return rates[1] / rates[0]


def by_columns(old, new):
    (a, b), (c, d) = (map(sum, zip(*counts)) for counts in (old, new))
    return (c / d) / (a / b)


def with_tensors(old, new):
    old, new = (torch.tensor(x, dtype=torch.float64).sum(0) for x in (old, new))
    return (new[0] / new[1]) / (old[0] / old[1])


def in_milliseconds(step, before, after, minutes):
    saving = step / before - step / after
    return minutes * 60_000 / saving if saving > 0 else "never"


def in_seconds(step, before, after, minutes):
    if after <= before:
        return "never"
    return 60 * minutes / ((step / before - step / after) / 1000)


def by_rates(step, before, after, minutes):
    if not after > before:
        return "never"
    return minutes * 60 * 1000 / step * before * after / (after - before)


RIGHT = {
    "12.aside": [in_order, counted, as_set],
    "12.look": [first_best, by_tensor, by_sorting],
    "12.gain": [pooled, by_columns, with_tensors],
    "12.paid": [in_milliseconds, in_seconds, by_rates],
}
WRONG = {
    "12.aside": {
        "every fourth prompt": (lambda customers: list(range(0, len(customers), 4)), "on both sides"),
        "only their first": (lambda customers: [customers.index(c) for c in list(dict.fromkeys(customers))[::4]], "Put all of them aside"),
        "by the alphabet": (lambda customers: [i for i, c in enumerate(customers) if c in sorted(set(customers))[::4]], "not in that of the alphabet"),
        "from the fourth": (lambda customers: [i for i, c in enumerate(customers) if c in list(dict.fromkeys(customers))[3::4]], "Begin with the first;"),
        "the other side": (lambda customers: [i for i, c in enumerate(customers) if c not in list(dict.fromkeys(customers))[::4]], "to learn from"),
        "names": (lambda customers: list(dict.fromkeys(customers))[::4], "should be a number"),
        "twice": (lambda customers: [0, 0], "a prompt twice"),
        "a number": (lambda customers: 3, "should be a list"),
        "none": (lambda customers: [], "List the customers"),
    },
    "12.look": {
        "the learned ones": (lambda learned, aside: learned.index(max(learned)), "grows in any case"),
        "the last": (lambda learned, aside: len(aside) - 1, "by heart"),
        "the latest of equals": (lambda learned, aside: len(aside) - 1 - aside[::-1].index(max(aside)), "take the earliest"),
        "from 1": (lambda learned, aside: aside.index(max(aside)) + 1, "from 0"),
        "the smallest distance": (lambda learned, aside: min(range(len(aside)), key=lambda i: learned[i] - aside[i]), "not what counts"),
        "the first": (lambda learned, aside: 0, "always those of the beginning"),
        "something else": (lambda learned, aside: 7, "Only the prompts"),
        "a value": (lambda learned, aside: max(aside), "a whole number"),
    },
    "12.gain": {
        "means": (lambda old, new: statistics.fmean(n / p for n, p in new) / statistics.fmean(n / p for n, p in old), "as much as a long one"),
        "mean of ratios": (lambda old, new: statistics.fmean((n / p) / (m / o) for (n, p), (m, o) in zip(new, old)), "as much as a long one"),
        "upside down": (lambda old, new: pooled(new, old), "old / new"),
        "a difference": (lambda old, new: sum(n for n, _ in new) / sum(p for _, p in new) - sum(n for n, _ in old) / sum(p for _, p in old), "How many times"),
        "the new one": (lambda old, new: sum(n for n, _ in new) / sum(p for _, p in new), "Divide by the old"),
        "accepted": (lambda old, new: (sum(n for n, _ in new) / sum(p for _, p in new) - 1) / (sum(n for n, _ in old) / sum(p for _, p in old) - 1), "own token", 6),
        "something else": (lambda old, new: 0.5, "All new tokens"),
    },
    "12.paid": {
        "times instead of divided": (lambda step, before, after, minutes: minutes * 60_000 / (step * (after - before)) if after > before else "never", "You multiply"),
        "seconds": (lambda step, before, after, minutes: minutes * 60 / (step / before - step / after) if after > before else "never", "60,000"),
        "against plain": (lambda step, before, after, minutes: minutes * 60_000 / (step - step / after) if after > before else "never", "there already"),
        "written meanwhile": (lambda step, before, after, minutes: minutes * 60_000 / (step / after) if after > before else "never", "during that time"),
        "infinity and less": (lambda step, before, after, minutes: (minutes * 60_000 / (step / before - step / after)) if after != before else float("nan"), "finite number"),
        "nothing": (lambda *case: 0.0 if in_milliseconds(*case) == "never" else in_milliseconds(*case), 'give "never"'),
        "something else": (lambda step, before, after, minutes: 12.0, "step / S"),
    },
}  # fmt: skip
