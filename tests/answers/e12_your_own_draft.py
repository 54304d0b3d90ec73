"""Answers to exercise 12."""


def as_set(customers):
    order = sorted(set(customers), key=customers.index)
    return {i for i in range(len(customers)) if order.index(customers[i]) % 4 == 0}


def first_best(learned, aside):
    return aside.index(max(aside))


def pooled(old, new):
    rates = [sum(n for n, _ in counts) / sum(p for _, p in counts) for counts in (old, new)]
    return rates[1] / rates[0]


def in_milliseconds(step, before, after, minutes):
    saving = step / before - step / after
    return minutes * 60_000 / saving if saving > 0 else "never"


RIGHT = {"12.aside": [as_set], "12.look": [first_best], "12.gain": [pooled], "12.paid": [in_milliseconds]}
WRONG = {
    "12.aside": {
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
        "another word": (lambda *case: str(in_milliseconds(*case)).capitalize(), "if it is no number, should be “never”"),
        "something else": (lambda step, before, after, minutes: 12.0, "gives 12; it should be 267750. A token takes step / S"),
    },
}  # fmt: skip
