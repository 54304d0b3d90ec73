"""The checkpoint: choices that cannot be guessed by their looks, keys that follow from the formulas, rubrics that are no answers."""

import re
from pathlib import Path

import pytest
from answers import checkpoint as answers

from specdec_lab import theory
from specdec_lab.course.judges.part import PARTS, judged

SOURCE = (Path(__file__).parents[1] / "solutions" / "src" / "09_checkpoint.md").read_text(encoding="utf-8")
CASES = SOURCE.split("\n## Part ")[1:]
NAMES = ("c1", "c2", "c3", "c4", "q1", "q2")


def choices(case: str) -> dict[str, str]:
    return dict(re.findall(r"^- \*\*([A-D])\.\*\* (.*)$", case, re.M))


def right(name: str) -> str:
    return next(x for x in "ABCD" if judged(f"9.{name}.why", lambda x=x: x).points)


def test_every_case_has_numbers_a_choice_and_words():
    for name, case in zip(NAMES, CASES, strict=True):
        assert f'check("9.{name}", {name})' in case and f'check("9.{name}.why", {name}_why)' in case
        assert f"<!-- answer 9.{name}.words: 1 points -->" in case
        assert case.count("<summary>How to grade yourself</summary>") == 1
    assert {p for p in PARTS if p.startswith("9.")} == {f"9.{n}{end}" for n in NAMES for end in ("", ".why")}


def test_a_right_choice_does_not_show():
    """Neither by its place nor by its length."""
    places = [right(name) for name in NAMES]
    assert set(places) == set("ABCD") and max(map(places.count, places)) == 2
    ranks = []
    for case, place in zip(CASES, places):
        lengths = {letter: len(text) for letter, text in choices(case).items()}
        assert set(lengths) == set("ABCD") and max(lengths.values()) - min(lengths.values()) <= 5, lengths
        ranks.append(sum(n > lengths[place] for n in lengths.values()))
    assert len(set(ranks)) > 1


def test_a_wrong_choice_names_its_belief():
    for name in NAMES:
        named = [judged(f"9.{name}.why", lambda x=x: x).misconception for x in set("ABCD") - {right(name)}]
        assert sum(n is not None for n in named) >= (2 if name == "q1" else 3)


def test_a_part_of_the_answers_earns_a_part_of_the_point():
    for share, made in (
        (0.67, answers.c1("the cat sat by a")),
        (0.33, answers.c1("the cat sat", "✓✓✓✗–+")),
        (0.67, answers.c1(rows=None)),
        (0.75, answers.c3(0.675)),
        (0.5, answers.c3(0.675, 2.7)),
        (0.0, answers.c3(0.1, 0.1, [0, 0], [0, 0])),
    ):
        name = "9.c3" if share in (0.75, 0.5, 0.0) else "9.c1"
        assert judged(name, made).points == share
    assert judged("9.c3", lambda: (None, ..., None, None)).status == "open"


def test_the_keys_follow_from_the_formulas():
    p, q = answers.P, answers.Q
    accepts, bug = theory.RULES["bug: after a rejection, draw from p"](p, q)
    assert theory.emitted(p, q, accepts, bug) == pytest.approx([0.60, 0.16, 0.24])
    assert (
        theory.emitted(p, q, *theory.RULES["another exact way: sample the target, accept a match"](p, q))[2]
        == pytest.approx(p[2])  # choice B of part 2: it is exact
    )
    favourite, rest = theory.RULES["bug: accept only the target's favourite"](p, q)
    assert theory.emitted(p, q, favourite, rest) == pytest.approx([0.7, 0.3, 0])  # and its choice C
    E = theory.expected_tokens(0.75, 4)
    assert judged("9.q2", lambda: ("v", E / 5)).points == 1
    assert judged("9.c4", lambda: ([E, E / 2.5, E / 5], E * 32 / 5)).points == 1


@pytest.mark.parametrize(("crossover", "points"), [(18.99, 0.5), (19, 1), (20, 1), (20.01, 0.5)])
def test_a_crossover_may_be_rounded_to_a_whole_text_on_either_side(crossover, points):
    assert judged("9.c4", lambda: ([3.05, 1.22, 0.61], crossover)).points == points


def test_a_rubric_is_no_answer():
    for case in CASES:
        answer = re.search(r"points -->\n\n### BEGIN SOLUTION\n(.*?)### END SOLUTION", case, re.S)[1]
        rubric = case.partition("How to grade yourself")[2]
        sentences = [s.strip() for s in re.split(r"(?<=[.?:])\s", answer) if len(s.strip()) > 20]
        assert len(sentences) >= 2 and not [s for s in sentences if s in rubric]
