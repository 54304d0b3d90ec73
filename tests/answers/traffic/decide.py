"""Answers to 8.decide."""

from statistics import fmean


def chosen(report):
    return max(
        (r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"), key=lambda r: r["ratio_to_plain"]
    )


def by_ifs(report):
    row = chosen(report)
    interval = row["ratio_interval"]
    if interval is None or row["prompts"] < 5:
        return "unclear", row["arm"], []
    if interval[1] < 1:
        return "don't", row["arm"], []
    if interval[0] <= 1:
        return "unclear", row["arm"], []
    off = []
    for r in report["rows"]:
        if r["arm"] == row["arm"] and r["kind"] != "overall" and r["ratio_to_plain"] < 1:
            off.append(r["kind"])
    return "deploy", row["arm"], off


def by_table(report):
    rows = {(r["arm"], r["kind"]): r for r in report["rows"] if r["arm"] != "plain"}
    _, arm = max((r["ratio_to_plain"], a) for (a, kind), r in rows.items() if kind == "overall")
    best = rows[arm, "overall"]
    low, high = best["ratio_interval"] or (0, 2)
    known = best["prompts"] >= 5
    decision = "deploy" if known and low > 1 else "don't" if known and high < 1 else "unclear"
    off = {k for (a, k), r in rows.items() if a == arm and k != "overall" and r["ratio_to_plain"] < 1}
    return [decision, arm, off if decision == "deploy" else set()]


class Sorted:
    def __call__(self, report):
        overall = sorted(
            (r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"),
            key=lambda r: -r["ratio_to_plain"],
        )
        best, decision = overall[0], "unclear"
        if best["ratio_interval"] and best["prompts"] > 4:
            signs = [(x > 1) - (x < 1) for x in best["ratio_interval"]]
            decision = {(1, 1): "deploy", (-1, -1): "don't"}.get(tuple(signs), "unclear")
        losing = [r["kind"] for r in reversed(report["rows"]) if r["arm"] == best["arm"] and r["ratio_to_plain"] < 1]
        return decision, best["arm"], [k for k in losing if k != "overall"] if decision == "deploy" else []


def with_arm(key, rows=None):
    """Everything else is right, for a drafter that was chosen in this way."""

    def made(report):
        some = rows(report) if rows else [r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"]
        arm = max(some, key=lambda r: key(r, report))["arm"]
        decision, _, off = (
            by_ifs({"rows": [r for r in report["rows"] if r["arm"] == arm]}) if arm != "plain" else by_ifs(report)
        )
        return decision, arm, off

    return made


def mean_of_kinds(row, report):
    return fmean(r["ratio_to_plain"] for r in report["rows"] if r["arm"] == row["arm"] and r["kind"] != "overall")


def with_decision(decide):
    """The drafter is right, the decision is this, the kinds are those of a right decision."""

    def made(report):
        row = chosen(report)
        return decide(row), row["arm"], by_ifs(report)[2]

    return made


def between(low=lambda x: x > 1, high=lambda x: x < 1, few=5):
    def decide(row):
        if row["ratio_interval"] is None or row["prompts"] < few:
            return "unclear"
        return "deploy" if low(row["ratio_interval"][0]) else "don't" if high(row["ratio_interval"][1]) else "unclear"

    return decide


def by_ratio(row):
    return "deploy" if row["ratio_to_plain"] > 1 else "don't"


def by_tokens(row):
    return "deploy" if row["tokens_per_pass"] > 1 else "don't"


def with_off(off):
    """Decision and drafter are right, the kinds are these."""

    def made(report):
        decision, arm, _ = by_ifs(report)
        rows = [r for r in report["rows"] if r["arm"] == arm and r["kind"] != "overall"]
        return decision, arm, off(decision, rows, report)

    return made


def when_deployed(losing):
    return with_off(
        lambda decision, rows, report: [r["kind"] for r in rows if losing(r)] if decision == "deploy" else []
    )


def ignores_missing(report):
    row = chosen(report)
    return "deploy" if row["ratio_interval"][0] > 1 else "don't", row["arm"], []


RIGHT = {"8.decide": [by_ifs, by_table, Sorted()]}
WRONG = {
    "8.decide": {
        "the drafter with the most tokens": (
            with_arm(lambda r, _: r["tokens_per_pass"]),
            "the most tokens per pass",
            7,
        ),
        "plain among the drafters": (
            with_arm(
                lambda r, _: r["ratio_to_plain"], lambda report: [r for r in report["rows"] if r["kind"] == "overall"]
            ),
            "Plain decoding is in the report",
            None,
        ),
        "a mean of ratios over kinds": (with_arm(mean_of_kinds), "a mean of ratios over kinds", None),
        "the best row of all": (
            with_arm(
                lambda r, _: r["ratio_to_plain"], lambda report: [r for r in report["rows"] if r["arm"] != "plain"]
            ),
            "the best row of all kinds",
            None,
        ),
        "the best high end": (with_arm(lambda r, _: (r["ratio_interval"] or [0, 0])[1]), "that is hope", None),
        "the best low end": (with_arm(lambda r, _: (r["ratio_interval"] or [0, 0])[0]), "decides afterwards", None),
        "the first drafter": (with_arm(lambda r, _: 0), "the first drafter", None),
        "the slowest drafter": (with_arm(lambda r, _: -r["ratio_to_plain"]), "the slowest drafter", None),
        "no drafter where it loses": (
            lambda report: tuple(
                None if x == by_ifs(report)[1] and by_ifs(report)[0] == "don't" else x for x in by_ifs(report)
            ),
            "Name the drafter in any case",
            None,
        ),
        "by tokens per pass": (with_decision(by_tokens), "More than one token in a pass is no gain", 7),
        "by the ratio": (with_decision(by_ratio), "by the ratio alone", None),
        "by the ratio, with enough prompts": (
            with_decision(lambda row: by_ratio(row) if row["prompts"] >= 5 else "unclear"),
            "by the ratio alone",
            None,
        ),
        "deploys by hope": (
            with_decision(
                lambda row: (
                    "unclear"
                    if row["ratio_interval"] is None or row["prompts"] < 5
                    else "deploy"
                    if row["ratio_interval"][1] > 1
                    else "don't"
                )
            ),
            "as soon as the high end is a gain",
            None,
        ),
        "few prompts": (with_decision(between(few=0)), "fewer than 5 prompts", None),
        "five are too few": (with_decision(between(few=6)), "5 prompts are enough", None),
        "no interval is a no": (
            with_decision(lambda row: "don't" if row["ratio_interval"] is None else between(few=0)(row)),
            "Where there is no interval",
            None,
        ),
        "a low end of 1 is enough": (with_decision(between(low=lambda x: x >= 1)), "exactly 1", None),
        "a high end of 1 is too little": (with_decision(between(high=lambda x: x <= 1)), "exactly 1", None),
        "never unclear": (with_decision(between(high=lambda x: True)), "holds a gain and a loss", None),
        "never a no": (with_decision(between(high=lambda x: False)), "is not unclear: don't", None),
        "a no by the low end": (
            with_decision(
                lambda row: (
                    "don't"
                    if row["ratio_interval"] and row["prompts"] >= 5 and row["ratio_interval"][0] < 1
                    else between()(row)
                )
            ),
            "may still be a gain",
            None,
        ),
        "always unclear": (with_decision(lambda row: "unclear"), "where does the interval lie", None),
        "other words": (
            with_decision(lambda row: between()(row).replace("don't", "do not")),
            'should be "deploy"',
            None,
        ),
        "None for unclear": (
            lambda report: found if (found := by_ifs(report))[0] != "unclear" else None,
            "returns nothing",
            None,
        ),
        "no care for a missing interval": (ignores_missing, "TypeError", None),
        "kinds that gain": (when_deployed(lambda r: r["ratio_to_plain"] > 1), "where it gains", None),
        "no kinds": (with_off(lambda decision, rows, report: []), "There are kinds where it loses", None),
        "a kind with exactly 1": (
            when_deployed(lambda r: r["ratio_to_plain"] <= 1),
            "of exactly 1 loses nothing",
            None,
        ),
        "kinds of what is not deployed": (
            with_off(lambda decision, rows, report: [r["kind"] for r in rows if r["ratio_to_plain"] < 1]),
            "the list is empty",
            None,
        ),
        "kinds of other drafters": (
            with_off(
                lambda decision, rows, report: [
                    r["kind"]
                    for r in report["rows"]
                    if r["kind"] != "overall" and r["ratio_to_plain"] < 1 and decision == "deploy"
                ]
            ),
            "another one may lose elsewhere",
            None,
        ),
        "kinds by interval": (
            when_deployed(lambda r: r["ratio_interval"] is None or r["ratio_interval"][0] <= 1),
            "rest on few prompts",
            None,
        ),
        "kinds that surely lose": (
            when_deployed(lambda r: r["ratio_interval"] is not None and r["ratio_interval"][1] < 1),
            "rest on few prompts",
            None,
        ),
        "kinds by tokens": (when_deployed(lambda r: r["tokens_per_pass"] < 1.15), "of this drafter below 1", None),
        "kinds below the mean": (
            with_off(
                lambda decision, rows, report: [
                    r["kind"]
                    for r in rows
                    if decision == "deploy" and r["ratio_to_plain"] < chosen(report)["ratio_to_plain"]
                ]
            ),
            "may still gain",
            None,
        ),
        "overall as a kind": (
            lambda report: (*by_ifs(report)[:2], ["overall"] if by_ifs(report)[0] == "don't" else by_ifs(report)[2]),
            "is no kind of prompt",
            None,
        ),
        "a row in place of a kind": (
            with_off(
                lambda decision, rows, report: [r for r in rows if decision == "deploy" and r["ratio_to_plain"] < 1]
            ),
            "should hold their names",
            None,
        ),
        "the decision alone": (lambda report: by_ifs(report)[0], "should be a list", None),
        "two things": (lambda report: by_ifs(report)[:2], "should have 3 items", None),
    }
}
