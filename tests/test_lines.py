"""Charts of lines: what they say in words, and that no word of theirs is cut or written over another."""

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import specdec_lab as sd
from specdec_lab.show import charts


def test_a_prediction_has_the_colour_of_what_it_predicts():
    first, second, third = (charts.Line(name, [(0, 0), (1, 1)]) for name in "abc")
    theory = charts.Line("b, predicted", [(0, 0), (1, 1)], of="b")
    assert charts.colours([first, second, theory, third]) == [*charts.COLOURS[:2], charts.COLOURS[1], charts.COLOURS[2]]
    assert sd.Plot("", [second, theory], "x", "y").svg().count('stroke-width="1.3"') == 2  # itself, and beside its name


def test_dashes_mean_a_prediction_where_there_is_one():
    line = [charts.Line(name, [(0, 0), (1, 1)]) for name in "abc"]
    theory = charts.Line("a, predicted", [(0, 0), (1, 1)], of="a")
    assert charts.patterns([line[0], line[1], theory, line[2]]) == [0, 0, 1, 0]
    assert charts.patterns(line) == [0, 1, 2]  # not by colour alone
    data = sd.Plot("", [line[0], theory, line[1]], "x", "y").figure().data
    assert [d.line.dash for d in data] == ["solid", "dash", "solid"]
    assert len({d.marker.symbol for d in data}) == 3


def test_where_x_doubles_each_doubling_is_as_wide():
    drawn = [charts.Line("a", [(1, 1), (2, 1), (8, 1), (24, 1)])]
    svg = sd.Plot("", drawn, "texts", "times", doubling=True).svg()
    one, two, eight, most = (float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg))
    assert eight - two == pytest.approx(2 * (two - one), abs=0.2) and most == charts.WIDTH - charts.RIGHT
    assert re.findall(r'text-anchor="middle">(\d+)</text>', svg) == ["1", "2", "4", "8", "16"]
    axis = sd.Plot("", drawn, "texts", "times", doubling=True).figure().layout.xaxis
    assert axis.type == "log" and list(axis.tickvals) == [1, 2, 4, 8, 16]


def test_a_line_chart_says_its_numbers_and_tells_lines_apart_without_colour():
    drawn = [charts.Line("α < 1", [(0, 0.1), (1, 0.25)]), charts.Line("other", [(0, 0.5), (1, 0.24)])]
    svg = sd.Plot("A title", drawn, "x", "y").svg()
    tree = ElementTree.fromstring(svg)  # well-formed, whatever the names hold
    assert "0.25 at 1" in tree.find("{*}desc").text
    dashes = {p.get("stroke-dasharray") for p in tree.iter("{http://www.w3.org/2000/svg}path") if p.get("fill")}
    assert len(dashes) == 2
    names = [t for t in tree.iter("{http://www.w3.org/2000/svg}text") if t.text in ("α < 1", "other")]
    assert abs(float(names[0].get("y")) - float(names[1].get("y"))) >= 14


@pytest.mark.parametrize("heights", [[100.0], [50, 51, 52, 200], [270, 272, 274, 276, 276], [20] * 20])
def test_names_at_the_ends_of_lines_are_apart_and_inside(heights):
    placed = charts.apart(heights)
    assert all(below - above >= 14 for above, below in pairwise(placed))
    assert max(placed) <= charts.HEIGHT - 4 and len(placed) == len(heights)
    if max(heights) < 250 and len(heights) < 5:
        assert all(there >= wanted for there, wanted in zip(placed, heights)) and placed[0] == heights[0]


@pytest.mark.parametrize("letters", [10, 65, 120])
def test_a_long_title_is_written_smaller(letters):
    size = float(re.search(r'font-size="([\d.]+)"', charts.heading("x" * letters, 52, 18, 640))[1])
    assert size <= 14 and letters * 0.6 * size <= 640 - 52 + 1
    assert (size == 14) == (letters <= 70)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.9, 3.1), (0, 37), (-2, 2), (0, 0.004), (5, 5), (0, 12345)])
def test_ticks_are_few_and_inside(low, high):
    found = charts.ticks(low, high)
    assert 1 <= len(found) <= 14
    assert all(low <= t <= high + 1e-9 for t in found)


def test_a_plot_is_one_picture_in_three_forms():
    spread = [(1.5, 2.5), (2.0, 3.5)]
    shown = sd.Plot("times", [sd.Line("a", [(1, 2), (2, 3)], spread=spread), sd.Line("b", [(1, 1), (2, 1)])], "k", "s")
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == "times (s against k)\na: 2 (1.5 to 2.5) at 1, 3 (2 to 3.5) at 2\nb: 1 at 1, 1 at 2"
    svg = ElementTree.fromstring(bundle["image/svg+xml"])
    assert svg.find("{http://www.w3.org/2000/svg}desc").text == bundle["text/plain"]
    data = bundle["application/vnd.plotly.v1+json"]["data"]
    assert [d["name"] for d in data] == ["a", "b"]
    assert list(data[0]["y"]) == [2, 3]
    assert list(data[0]["error_y"]["array"]) == [0.5, 0.5]
    assert list(data[0]["error_y"]["arrayminus"]) == [0.5, 1.0]
    assert data[0]["line"]["dash"] != data[1]["line"]["dash"]  # not colour alone
    assert data[0]["marker"]["symbol"] != data[1]["marker"]["symbol"]
    assert len(json.dumps(bundle, default=str)) < 20_000


def test_small_multiples_share_axes_and_looks_and_say_every_number():
    def lines_of(height):
        clock = charts.Line("by the clock", [(1, height), (2, 2 * height), (4, height)])
        return [clock, charts.Line("foretold <", [(1, 0.5), (4, 1.25)], dots=False, of="by the clock")]

    shown = sd.Multiples("A & B", {"a": lines_of(0.5), "b": lines_of(1)}, "γ", "S", level=(1, "plain"))
    svg = ElementTree.fromstring(shown._repr_html_())[0]  # well-formed, whatever the names hold
    space = "{http://www.w3.org/2000/svg}"
    assert svg.find(f"{space}desc").text == repr(shown)
    assert repr(shown).splitlines()[1:3] == [
        "a, by the clock: 0.5 at 1, 1 at 2, 0.5 at 4; the largest at 2",
        "a, foretold <: 0.5 at 1, 1.25 at 4; the largest at 4",
    ]
    drawn = [p for p in svg.iter(f"{space}path") if p.get("fill") == "none"]
    assert len(drawn) == 4 + 2  # and a sample of each in the legend
    assert {p.get("stroke-dasharray") for p in drawn} == {"", "7 3"} and len({p.get("stroke") for p in drawn}) == 1
    foretold = [p.get("d").split()[1] for p in drawn if p.get("stroke-dasharray")][1:]
    assert foretold[0] == foretold[1]  # the same height for the same number
    rings = [c for c in svg.iter(f"{space}circle") if c.get("fill") == "none"]
    assert len(rings) == 4 + 1
