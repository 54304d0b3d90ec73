"""Answers to exercise 5. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

import torch

from specdec_lab.theory import expected_tokens

# 5.speedup


def by_formula(alpha, gamma, c, v, o):
    return expected_tokens(alpha, gamma) / (gamma * c + v[gamma] + o)


def by_steps(alpha, gamma, c, v, o):
    tokens, chance, time = 1.0, 1.0, v[gamma] + o
    for _ in range(gamma):
        chance *= alpha
        tokens += chance
        time += c
    return tokens / time


def by_tensors(alpha, gamma, c, v, o):
    powers = torch.tensor(alpha, dtype=torch.float64) ** torch.arange(gamma + 1)
    return powers.sum() / (torch.tensor(v, dtype=torch.float64)[gamma] + gamma * c + o)


def E(alpha, gamma):
    return sum(alpha**i for i in range(gamma + 1))


def closed(alpha, gamma, c, v, o):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha) / (gamma * c + v[gamma] + o)


# 5.best


def gains(alpha, d, v, o):
    return [1.0] + [E(alpha, n) / (d[n] + v[n] + o) for n in range(1, len(v))]


def by_list(alpha, d, v, o):
    reached = gains(alpha, d, v, o)
    return reached.index(max(reached))


def by_walking(alpha, d, v, o):
    best, top, tokens = 0, 1.0, 1.0
    for n in range(1, len(d)):
        tokens += alpha**n
        if tokens / (d[n] + v[n] + o) > top:
            best, top = n, tokens / (d[n] + v[n] + o)
    return best


def by_argmax(alpha, d, v, o):
    reached = torch.tensor(gains(alpha, d, v, o), dtype=torch.float64)
    return (reached == reached.max()).nonzero()[0, 0]


def best_of(gain, begin=1):
    """The best γ with another gain."""

    def answer(alpha, d, v, o):
        reached = [1.0] + [gain(alpha, d, v, o, n) for n in range(begin, len(v))]
        return reached.index(max(reached))

    return answer


def never_zero(alpha, d, v, o):
    reached = gains(alpha, d, v, o)[1:]
    return 1 + reached.index(max(reached))


def never_zero_and_the_last(alpha, d, v, o):
    return max(range(1, len(v)), key=lambda n: (gains(alpha, d, v, o)[n], n))


def one_too_small(alpha, d, v, o):
    return never_zero(alpha, d, v, o) - 1


def without_the_last(alpha, d, v, o):
    return by_list(alpha, d[:-1], v[:-1], o)


def uphill(alpha, d, v, o):
    reached, n = gains(alpha, d, v, o), 0
    while n + 1 < len(v) and reached[n + 1] >= reached[n]:
        n += 1
    return n


def uphill_from_one(alpha, d, v, o):
    reached, n = gains(alpha, d, v, o), 0
    while n + 1 < len(v) and reached[n + 1] > reached[n]:
        n += 1
    return n


def charged(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: E(alpha, n) / (d[n] + v[n] + o))


def the_larger(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: (gains(alpha, d, v, o)[n], n))


def most_tokens(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: E(alpha, n))


def needs_two(alpha, d, v, o):
    reached = gains(alpha, d, v, o)[1:]
    return 1 + reached.index(max(reached)) if max(reached) > 1 else 0


# 5.least


def by_halving(gamma, cost):
    if cost > gamma + 1:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        if E(middle, gamma) < cost:
            low = middle
        else:
            high = middle
    return high


def by_newton(gamma, cost):
    if cost > gamma + 1:
        return None
    alpha = 1.0
    for _ in range(60):
        slope = sum(i * alpha ** (i - 1) for i in range(1, gamma + 1))
        alpha = max(0.0, alpha - (E(alpha, gamma) - cost) / slope)
    return alpha


def by_fine_grid(gamma, cost):
    return next((i / 10_000 for i in range(10_001) if E(i / 10_000, gamma) >= cost), None)


def halved(value, never=None):
    """With another sum in place of E."""

    def answer(gamma, cost):
        low, high = 0.0, 1.0
        if value(1.0, gamma) < cost:
            return never
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if value(middle, gamma) >= cost else (middle, high)
        return high

    return answer


def grows_beyond_one(gamma, cost):
    alpha = 0.0
    while E(alpha, gamma) < cost:
        alpha += 0.0002
    return alpha


def coarse(gamma, cost):
    return next((i / 100 for i in range(101) if E(i / 100, gamma) >= cost), None)


def strict(gamma, cost):
    return None if cost >= gamma + 1 else by_halving(gamma, cost)


def below_plain(gamma, cost):
    return by_halving(gamma, cost) if cost > 1 else None


# 5.pick


def tokens(row):
    return sum(n for n, _ in row["texts"]) / sum(passes for _, passes in row["texts"])


def ratios(row):
    return sum(n / passes for n, passes in row["texts"]) / len(row["texts"])


def cost(row):
    return row["d"] + row["v"] + row["o"]


def by_max(rows):
    best = max(rows, key=lambda row: tokens(row) / cost(row))
    return (best["draft"], best["gamma"]) if tokens(best) > cost(best) else (None, 0)


def by_sorting(rows):
    plain = {"draft": None, "gamma": 0, "texts": [(1, 1)], "d": 0.0, "v": 1.0, "o": 0.0}
    best = sorted([plain, *rows], key=lambda row: cost(row) / tokens(row))[0]
    return [best["draft"], best["gamma"]]


def by_a_loop(rows):
    choice, top = (None, 0), 1.0
    while rows:
        row = rows.pop()
        written = passes = 0
        for n, of in row["texts"]:
            written, passes = written + n, passes + of
        if written > top * passes * (row["d"] + row["v"] + row["o"]):
            top = written / passes / (row["d"] + row["v"] + row["o"])
            choice = row["draft"], row["gamma"]
    return choice


def pick(key, pays=lambda row: tokens(row) > cost(row)):
    def answer(rows):
        best = max(rows, key=key)
        return (best["draft"], best["gamma"]) if pays(best) else (None, 0)

    return answer


def always(row):
    return True


def largest_gamma(rows):
    draft = by_max(rows)[0]
    return (draft, max(row["gamma"] for row in rows if row["draft"] == draft)) if draft else (None, 0)


RIGHT = {
    "5.speedup": [by_formula, by_steps, by_tensors],
    "5.best": [by_list, by_walking, by_argmax],
    "5.least": [by_halving, by_newton, by_fine_grid],
    "5.pick": [by_max, by_sorting, by_a_loop],
}
WRONG = {
    "5.speedup": {
        "tokens per pass": (lambda a, n, c, v, o: E(a, n), "also costs time", 7),
        "one draft": (lambda a, n, c, v, o: E(a, n) / (c + v[n] + o), "makes γ of them", None),
        "γ rows": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n - 1] + o), "a pass over γ + 1 rows", None),
        "γ + 2 rows": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n + 1] + o), "beyond the end of v", None),
        "a plain pass": (lambda a, n, c, v, o: E(a, n) / (n * c + 1 + o), "not as much as a plain one", None),
        "the first of v": (lambda a, n, c, v, o: E(a, n) / (n * c + v[0] + o), "not as much as a plain one", None),
        "the last of v": (lambda a, n, c, v, o: E(a, n) / (n * c + v[-1] + o), "the widest pass", None),
        "the sum of v": (lambda a, n, c, v, o: E(a, n) / (n * c + sum(v[: n + 1]) + o), "in one pass", None),
        "a pass for each row": (lambda a, n, c, v, o: E(a, n) / (n * c + (n + 1) + o), "in one pass", None),
        "v for each draft": (lambda a, n, c, v, o: E(a, n) / (n * (c + v[n]) + o), "in one pass", None),
        "no pass": (lambda a, n, c, v, o: E(a, n) / (n * c + o), "pass is missing", None),
        "no drafts": (lambda a, n, c, v, o: E(a, n) / (v[n] + o), "drafts are missing", None),
        "no loop": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n]), "The rest of the loop", None),
        "a loop for each draft": (lambda a, n, c, v, o: E(a, n) / (n * (c + o) + v[n]), "once a round", None),
        "one draft too many": (lambda a, n, c, v, o: E(a, n) / ((n + 1) * c + v[n] + o), "not γ + 1", None),
        "without the target's token": (
            lambda a, n, c, v, o: (E(a, n) - 1) / (n * c + v[n] + o),
            "own token is missing",
            6,
        ),
        "without the bonus": (lambda a, n, c, v, o: E(a, n - 1) / (n * c + v[n] + o), "The last power", 6),
        "each draft by itself": (lambda a, n, c, v, o: (1 + n * a) / (n * c + v[n] + o), "α · γ + 1", None),
        "all kept": (lambda a, n, c, v, o: (n + 1) / (n * c + v[n] + o), "only if all drafts are kept", None),
        "upside down": (lambda a, n, c, v, o: 1 / by_formula(a, n, c, v, o), "the other way up", None),
        "only the cost": (lambda a, n, c, v, o: n * c + v[n] + o, "what a round costs", None),
        "the gain beyond 1": (lambda a, n, c, v, o: by_formula(a, n, c, v, o) - 1, "S is the whole factor", None),
        "a difference": (lambda a, n, c, v, o: E(a, n) - n * c - v[n] - o, "do not take it away", None),
        "rounded": (lambda a, n, c, v, o: round(by_formula(a, n, c, v, o), 2), "do not round", None),
        "α = 1 divides by 0": (closed, "divides by 0", None),
        "v as a number": (lambda a, n, c, v, o: E(a, n) / (n * c + v + o), "TypeError", None),
        "no brackets": (lambda a, n, c, v, o: E(a, n) / n * c + v[n] + o, "which of the four", None),
        "a pair": (lambda a, n, c, v, o: (E(a, n), n * c + v[n] + o), "should be a number", None),
    },
    "5.best": {
        "the largest": (lambda a, d, v, o: len(v) - 1, "You take the largest γ", 8),
        "most tokens": (most_tokens, "most tokens per pass", 7),
        "never 0": (never_zero, "You never give 0", None),
        "never 0 and the last": (never_zero_and_the_last, "You never give 0", None),
        "one too small": (one_too_small, "one too small", None),
        "without the last": (without_the_last, "leave out the last", None),
        "uphill": (uphill, "try every γ", None),
        "stops at a step": (uphill_from_one, "try every γ", None),
        "the larger of two": (the_larger, "the smallest is asked for", None),
        "plain decoding pays the loop": (charged, "to γ = 0 as well", None),
        "γ times d": (best_of(lambda a, d, v, o, n: E(a, n) / (n * d[n] + v[n] + o)), "do not multiply it", None),
        "γ times the first d": (
            best_of(lambda a, d, v, o, n: E(a, n) / (n * d[1] + v[n] + o)),
            "need not grow like that",
            None,
        ),
        "no d": (best_of(lambda a, d, v, o, n: E(a, n) / (v[n] + o)), "The drafts, d, are missing", None),
        "a flat pass": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + 1 + o)), "as if it always cost 1", None),
        "no o": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n])), "The loop, o, is missing", None),
        "without the target's token": (
            best_of(lambda a, d, v, o, n: (E(a, n) - 1) / (d[n] + v[n] + o)),
            "own token is missing",
            6,
        ),
        "γ rows": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n - 1] + o)), "over γ + 1 rows", None),
        "the slowest": (lambda a, d, v, o: min(range(len(v)), key=gains(a, d, v, o).__getitem__), "slowest", None),
        "never drafts": (lambda a, d, v, o: 0, "You never draft", None),
        "the speed-up": (lambda a, d, v, o: max(gains(a, d, v, o)), "this is the speed-up", None),
        "no room": (needs_two, "room for γ = 0 only", None),
        "beyond the lists": (lambda a, d, v, o: len(v), "no such γ in the lists", None),
        "None for 0": (lambda a, d, v, o: by_list(a, d, v, o) or None, "returns nothing", None),
        "a list": (gains, "should be a number", None),
        "half a draft": (lambda a, d, v, o: 1.5, "a whole number", None),
    },
    "5.least": {
        "each draft by itself": (lambda n, x: (x - 1) / n, "only counts if all before it", None),
        "endless drafts": (lambda n, x: 1 - 1 / x, "endless drafts", None),
        "a share of all": (lambda n, x: x / (n + 1), "the first is certain", None),
        "without the target's token": (halved(lambda a, n: E(a, n) - 1), "one token too much", 6),
        "without the target's token, never None": (halved(lambda a, n: E(a, n) - 1, 1.0), "one token too much", 6),
        "without the bonus": (halved(lambda a, n: E(a, n - 1)), "The last power", 6),
        "one power too many": (halved(lambda a, n: E(a, n + 1)), "one power of α too many", None),
        "all or nothing": (halved(lambda a, n: 1 + a**n), "only rounds in which all drafts are kept", None),
        "γ times the cost": (lambda n, x: by_halving(n, n * x + 1), "do not multiply it by γ", None),
        "one pass too many": (lambda n, x: by_halving(n, x + 1), "only once in the cost", 6),
        "S at α = 1": (lambda n, x: (n + 1) / x, "S at α = 1", None),
        "always 1": (lambda n, x: 1.0, "a smaller one is enough", None),
        "never None": (lambda n, x: by_halving(n, x) or 1.0 if x > 1 else 0.0, "no α is enough", None),
        "beyond 1": (grows_beyond_one, "no α is enough", None),
        "a coarse grid": (coarse, "not near enough", None),
        "rounded": (lambda n, x: (x <= n + 1 and round(by_halving(n, x), 2)) or None, "not near enough", None),
        "nothing at the upper edge": (strict, "just enough", None),
        "nothing at the lower edge": (below_plain, "never loses", None),
        "too often None": (lambda n, x: by_halving(n, x) if x < 2 else None, "which is enough", None),
        "something else": (lambda n, x: 0.5, "a round writes", None),
        "text": (lambda n, x: "high", "should be a number", None),
        "waits for ever": (lambda n, x: forever(n, x), "a loop that never stops", None),
    },
    "5.pick": {
        "most tokens": (pick(tokens), "most tokens per pass", 7),
        "most tokens, by the mean of ratios": (pick(ratios, always), "most tokens per pass", 7),
        "the largest α": (pick(lambda r: r["alpha"], always), "by its α", None),
        "the largest α, then the best γ": (pick(lambda r: (r["alpha"], tokens(r) / cost(r))), "by its α", None),
        "the fewest weights": (pick(lambda r: -r["weights"], always), "the fewest weights", 14),
        "the fewest weights, then the best γ": (
            pick(lambda r: (-r["weights"], tokens(r) / cost(r)), always),
            "the fewest weights",
            14,
        ),
        "the cheapest drafts": (pick(lambda r: -r["d"], always), "What do they bring", None),
        "the cheapest round": (pick(lambda r: -cost(r), always), "How many tokens does it write", None),
        "the mean of ratios": (
            pick(lambda r: ratios(r) / cost(r), lambda r: ratios(r) > cost(r)),
            "divide all tokens by all passes",
            None,
        ),
        "its largest γ": (largest_gamma, "its largest γ", 8),
        "the largest γ": (pick(lambda r: r["gamma"], always), "You take the largest γ", 8),
        "γ times d": (
            pick(lambda r: tokens(r) / (r["gamma"] * r["d"] + r["v"] + r["o"]), always),
            "do not multiply it by γ",
            None,
        ),
        "no o": (pick(lambda r: tokens(r) / (r["d"] + r["v"])), "The rest of the loop", None),
        "no v": (pick(lambda r: tokens(r) / (r["d"] + r["o"]), always), "The target's pass, v, is missing", None),
        "v = 1": (pick(lambda r: tokens(r) / (r["d"] + 1 + r["o"]), always), "costs v, not 1", None),
        "no d": (pick(lambda r: tokens(r) / (r["v"] + r["o"]), always), "The drafts, d, are missing", None),
        "from the formula": (
            pick(lambda r: expected_tokens(r["alpha"], r["gamma"]) / cost(r)),
            "They were measured",
            None,
        ),
        "the first text": (pick(lambda r: r["texts"][0][0] / r["texts"][0][1] / cost(r)), "first text only", None),
        "the slowest": (pick(lambda r: -tokens(r) / cost(r), always), "the slowest row", None),
        "the first row": (lambda rows: (rows[0]["draft"], rows[0]["gamma"]), "the first row", None),
        "the last row": (lambda rows: (rows[-1]["draft"], rows[-1]["gamma"]), "the last row", None),
        "something else": (pick(lambda r: tokens(r) - cost(r)), "What is its speed-up by your code", None),
        "always one": (pick(lambda r: tokens(r) / cost(r), always), "no row reaches 1", None),
        "nothing where nothing pays": (
            lambda rows: by_max(rows) if by_max(rows)[0] else None,
            "returns nothing; give (None, 0)",
            None,
        ),
        "the mean of ratios only to see whether it pays": (
            pick(lambda r: tokens(r) / cost(r), lambda r: ratios(r) > cost(r)),
            "mean of ratios there",
            None,
        ),
        "too careful": (
            pick(lambda r: tokens(r) / cost(r), lambda r: tokens(r) > 1.1 * cost(r)),
            "Whatever is above 1",
            None,
        ),
        "only the draft": (lambda rows: by_max(rows)[0], "gives only", None),
        "only γ": (lambda rows: by_max(rows)[1], "should be a list", None),
        "swapped": (lambda rows: by_max(rows)[::-1], "swapped", None),
        "never anything": (lambda rows: (None, 0), "Whatever is above 1", None),
        "an unknown draft": (lambda rows: ("best", 4), "is no draft of the table", None),
        "an unknown row": (lambda rows: (rows[0]["draft"], 5), "There is no row", None),
        "the row itself": (lambda rows: max(rows, key=tokens), "should be a list", None),
    },
}


def forever(gamma, cost):
    low, high = 0.0, 1.0
    while E((low + high) / 2, gamma) != cost:
        low, high = ((low + high) / 2, high) if E((low + high) / 2, gamma) < cost else (low, (low + high) / 2)
    return low
