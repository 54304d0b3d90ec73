"""The checkpoint: choices that cannot be guessed by their looks, keys that follow from the formulas, rubrics that are no answers."""

import re
from pathlib import Path

import pytest
from answers import e09_checkpoint as answers
from specdec_grader.checks import PARTS, grade_part
from specdec_grader.sheets import e09_checkpoint as sheet

from specdec_lab import theory

SOURCE = (Path(__file__).parents[1] / "solutions" / "src" / "09_checkpoint.md").read_text(encoding="utf-8")
CASES = SOURCE.split("\n## Part ")[1:]
NAMES = ("c1", "c2", "c3", "c4", "q1", "q2")  # that have a choice
NUMBERS = {"c1", "c2", "c3", "c4", "q1", "q3", "q4"}
WORDS = {"c1", "c2", "c3", "c4"}


def choices(case: str) -> dict[str, str]:
    return dict(re.findall(r"^- \*\*([A-D])\.\*\* (.*)$", case, re.M))


def right(name: str) -> str:
    return next(x for x in "ABCD" if grade_part(f"9.{name}.why", lambda x=x: x).points)


def test_every_case_has_its_checks():
    """The four questions are asked in words, in numbers and with a choice; the quick checks without words."""
    for name, case in zip((*NAMES, "q3", "q4"), CASES, strict=True):
        assert (f'check("9.{name}.why", {name}_why)' in case) == (name in NAMES)
        assert (f'check("9.{name}", {name})' in case) == (name in NUMBERS)
        assert (f"<!-- answer 9.{name}.words: 1 points -->" in case) == (name in WORDS)
        assert case.count("<summary>How to grade yourself</summary>") == (name in WORDS)
    checks = {f"9.{n}.why" for n in NAMES} | {f"9.{n}" for n in NUMBERS}
    assert {p for p in PARTS if p.startswith("9.")} == checks and all(PARTS[id].points == 1 for id in checks)


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
        named = [grade_part(f"9.{name}.why", lambda x=x: x).misconception for x in set("ABCD") - {right(name)}]
        assert sum(n is not None for n in named) >= (2 if name == "q1" else 3)


def test_a_reply_quotes_no_number_of_its_own():
    for name, case in zip(NAMES, CASES):
        for letter in set("ABCD") - {right(name)}:
            said = grade_part(f"9.{name}.why", lambda x=letter: x).message.partition(" The belief")[0]
            quoted = {number for number in re.findall(r"\d+(?:\.\d+)?", said) if number not in case}
            assert not quoted or name == "c2", (name, letter, said)  # c2's are what the wrong rules write


GAINS = [2.35, 1.175, 0.5875]


@pytest.mark.parametrize(
    ("points", "part", "made"),
    [
        (0.5, "9.c1", answers.c1("the butter then add some")),
        (0.5, "9.c1", answers.c1(marks=None)),
        (0.0, "9.c1", answers.c1("the butter", "✓✓✗–––+")),
        (0.5, "9.c3", answers.c3(0.509)),
        (0.0, "9.c3", answers.c3(0.509, 1.16)),
        (0.75, "9.q4", answers.gives("B", "D", "A", "A")),
        (0.25, "9.q4", answers.gives("B", "A", None, "D")),
        *((0.5, "9.c4", answers.c4(GAINS, crossover)) for crossover in (20.99, 22.01)),  # a text at most from 21.15
        *((1, "9.c4", answers.c4(GAINS, crossover)) for crossover in (21, 22, "21.15")),
    ],
)
def test_a_part_of_the_answers_earns_a_part_of_the_point(points, part, made):
    assert grade_part(part, made).points == points


def test_the_keys_follow_from_the_formulas():
    p, q = answers.P, answers.Q
    assert written_by("the rule: accept with min(1, p/q), replace from the residual") == pytest.approx(p)
    assert written_by("bug: after a rejection, take the target's favourite") == pytest.approx([0.25, 0.1, 0.65])
    assert "writes the three tokens with the chances (0.25, 0.1, 0.65)" in CASES[1]
    # what is said about the choices B and C of part 2
    assert written_by("another exact way: sample the target, accept a match") == pytest.approx(p)
    assert written_by("bug: accept only the target's favourite") == pytest.approx([0.17, 0, 0.83])
    assert sheet.residual() == pytest.approx(theory.residual(p, q)) and sheet.third() == pytest.approx(p[2])
    S = [tokens / (gamma * 0.16 + v + 0.02) for gamma, tokens, v in sheet.MEASURED]
    assert sorted(S)[-1] > 1.02 * sorted(S)[-2]  # no tie


def written_by(rule: str) -> list[float]:
    """What comes out of part 2's p and q."""
    return theory.emitted(answers.Q, *theory.RULES[rule](answers.P, answers.Q))


def table(case: str) -> list[list[str]]:
    """The cells of the rows of a case's tables."""
    return [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", case, re.M)]


def number_row(case: str, name: str) -> list[float]:
    row = next(row for row in table(case) if row[0] == name)
    return [float(x) for cell in row[1:] for x in re.findall(r"\d*\.?\d+", cell)]


def test_the_judges_know_the_numbers_that_are_asked_about():
    one, two, three, four, five, _, seven, _ = CASES
    rows = [row for row in table(one) if row[0].isdigit()]
    assert [row[1] for row in rows[1:]] == sheet.DRAFTS and [row[2] for row in rows] == sheet.SAYS
    assert f"`{' '.join(sheet.DRAFTS)}`" in one
    assert (number_row(two, "p, the target"), number_row(two, "q, the draft")) == (list(sheet.P), list(sheet.Q))
    assert number_row(three, "rounds") == [sheet.SILENT, *sheet.ROUNDS] and f"log of {sheet.PASSES} rounds" in three
    assert f"T(n) = max(1, n/{sheet.FREE})" in four and f"γ = {sheet.C4_GAMMA} drafts" in four
    assert f"E = {sheet.TOKENS} tokens" in four and "the gains at B = {}, {} and {}:".format(*sheet.SIZES) in four
    assert f"reads {sheet.BYTES_A_SECOND / 1e9:g} GB a second" in five
    assert f"computes {sheet.OPERATIONS_A_SECOND / 1e12:g} TFLOP a second" in five
    assert f"{sheet.WEIGHTS / 1e9:g} billion weights of {sheet.BITS} bits" in five
    assert "over {}, over {} and over {} tokens".format(*sheet.WIDTHS) in five
    gammas, tokens, passes = zip(*sheet.MEASURED)
    assert number_row(seven, "γ") == list(gammas) and number_row(seven, "E, tokens per pass") == list(tokens)
    assert number_row(seven, "v, the target's pass in plain steps") == list(passes)
    assert f"One draft costs {sheet.ONE_DRAFT:g} plain steps, and the rest of each round {sheet.REST:g}." in seven


def test_a_rubric_is_no_answer():
    for case in CASES[:4]:
        answer = re.search(r"points -->\n\n### BEGIN SOLUTION\n(.*?)### END SOLUTION", case, re.S)[1]
        rubric = case.partition("How to grade yourself")[2]
        sentences = [s.strip() for s in re.split(r"(?<=[.?:])\s", answer) if len(s.strip()) > 20]
        assert len(sentences) >= 2 and not [s for s in sentences if s in rubric]


def test_an_answer_without_return_is_no_stub():
    def given():
        """One letter, in quotes."""
        ...

    def answered():
        """One letter, in quotes."""
        "C"

    assert grade_part("9.c1.why", given).status == grade_part("9.c3", lambda: (None, ...)).status == "open"
    assert "`return`" in grade_part("9.c1.why", answered).message and grade_part("9.c1.why", answered).status == "wrong"
