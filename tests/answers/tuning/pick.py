"""Answers to 5.pick."""

from specdec_lab.theory import expected_tokens


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


RIGHT = {"5.pick": [by_max, by_sorting, by_a_loop]}
WRONG = {
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
    }
}
