"""The judges of the exercises: right answers in different styles are accepted, and wrong ones are caught and named."""

import importlib
import json
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from answers import e01_idle_math as idle_math
from specdec_grader import check, guard
from specdec_grader.coerce import to_builtin
from specdec_grader.guard import SHOWN, guarded, limited
from specdec_grader.learner.plain_data import pack, unpack
from specdec_grader.mistakes import Wrong
from specdec_grader.part import OPEN, PARTS, RIGHT, WRONG, Part, grade_part

from specdec_lab.course.ledger import Ledger
from specdec_lab.errors import LabError

TESTS = Path(__file__).parent
# Each module has RIGHT: {part: answers in different styles},
# and WRONG: {part: {name: (answer, what is said, and where they matter the number of the belief behind it, or None,
# and the points that are earned all the same)}}: answers that are no change of the right one. The changes are the known
# mistakes of the sheets, which test_mistakes hands in.
ANSWERS = [importlib.import_module(f"answers.{path.stem}") for path in sorted((TESTS / "answers").glob("*.py"))]
ALL_RIGHT = [(part, answer) for module in ANSWERS for part, answers in module.RIGHT.items() for answer in answers]
# Judged by many calls: `make check` hands in right answers, one style does for each, and wrong ones are test_mistakes'.
DEAR = dict.fromkeys(("3.rule", "3.test", "6.improve", "7.policy", "10.offer"), pytest.mark.slow)


def in_part(part: str, *given, **more):
    return pytest.param(part, *given, **more, marks=DEAR.get(part, ()))


ALL_WRONG = [
    in_part(part, *wrong, *[None] * (4 - len(wrong)), id=f"{part}: {name}")
    for module in ANSWERS
    for part, answers in module.WRONG.items()
    for name, wrong in answers.items()
]
pytestmark = pytest.mark.usefixtures("fresh_ledger", "coarse_grids")


def handed_in(answer) -> tuple:
    """What the check is called with: a part may ask for several functions."""
    return answer if isinstance(answer, tuple) else (answer,)


@pytest.fixture
def soon(monkeypatch):
    """Code that never ends is stopped after a second here."""
    for id, part in list(PARTS.items()):
        monkeypatch.setitem(PARTS, id, replace(part, seconds=min(part.seconds, 1.5)))


def test_every_part_has_right_and_wrong_answers():
    right, wrong = (Counter(params[0] for params in some) for some in (ALL_RIGHT, (p.values for p in ALL_WRONG)))
    assert set(right) == set(wrong) == set(PARTS)
    for id, part in PARTS.items():
        assert right[id] >= (1 if part.asks else 2), "two styles each; the sheet's own formula is one (test_mistakes)"


@pytest.mark.parametrize(("part", "answer"), ALL_RIGHT)
def test_right_answers_of_every_style_are_accepted(part, answer):
    verdict = grade_part(part, *handed_in(answer))
    assert (verdict.status, verdict.points) == (RIGHT, PARTS[part].points), verdict.message


def restyled(value, number, row):
    """The same result with other types for its numbers and its lists."""
    if isinstance(value, bool | int | float):
        return number(value)
    if isinstance(value, list | tuple):
        return row([restyled(item, number, row) for item in value])
    return value


STYLES = {
    "numpy": lambda value: restyled(value, lambda x: np.array(x)[()], list),
    "arrays": lambda value: restyled(value, lambda x: x, lambda row: np.array(row) if row and all(isinstance(x, float) for x in row) else row),
    "torch": lambda value: restyled(value, lambda x: torch.tensor(x, dtype=torch.float64) if type(x) is float else torch.tensor(x), list),
    "fractions": lambda value: restyled(value, lambda x: Fraction(x) if type(x) is float else x, list),
    "tuples": lambda value: restyled(value, lambda x: x, tuple),
}  # fmt: skip


def unlent(packed):
    raise AssertionError(packed)


@pytest.mark.parametrize(("part", "style"), [(p, s) for p in PARTS for s in STYLES if p not in DEAR or s == "numpy"])
def test_the_type_of_a_number_decides_nothing_in_either_route(part, style):
    """numpy and torch, fractions, tuples: right in the notebook, and the same from another process."""
    right = next(module.RIGHT[part][0] for module in ANSWERS if part in module.RIGHT)
    seen = []

    def answer(made):
        def in_style(*args):
            result = STYLES[style](to_builtin(made(*args)))
            seen.append(result)
            return result

        return in_style

    verdict = grade_part(part, *(answer(made) if callable(made) else made for made in handed_in(right)))
    assert (verdict.status, verdict.points) == (RIGHT, PARTS[part].points), verdict.message
    for result in seen[:20]:
        assert unpack(json.loads(json.dumps(pack(result, unlent))), unlent) == to_builtin(result)


WRONG_WITHOUT_WORK = {
    **{f"returns {value!r}": (lambda *args, value=value: value) for value in
       (0, 1, 2, 4, 0.5, -1, 1e9, float("nan"), True, False, "", "x", "plain", [], (), [0], [0, 0], (None, 0), ("lookup", 4), [[], []], {})},
    "1/0": lambda *args: 1 / 0,
    "another error": lambda *args: {}["x"],
    "the end of an iterator": lambda *args: next(iter(())),
    "its first argument": lambda *args: args[0] if args else 0,
    "its last argument": lambda *args: args[-1] if args else 0,
    "a list of its first": lambda *args: list(args[:1]),
}  # fmt: skip


@pytest.mark.parametrize("part", [*map(in_part, PARTS)])
def test_an_answer_without_work_earns_nothing(part):
    """A share of the points needs all cases: what the first one shows is not enough."""
    for name, made in WRONG_WITHOUT_WORK.items():
        verdict = grade_part(part, *[made] * (2 if part == "1.v" else 1))
        assert verdict.points == 0.0 and verdict.status != RIGHT, f"{name}: {verdict.message}"


@pytest.mark.parametrize("part", [part for part in PARTS if part != "1.v"])
def test_a_forgotten_return_is_no_stub(part, capsys):
    def forgets(*args):
        result = len(args)
        print(result)

    verdict = grade_part(part, forgets)
    assert verdict.status == WRONG and "returns nothing" in verdict.message, verdict.message
    if PARTS[part].asks and part[:2] != "9." and part != "4.interval":
        assert "it should return" in verdict.message
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("part", "answer", "said"),
    [
        ("8.decide", lambda _: ("don't", "plain", []), "Plain decoding is"),
        ("4.claim", lambda *args: sum(None), "earlier part that is still open"),
        ("4.overlap", lambda *args: "0.75", "should be a number; it is '0.75'"),
        ("4.overlap", lambda *args: "0,75", "Python writes a point"),
        ("4.overlap", lambda *args: (0, 75), "a comma makes two numbers"),
        ("6.propose", lambda text, gamma: [text[-1]] * gamma, ", for ([], 4)."),
        ("7.gain", lambda T, texts, gamma, alpha: 1 / (1 - alpha), ", for (T(n) = max(1, n/40), 30, 2, 1)."),
        ("8.decide", lambda report: report["compared"][0], ", for the report “four prompts”."),
        ("3.rule", lambda p, q, x, u, w: p[x + 1], ", for ([0.5, 0.3, 0.2], [0.7, 0.1, 0.2], 2, "),
    ],
)
def test_slips_of_any_part_are_named(part, answer, said):
    assert said in grade_part(part, answer).message


@pytest.mark.parametrize(("part", "answer", "said", "misconception", "earned"), ALL_WRONG)
def test_wrong_answers_are_caught_and_named(part, answer, said, misconception, earned, request):
    if said.startswith("a loop"):
        request.getfixturevalue("soon")
    verdict = grade_part(part, *handed_in(answer))
    assert verdict.status == WRONG and 0 <= verdict.points < PARTS[part].points
    assert said in verdict.message
    assert verdict.misconception == misconception
    assert earned is None or verdict.points == earned
    assert verdict.message.endswith((".", "?", "”", ")")) and "Traceback" not in verdict.message


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("stub", [lambda *args: None, lambda *args: ..., None])
def test_what_has_not_been_begun_is_open_and_no_mistake(part, stub):
    verdict = grade_part(part, stub)
    assert (verdict.status, verdict.points) == (OPEN, 0.0)


# The guard


def computes(seconds: float):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


def stubborn():
    """Catches the first alarm and goes on, but not for ever: if none followed, this test would fail and not hang."""
    with suppress(BaseException):
        computes(3)
    computes(3)


def endless_output():
    for _ in range(50):
        print("x" * 1_000_000)
    raise Wrong("after 50 MB")


def stops_python():
    raise SystemExit(3)


def deep():
    return deep()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (stops_python, "SystemExit: 3"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (deep, "calls itself without end"),
        (endless_output, "after 50 MB"),
        (stubborn, "did not come to an end within 0.5 seconds"),
        (lambda: time.sleep(5), "did not come to an end within 0.5 seconds"),
    ],
)
def test_whatever_code_does_there_is_one_sentence(code, said, capfd, monkeypatch):
    monkeypatch.setitem(PARTS, "x", Part("x", 2, lambda made: made(), 0.5))
    verdict = grade_part("x", code)
    assert verdict.status == WRONG and said in verdict.message and "\n" not in verdict.message
    assert capfd.readouterr() == ("", "")


def test_what_code_prints_is_shown_in_short_and_a_limit_leaves_no_alarm_behind():
    said = []
    guarded(lambda: print("hello " * 1000), 0.5, said)
    assert len(said[0]) < SHOWN + 40 and said[0].startswith("(Your code printed: hello hello")
    time.sleep(0.7)


def test_a_limit_counts_what_is_computed_and_not_what_others_take():
    """Code that gets no processor for a while waits as if it slept; so does one that another process computes for."""
    guarded(lambda: time.sleep(0.6), 0.3, [])
    elsewhere = iter([5.0, 5.1, *[9.0] * 99])
    with pytest.raises(Wrong, match="within 0.3 seconds of processor time. Is there a loop"):
        guarded(lambda: time.sleep(5), 0.3, [], lambda: next(elsewhere))


def test_a_ring_outside_of_the_call_raises_nothing(monkeypatch):
    """Here one comes when the time is over and the call has not begun; on its way out the same would happen."""
    set_timer = signal.setitimer

    def rings_first(*timer):
        monkeypatch.undo()
        signal.getsignal(signal.SIGALRM)(signal.SIGALRM, sys._getframe())
        set_timer(*timer)

    monkeypatch.setattr(signal, "setitimer", rings_first)
    clock = iter([0.0])
    assert limited(lambda: "done", 1.0, lambda: next(clock, 9.0)) == "done"


def test_a_ring_that_is_missed_is_not_the_last_one(monkeypatch):
    """Here the code takes it away. One that comes just before a wait begins is missed as well."""
    monkeypatch.setattr(guard, "MISSED", 0.1)

    def misses_the_first():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        signal.sigwait({signal.SIGALRM})
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        time.sleep(2)

    begin = time.monotonic()
    with pytest.raises(Wrong, match="did not come to an end"):
        guarded(misses_the_first, 0.05, [])
    assert time.monotonic() - begin < 1.5


def test_the_learner_can_still_interrupt():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts behind itself ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            guarded(lambda: signal.raise_signal(signal.SIGINT), 5.0, [])
    finally:
        signal.signal(signal.SIGINT, before)


# The check in a notebook


def test_a_check_says_it_keeps_it_and_returns_its_points(capsys):
    part, right, wrong = "1.bytes", idle_math.RIGHT["1.bytes"][0], lambda *case: 1.0
    assert check(part, wrong) == 0.0 and check(part, right) == PARTS[part].points and check(part, wrong) == 0.0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith(f"✓ {part}: right.") and out.splitlines()[0].startswith("✗") and err == ""
    kept = Ledger().read()["parts"][part]
    assert (kept["tries"], kept["best"]["points"], kept["last"]["status"]) == (3, PARTS[part].points, WRONG)


def test_an_unknown_part_is_one_sentence():
    with pytest.raises(LabError, match="run the check as it stood"):
        check("3.nothing", 1)
