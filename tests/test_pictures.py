"""Pictures against their numbers: each dot, stroke, bracket and name stands where its axis says that its number is."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from test_show import words
from test_trace import trace_of

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Draft, Emitted, Round
from specdec_lab.formats import short
from specdec_lab.show import charts, terminal
from specdec_lab.show.explorer import RoundExplorer, explorer_data, token_html
from specdec_lab.show.marks import MARKS

SVG = "{http://www.w3.org/2000/svg}"
Tree = ElementTree.Element


def picture(html: str) -> Tree:
    return ElementTree.fromstring(re.search(r"<svg [^>]*viewBox.*?</svg>", html, re.S)[0])


def axis(tree: Tree, anchor: str, along: str, shift: float = 0.0, log: bool = False) -> Callable[[float], float]:
    """Pixels to numbers, by the numbers written beside an axis. shift: from the place of a number to that of its line."""
    marks = {
        float(t.get(along)) + shift: float(t.text)
        for t in tree.iter(f"{SVG}text")
        if t.get("text-anchor") == anchor and re.fullmatch(r"-?[\d.]+", t.text or "")
    }
    (a, x), (b, y) = min(marks.items()), max(marks.items())
    to, back = (math.log, math.exp) if log else (float, float)
    return lambda pixel: back(to(x) + (pixel - a) / (b - a) * (to(y) - to(x)))


def numbers(d: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?[\d.]+", d)]


@pytest.mark.parametrize("log", [False, True])
def test_dots_and_the_stroke_at_their_mean(log):
    """On a scale that multiplies, the mean that is drawn and written is the geometric one, as in the text."""
    rows = {"few": [1.0, 4.0, 16.0], "more": [2.0, 2.5, 90.0, 100.0]}
    tree = picture(sd.Dots("a title", rows, "x", log=log)._repr_html_())
    value = axis(tree, "middle", "x", log=log)
    dots = [value(float(c.get("cx"))) for c in tree.iter(f"{SVG}circle")]
    assert dots == pytest.approx([x for row in rows.values() for x in row], rel=0.02, abs=0 if log else 0.2)
    means = [math.prod(row) ** (1 / len(row)) if log else sum(row) / len(row) for row in rows.values()]
    strokes = [p for p in tree.iter(f"{SVG}path") if p.get("stroke-width") == "3"]
    assert [value(numbers(p.get("d"))[0]) for p in strokes] == pytest.approx(means, rel=0.02)
    written = [t.text for t in tree.iter(f"{SVG}text") if t.get("font-weight")]
    assert written == [short(mean) for mean in means]
    note = [t.text for t in tree.iter(f"{SVG}text") if "mean" in (t.text or "")]
    assert ["geometric" in t for t in note] == [log]


DRAWN = [
    charts.Line("high & steep", [(1, 2.0), (2, 5.0), (4, 9.0)], spread=[(1.5, 2.5), (4.0, 6.0), (8.0, 14.0)]),
    charts.Line("low", [(1, 1.0), (4, 0.5)]),
    charts.Line("between", [(1, 3.0), (4, 4.0)]),
]


@pytest.mark.parametrize("doubling", [False, True])
def test_points_spreads_and_names_of_a_chart(doubling):
    stored = sd.Plot("a title", DRAWN, "x", "y", doubling)._repr_mimebundle_()
    tree = ElementTree.fromstring(stored["image/svg+xml"])
    across, up = axis(tree, "middle", "x", log=doubling), axis(tree, "end", "y", shift=-4)
    dots = [(across(float(c.get("cx"))), up(float(c.get("cy")))) for c in tree.iter(f"{SVG}circle")]
    points = [xy for line in DRAWN for xy in line.points]
    assert [x for x, _ in dots] == pytest.approx([x for x, _ in points], abs=0.02)
    assert [y for _, y in dots] == pytest.approx([y for _, y in points], abs=0.06)
    paths = [p for p in tree.iter(f"{SVG}path")]
    brackets = [numbers(p.get("d")) for p in paths if p.get("d").count("h8") == 2]
    ends = [(up(bottom), up(top)) for _, bottom, top, *_ in brackets]
    assert [y for pair in ends for y in pair] == pytest.approx([y for pair in DRAWN[0].spread for y in pair], abs=0.06)
    *_, high = numbers(tree.get("viewBox"))
    assert all(0 <= y <= high for _, *ys in brackets for y in ys[:2])  # nothing is drawn outside
    names = {t.text: float(t.get("y")) for t in tree.iter(f"{SVG}text") if t.text in {line.name for line in DRAWN}}
    colours = {numbers(p.get("d"))[1]: p.get("stroke") for p in paths if p.get("d").endswith("h22")}
    for line, colour in zip(DRAWN, charts.colours(DRAWN)):
        assert up(names[line.name] - 4) == pytest.approx(line.points[-1][1], abs=0.06)  # beside its line's end
        assert colours[names[line.name] - 4] == colour


def test_measured_times_are_milliseconds_with_the_shortest_and_the_longest_in_whatever_turn_they_came():
    line = charts.Line.timed("T", {1: [0.002, 0.001, 0.004], 3: [0.005, 0.009, 0.003]})
    assert line.points == [(1, 2.0), (3, 5.0)] and line.spread == [(1.0, 4.0), (3.0, 9.0)]


def test_bars_and_brackets_of_an_outline():
    """The bracket goes from two standard deviations below what is wanted to two above."""
    wanted, came = {"a": 0.5, "b": 0.1}, {"plain": {"a": 0.45}, "other": {"a": 0.55, "b": 0.2}}
    shown = sd.FrequencyBars("a title", wanted, came, runs=100)
    tree = picture(shown._repr_html_())
    up = axis(tree, "end", "y", shift=-4)
    bars = [r for r in tree.iter(f"{SVG}rect") if r.get("width") == "22"]
    shares = [up(float(r.get("y"))) for r in bars]
    assert shares == pytest.approx([0.45, 0.55, 0.0, 0.2], abs=0.005)
    outlines = [up(float(r.get("y"))) for r in tree.iter(f"{SVG}rect") if r.get("stroke-dasharray")][:2]
    assert outlines == pytest.approx(list(wanted.values()), abs=0.005)
    brackets = [numbers(p.get("d")) for p in tree.iter(f"{SVG}path") if "m-5 0V" in p.get("d")]
    ends = [up(y) for d in brackets for y in (d[1], d[5])]
    assert ends == pytest.approx([0.6, 0.4, 0.16, 0.04], abs=0.006)


def test_the_ring_of_small_charts_is_at_the_largest_point():
    panels = {name: [charts.Line("S", [(1, 1.0), (2, top), (8, 1.5)])] for name, top in (("a", 3.0), ("b", 1.2))}
    tree = picture(sd.Multiples("a title", panels, "x", "y")._repr_html_())
    circles = [c for c in tree.iter(f"{SVG}circle") if c.get("cx") is not None]
    dots = [c for c in circles if c.get("fill") != "none"]
    rings = [(c.get("cx"), c.get("cy")) for c in circles if c.get("fill") == "none"][1:]  # the first is in the legend
    assert rings == [(dots[n].get("cx"), dots[n].get("cy")) for n in (1, 5)]


def test_a_learning_curve_is_that_of_the_first_draft_in_thousands_of_tokens():
    curve = sd.LearningCurve()
    curve.histories["eagle"] = [
        {"tokens": n, "steps": [{"overlap": x}, {"overlap": x / 2}]} for n, x in ((500, 0.5), (2000, 0.75))
    ]
    assert [(line.name, line.points) for line in curve.plot.lines] == [("eagle", [(0.5, 0.5), (2.0, 0.75)])]
    assert (sd.Climb, sd.Outline) == (sd.LearningCurve, sd.FrequencyBars)  # as notebooks call them


def test_the_shade_of_a_loss_is_that_of_a_gain_of_its_size():
    page = sd.Table("", {"one": {"gain": 2.0, "loss": -1.0}}, shade=True)._repr_html_()
    assert re.findall(r"rgba\(0,114,178,([^)]*)\)", page) == ["0.45", "0.23"]


def test_what_comes_out_of_a_rule_is_as_high_as_its_number():
    """Left of each pair the whole of q, cut at what is kept; right what comes out, on what is kept, and p around it."""
    p, q = (0.5, 0.3, 0.2), (0.7, 0.1, 0.2)
    shown = sd.Rules(p, q)
    for (name, out), svg in zip(
        shown.outputs().items(), re.findall(r"<svg .*?</svg>", shown._repr_html_(), re.S), strict=True
    ):
        accepts, _ = theory.RULES[name](p, q)
        tree = ElementTree.fromstring(svg)
        boxes = [r for r in tree.iter(f"{SVG}rect") if r.get("width") == "20"]
        spans = [[1 - (float(r.get("y")) + x) / 92 for x in (float(r.get("height")), 0.0)] for r in boxes]
        for i in range(3):
            kept = q[i] * accepts[i]
            right = [(0, kept), (kept, q[i]), (0, kept), (kept, out[i]), (0, p[i])]
            assert spans[5 * i : 5 * i + 5] == [pytest.approx(pair, abs=0.002) for pair in right], (name, i)


@pytest.fixture
def data() -> dict:
    trace = trace_of(keep=Keep(top=3), uniforms=Uniforms(2, 3), stops=Stops(60))
    assert {r.emitted.kind for r in trace.rounds if r.emitted} == {"corrected", "bonus"}
    return explorer_data(trace, words, "a title")


def test_every_mark_has_its_own_colour_wherever_rounds_are_shown(data):
    """On a page and in a terminal: a corrected token does not look like one that was accepted."""
    for word, mark in MARKS.items():
        assert f"2px {'dashed' if word == 'discarded' else 'solid'} {mark.colour};" in token_html(word, "x")
        red, green, blue = bytes.fromhex(mark.colour[1:])
        assert terminal.coloured(word, "x", True).startswith(f"\x1b[38;2;{red};{green};{blue}m")
    r = Round(2, (Draft(1, 1, 1, None, None, 1, None, "rejected", parent=-1),), Emitted(2, "corrected", 1, None))
    refused, own = (
        terminal.coloured(word, f"{MARKS[word].symbol}“t{id}”", True)
        for word, id in (("rejected", 1), ("corrected", 2))
    )
    assert terminal.round_line(r, lambda ids: f"t{ids[0]}", True) == f"{refused}  →  {own}"


def test_the_picture_of_rounds_says_what_the_target_would_have_said_and_how_many_are_left(data):
    rounds = data["rounds"]
    explorer, most = RoundExplorer(data), RoundExplorer.most
    assert len(rounds) > most
    for line, r in zip(explorer.text().splitlines()[1:], rounds[:most]):
        tops = [*(d["p_top"] for d in r["drafted"]), r["after_top"]]
        assert line.endswith("favourites: " + " ".join(f"“{top[0]['text']}”" for top in tops) + ")")
    assert f"… and {len(rounds) - most} more rounds" in explorer.text()
    assert f"… and {len(rounds) - most} more." in explorer.picture()
