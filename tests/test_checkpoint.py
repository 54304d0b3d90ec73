"""The checkpoint: shares of a point, keys that follow from the formulas, and numbers that are those of its text."""

import re
from pathlib import Path

import pytest
from answers import e09_checkpoint as answers
from specdec_grader.checks import grade_part
from specdec_grader.sheets import e09_checkpoint as sheet

from specdec_lab import theory

SOURCE = (Path(__file__).parents[1] / "solutions" / "src" / "09_checkpoint.md").read_text(encoding="utf-8")
CASES = SOURCE.split("\n## Part ")[1:]


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


def test_an_answer_without_return_is_no_stub():
    def given():
        """One letter, in quotes."""
        ...

    def answered():
        """One letter, in quotes."""
        "C"

    assert grade_part("9.c1.why", given).status == grade_part("9.c3", lambda: (None, ...)).status == "open"
    assert "`return`" in grade_part("9.c1.why", answered).message and grade_part("9.c1.why", answered).status == "wrong"
