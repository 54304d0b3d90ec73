"""The page of a report on one's own traffic: every number in it is the one that was measured, in the unit that is said."""

import re
from html import unescape

from specdec_lab.show.report import PACES, report
from specdec_lab.show.table import Markdown


def row(arm: str, kind: str, **more) -> dict:
    return {
        "arm": arm, "kind": kind, "gamma": 3, "prompts": 8, "tokens_per_pass": 2.25, "alpha": 0.5, "repetition": 0.125,
        "alpha_by_position": [0.5, 0.25], "ratio_to_plain": 1.5, "ratio_interval": [1.25, 1.75], **more,
    }  # fmt: skip


def lines_of(markdown: str) -> list[str]:
    """As a page shows them: signs of Markdown in a name are letters on it."""
    html = re.sub("</t[dh]>", " ", Markdown(markdown).html.replace("\n", " "))
    lines = (re.sub("<[^>]*>", "", line).split() for line in re.split("</(?:tr|p|li|h2|pre)>", html))
    return [unescape(" ".join(words)) for words in lines if words]


def stands(lines: list[str], *parts: str) -> bool:
    """Whether a line has all of these."""
    return any(all(part in line for part in parts) for line in lines)


def plain_row(kind: str) -> dict:
    nothing = dict.fromkeys(("gamma", "alpha", "alpha_by_position", "ratio_interval"))
    return row("plain", kind, tokens_per_pass=1.0, ratio_to_plain=1.0, **nothing)


def measured(*kinds: str) -> dict:
    """Two arms and these kinds. A whole answer came 2.5 times as fast, a token 4 times."""
    policy = {
        "drafter": "eagle", "gamma": 3, "off_for_kinds": [], "off_above_texts_at_once": 4, "largest_batch_measured": 16,
        "schedule": [[1, 4, 3], [5, 16, 0]],
    }  # fmt: skip
    waits = {"plain": (50.0, 40.0, 39.0, 60.0, 1000.0), "eagle": (55.0, 10.0, 9.0, 15.0, 400.0)}
    return {
        "meta": {"target": "a < b", "hardware": "no machine", "temperature": 0.5, "prompts": 8, "repeats": 3, "max_new_tokens": 40},
        "latency": {name: dict(zip(PACES, numbers)) for name, numbers in waits.items()},
        "rows": [r for kind in ("overall", *kinds) for r in (plain_row(kind), row("eagle", kind))],
        "verdict": "deploy", "reason": "because", "policy": policy, "problems": ["the line <b>"],
    }  # fmt: skip


def test_the_page_of_a_measurement_says_its_numbers():
    lines = lines_of(report(measured("chat", "code")))
    assert stands(lines, "a < b on no machine", "temperature 0.5", "8 prompts", "3 times", "at most 40 tokens")
    assert "plain 50.0 40.0 39.0 60.0 1000.0" in lines and "eagle 55.0 10.0 9.0 15.0 400.0" in lines
    assert stands(lines, "whole answer", "2.50 times as fast")
    of_kinds = [line for line in lines if re.match(r"(plain|eagle) (–|3) ", line)]
    assert of_kinds[:2] == ["plain – overall 8 1.00 – 1.00 – 12%", "eagle 3 overall 8 2.25 0.50 1.50 1.25 to 1.75 12%"]
    assert [line.split()[2] for line in of_kinds] == ["overall"] * 2 + ["chat"] * 2 + ["code"] * 2
    assert lines[lines.index("place in the round eagle") :][1:3] == ["1 0.50", "2 0.25"]
    assert lines[-2:] == ["Left out", "the line <b>"]
    of_one = lines_of(report(measured("all")))  # whose rows are not said twice
    assert sum(line.startswith(("plain –", "eagle 3")) for line in of_one) == 2
