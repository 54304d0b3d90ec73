"""Exercise 8: the reports that a decision is judged on."""

FIELDS = ("arm", "kind", "prompts", "tokens_per_pass", "ratio_to_plain", "ratio_interval")


def report(*rows: tuple) -> dict:
    """A report in the form of `specdec-lab traffic --json`, with the fields that decide."""
    return {"rows": [dict(zip(FIELDS, row)) for row in rows]}


REPORTS: dict[str, dict] = {
    "editing": report(
        ("plain", "overall", 30, 1.0, 1.0, None), ("plain", "editing", 20, 1.0, 1.0, None), ("plain", "chat", 10, 1.0, 1.0, None),
        ("eagle", "overall", 30, 2.6, 1.4, [1.25, 1.55]), ("eagle", "editing", 20, 2.8, 1.5, [1.3, 1.7]), ("eagle", "chat", 10, 2.3, 1.22, [1.05, 1.4]),
        ("lookup", "overall", 30, 2.2, 1.61, [1.33, 1.9]), ("lookup", "editing", 20, 2.9, 2.05, [1.7, 2.4]), ("lookup", "chat", 10, 1.2, 0.93, [0.88, 0.99])),
    "stories": report(
        ("plain", "overall", 24, 1.0, 1.0, None),
        ("lookup", "overall", 24, 1.1, 0.94, [0.91, 0.97]), ("lookup", "story", 24, 1.1, 0.94, [0.91, 0.97]),
        ("eagle", "overall", 24, 1.7, 0.88, [0.83, 0.93]), ("eagle", "story", 24, 1.7, 0.88, [0.83, 0.93])),
    "questions": report(
        ("eagle", "question", 12, 2.0, 1.2, [1.02, 1.4]), ("eagle", "overall", 16, 1.9, 1.12, [0.96, 1.31]), ("eagle", "riddle", 4, 1.5, 0.9, None),
        ("plain", "overall", 16, 1.0, 1.0, None),
        ("lookup", "question", 12, 1.3, 1.01, [0.95, 1.08]), ("lookup", "overall", 16, 1.3, 1.0, [0.95, 1.06]), ("lookup", "riddle", 4, 1.1, 0.95, None)),
    "four prompts": report(
        ("plain", "overall", 4, 1.0, 1.0, None), ("model", "overall", 4, 2.9, 1.9, None), ("model", "code", 4, 2.9, 1.9, None)),
    "three prompts, with an interval": report(
        ("plain", "overall", 3, 1.0, 1.0, None), ("model", "overall", 3, 2.4, 1.35, [1.2, 1.5]), ("model", "code", 3, 2.4, 1.35, [1.2, 1.5])),
    "three prompts, all slower": report(
        ("plain", "overall", 3, 1.0, 1.0, None), ("model", "overall", 3, 1.3, 0.7, [0.6, 0.8]), ("model", "prose", 3, 1.3, 0.7, [0.6, 0.8])),
    "exactly 1 below": report(
        ("plain", "overall", 40, 1.0, 1.0, None), ("medusa", "overall", 40, 1.8, 1.15, [1.0, 1.3]), ("medusa", "chat", 40, 1.8, 1.15, [1.0, 1.3])),
    "exactly 1 above": report(
        ("plain", "overall", 40, 1.0, 1.0, None),
        ("medusa", "overall", 40, 1.5, 0.95, [0.9, 1.0]), ("medusa", "chat", 40, 1.5, 0.95, [0.9, 1.0]),
        ("lookup", "overall", 40, 1.2, 0.93, [0.8, 1.06]), ("lookup", "chat", 40, 1.2, 0.93, [0.8, 1.06])),
    "a little slower": report(
        ("plain", "overall", 20, 1.0, 1.0, None), ("model", "overall", 20, 1.6, 0.97, [0.9, 1.05]), ("model", "letter", 20, 1.6, 0.97, [0.9, 1.05])),
    "five prompts": report(
        ("plain", "overall", 5, 1.0, 1.0, None),
        ("eagle", "overall", 5, 2.0, 1.15, [1.06, 1.25]), ("eagle", "list", 2, 2.0, 1.25, None), ("eagle", "chat", 3, 1.9, 1.1, None),
        ("lookup", "overall", 5, 1.8, 1.2, [1.05, 1.4]), ("lookup", "list", 2, 2.2, 1.6, None),
        ("lookup", "chat", 2, 1.0, 1.0, None), ("lookup", "poem", 1, 1.1, 0.9, None)),
    "one kind stands out": report(
        ("plain", "overall", 60, 1.0, 1.0, None),
        ("model", "overall", 60, 2.3, 1.3, [1.2, 1.4]), ("model", "chat", 55, 2.3, 1.32, [1.2, 1.4]), ("model", "table", 5, 2.0, 1.1, [0.9, 1.3]),
        ("lookup", "overall", 60, 1.5, 1.12, [1.02, 1.45]), ("lookup", "chat", 55, 1.2, 0.98, [0.9, 1.05]), ("lookup", "table", 5, 4.5, 3.0, [2.0, 4.0])),
}  # fmt: skip
