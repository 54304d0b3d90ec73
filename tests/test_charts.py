"""Charts and tables against their numbers: what is drawn stands where its axis says, and the text says it, too."""

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specdec_lab as sd
from specdec_lab.formats import short
from specdec_lab.show import charts
from specdec_lab.show.table import Table

SVG = "{http://www.w3.org/2000/svg}"
Tree = ElementTree.Element


def drawn(shown) -> Tree:
    """The picture of what is displayed, well-formed, whatever the names hold; it says the same as the text."""
    tree = ElementTree.fromstring(re.search(r"<svg [^>]*viewBox.*?</svg>", shown._repr_html_(), re.S)[0])
    assert tree.find(f"{SVG}desc").text == repr(shown)
    return tree


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


def brackets(tree: Tree) -> list[list[float]]:
    """The pixels between which each stands."""
    paths = [p.get("d") for p in tree.iter(f"{SVG}path")]
    return [numbers(d)[1:3] for d in paths if d.count("h8") == 2]


NUMBERS = {
    "eagle": {"E": 1.612, "d": 0.11, "speed-up": (1.33, (1.2, 1.45)), "says": "<b>"},
    "lookup": {"E": 1.62, "d": 0.0, "speed-up": (1.32, (1.1, 1.5))},
    "plain": {"E": 1.0, "speed-up": None},
}


def test_a_table_says_each_value_in_its_column():
    table = Table("On six texts", NUMBERS, digits={"E": 3})
    assert [line.split() for line in repr(table).splitlines()] == [
        ["On", "six", "texts"],
        ["E", "d", "speed-up", "says"],
        ["eagle", "1.612", "0.11", "1.33", "(1.20–1.45)", "<b>"],
        ["lookup", "1.620", "0.00", "1.32", "(1.10–1.50)", "–"],
        ["plain", "1.000", "–", "–", "–"],
    ]
    page = table._repr_html_()
    assert all(f">{value}<" in page for value in ("&lt;b&gt;", "1.33 (1.20–1.45)", "1.612", "–"))


@pytest.mark.parametrize("log", [False, True])
def test_dots_show_each_text_and_a_stroke_at_their_mean(log):
    """On a scale that multiplies, the mean that is drawn and written is the geometric one, as in the text."""
    few, more = {"one & two": 1.0, "three": 4.0, "four": 16.0}, [2.0, 2.5, 90.0, 100.0]
    shown = sd.Dots("a title", {"a < b": few, "more": more, "none": []}, "x", log=log)
    tree = drawn(shown)
    value = axis(tree, "middle", "x", log=log)
    circles = [*tree.iter(f"{SVG}circle")]
    dots = [value(float(c.get("cx"))) for c in circles]
    assert dots == pytest.approx([*few.values(), *more], rel=0.02, abs=0 if log else 0.2)
    assert [c[0].text for c in circles][:4] == ["one & two: 1", "three: 4", "four: 16", "2"]
    means = [math.prod(row) ** (1 / len(row)) if log else sum(row) / len(row) for row in ([*few.values()], more)]
    strokes = [p for p in tree.iter(f"{SVG}path") if p.get("stroke-width") == "3"]
    assert [value(numbers(p.get("d"))[0]) for p in strokes] == pytest.approx(means, rel=0.02)
    assert [t.text for t in tree.iter(f"{SVG}text") if t.get("font-weight")] == [short(mean) for mean in means]
    note = [t.text for t in tree.iter(f"{SVG}text") if "mean" in (t.text or "")]
    assert ["geometric" in t for t in note] == [log]
    title, first, _, last = (" ".join(line.split()) for line in repr(shown).splitlines())
    assert title == "a title (x)" and first.endswith(f"mean {short(means[0])}: 1 4 16") and last == "none none"


def test_frequency_bars_show_what_was_wanted_and_what_came():
    """The bracket goes from two standard deviations below what is wanted to two above."""
    wanted, came = {"<the": 0.5, "b": 0.1}, {"plain": {"<the": 0.45}, "other": {"<the": 0.55, "b": 0.2}}
    shown = sd.FrequencyBars("One word", wanted, came, runs=100)
    assert repr(shown).splitlines() == [
        "One word (shares of 100)",
        "<the: wanted 0.500 ± 0.100, plain 0.450, other 0.550",
        "b: wanted 0.100 ± 0.060, plain 0.000, other 0.200",
    ]
    tree = drawn(shown)
    up = axis(tree, "end", "y", shift=-4)
    bars = [r for r in tree.iter(f"{SVG}rect") if r.get("fill") != "none" and r.get("width") != "16"]  # 16 in the key
    assert [up(float(r.get("y"))) for r in bars] == pytest.approx([0.45, 0.55, 0.0, 0.2], abs=0.005)
    assert ["url" in r.get("fill") for r in bars[:2]] == [False, True]  # not colour alone
    outlines = [up(float(r.get("y"))) for r in tree.iter(f"{SVG}rect") if r.get("stroke-dasharray")][:2]
    assert outlines == pytest.approx(list(wanted.values()), abs=0.005)
    assert [up(y) for ends in brackets(tree) for y in ends] == pytest.approx([0.4, 0.6, 0.04, 0.16], abs=0.006)
    exact = sd.FrequencyBars("", {"a": 0.3}, {"x": {"a": 0.3}})
    assert repr(exact) == "\na: wanted 0.300, x 0.300" and "19 of 20" not in exact._repr_html_()
    with pytest.raises(ValueError, match="told apart"):
        sd.FrequencyBars("", {}, {way: {} for way in "abcd"})


LINES = [
    charts.Line("high & steep", [(1, 2.0), (2, 5.0), (4, 9.0)], spread=[(1.5, 2.5), (4.0, 6.0), (8.0, 14.0)]),
    charts.Line("low", [(1, 1.0), (4, 0.5)]),
    charts.Line("plain decoding", [(1, 7), (4, 7)], dots=False, plain=True),
    charts.Line("between <", [(1, 3.0), (4, 4.0)]),
]


@pytest.mark.parametrize("doubling", [False, True])
def test_a_plot_is_one_picture_in_three_forms(doubling):
    """Where x doubles, each doubling is as wide. Lines differ in their dashes, too, and plain decoding is grey."""
    bundle = sd.Plot("a title", LINES, "x", "y", doubling)._repr_mimebundle_()
    tree, figure = ElementTree.fromstring(bundle["image/svg+xml"]), bundle["application/vnd.plotly.v1+json"]
    said = bundle["text/plain"].splitlines()
    assert said[:2] == ["a title (y against x)", "high & steep: 2 (1.5 to 2.5) at 1, 5 (4 to 6) at 2, 9 (8 to 14) at 4"]
    assert tree.find(f"{SVG}desc").text == bundle["text/plain"]
    across, up = axis(tree, "middle", "x", log=doubling), axis(tree, "end", "y", shift=-4)
    dots = [(across(float(c.get("cx"))), up(float(c.get("cy")))) for c in tree.iter(f"{SVG}circle")]
    points = [xy for line in LINES if line.dots for xy in line.points]
    assert [x for x, _ in dots] == pytest.approx([x for x, _ in points], abs=0.02)
    assert [y for _, y in dots] == pytest.approx([y for _, y in points], abs=0.06)
    ends = [up(y) for pair in brackets(tree) for y in pair]
    assert ends == pytest.approx([y for pair in LINES[0].spread for y in pair], abs=0.06)
    names = {t.text: float(t.get("y")) - 4 for t in tree.iter(f"{SVG}text")}
    paths = {numbers(p.get("d"))[1]: p for p in tree.iter(f"{SVG}path") if p.get("d").endswith("h22")}
    for line, live in zip(LINES, figure["data"]):
        assert live["name"] == line.name and list(zip(live["x"], live["y"])) == list(line.points)
        assert up(names[line.name]) == pytest.approx(line.points[-1][1], abs=0.06)
        assert paths[names[line.name]].get("stroke") == live["line"]["color"]
        assert (live["line"]["color"] == charts.GREY) == line.plain
    assert [d["line"]["color"] for d in figure["data"] if d["line"]["color"] != charts.GREY] == [*charts.COLOURS[:3]]
    assert len({p.get("stroke-dasharray") for p in paths.values()}) == len(LINES)
    assert len({d["line"]["dash"] for d in figure["data"]}) == len({d["marker"]["symbol"] for d in figure["data"]}) == 4
    assert figure["data"][0]["error_y"]["array"] == [0.5, 1.0, 5.0]
    assert (figure["layout"]["xaxis"].get("type") == "log") == doubling


def test_measured_times_are_milliseconds_with_their_extremes():
    """In whatever turn they came."""
    line = charts.Line.timed("T", {1: [0.002, 0.001, 0.004], 3: [0.005, 0.009, 0.003]})
    assert line.points == [(1, 2.0), (3, 5.0)] and line.spread == [(1.0, 4.0), (3.0, 9.0)]


@given(low=st.floats(-1e3, 1e3), span=st.just(0.0) | st.floats(1e-3, 1e6))
def test_ticks_are_few_and_inside(low, span):
    found = charts.ticks(low, low + span)
    near = 1e-6 + 1e-9 * span  # nobody sees such a part of an axis
    assert len(found) <= 14 and all(low - near <= t <= low + span + near for t in found)
