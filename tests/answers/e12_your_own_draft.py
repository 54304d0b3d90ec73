"""Answers to exercise 12."""

import torch


def in_order(customers):
    aside = list(dict.fromkeys(customers))[::4]
    return [i for i, name in enumerate(customers) if name in aside]


def as_set(customers):
    order = sorted(set(customers), key=customers.index)
    return {i for i in range(len(customers)) if order.index(customers[i]) % 4 == 0}


def first_best(learned, aside):
    return aside.index(max(aside))


def by_tensor(learned, aside):
    return torch.tensor(aside, dtype=torch.float64).argmax()


def pooled(old, new):
    rates = [sum(n for n, _ in counts) / sum(p for _, p in counts) for counts in (old, new)]
    return rates[1] / rates[0]


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


RIGHT = {
    "12.aside": [in_order, as_set],
    "12.look": [first_best, by_tensor],
    "12.gain": [pooled, with_tensors],
    "12.paid": [in_milliseconds, in_seconds],
}
WRONG = {
    "12.aside": {
        "names": (lambda customers: list(dict.fromkeys(customers))[::4], "should be a number"),
        "twice": (lambda customers: [0, 0], "a prompt twice"),
        "none": (lambda customers: [], "List the customers"),
    },
    "12.look": {
        "something else": (lambda learned, aside: 7, "Only the prompts"),
        "a value": (lambda learned, aside: max(aside), "a whole number"),
    },
    "12.gain": {
        "something else": (lambda old, new: 0.5, "All new tokens"),
    },
    "12.paid": {
        "infinity and less": (lambda step, before, after, minutes: (minutes * 60_000 / (step / before - step / after)) if after != before else float("nan"), "finite number"),
        "another word": (lambda *case: str(in_milliseconds(*case)).capitalize(), "if it is no number, should be “never”"),
        "something else": (lambda step, before, after, minutes: 12.0, "gives 12; it should be 267750. A token takes step / S"),
    },
}  # fmt: skip
