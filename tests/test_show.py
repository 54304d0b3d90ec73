"""What the marks, pictures and the explorer's data say; the browser is in `browser/`."""

import io
import json
import re
from xml.etree import ElementTree

import pytest
from test_trace import trace_of
from tiny import TinyModel, raced

import specdec_lab as sd
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Draft, Emitted, Round, Trace
from specdec_lab.errors import LabError
from specdec_lab.show import terminal
from specdec_lab.show.explorer import RaceWidget, RoundExplorer, TreeExplorer, explorer_data, lanes, outline, race_data
from specdec_lab.show.marks import MARKS, visible
from specdec_lab.show.table import Table


def words(ids):
    return "".join(f"w{i} " for i in ids)


@pytest.fixture
def data() -> dict:
    trace = trace_of(keep=Keep(top=3), uniforms=Uniforms(2, 3), stops=Stops(30, frozenset({3})))
    return explorer_data(trace, words, "a title")


def test_marks_have_the_promised_colours_and_are_told_apart_without_them():
    assert len({m.symbol for m in MARKS.values()}) == len(MARKS)
    promised = {"accepted": "#009E73", "rejected": "#D55E00", "corrected": "#E69F00", "bonus": "#0072B2"}
    assert {word: MARKS[word].colour for word in promised} == promised


def test_line_breaks_stay_on_one_line():
    assert visible("a\n\tb\r") == "a⏎⇥b␍"
    assert (visible("  "), visible(" a"), visible("")) == ("␣␣", " a", "")


def test_terminal_line():
    r = trace_of(uniforms=Uniforms(2, 3)).rounds[0]
    line = terminal.round_line(r, words, colour=False)
    for d in r.drafted:
        assert f"{MARKS[d.status].symbol}“w{d.id} ”" in line
    assert f"{MARKS[r.emitted.kind].symbol}“w{r.emitted.id} ”" in line
    coloured = terminal.round_line(r, words, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == line


def test_colour_is_for_terminals_and_for_who_asks(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert not terminal.use_colour(io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal.use_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.use_colour(io.StringIO())


def test_explorer_data_is_plain_and_complete(data):
    assert json.loads(json.dumps(data)) == data
    for r in data["rounds"]:
        assert set(r) == {"drafted", "emitted", "before", "stop", "after_top"}
        assert r["after_top"]
        for d in r["drafted"]:
            assert d["p_top"] and d["q_top"] and 0 <= d["overlap"] <= 1 + 1e-9
    assert not data["greedy"]
    first = data["rounds"][0]
    accepted = [d["id"] for d in first["drafted"] if d["status"] == "accepted"]
    assert data["rounds"][1]["before"].endswith(words([0, 1, *accepted, first["emitted"]["id"]]))


def test_greedy_data_shows_the_softmax_behind_the_one_hot_rows():
    drafter = ModelDrafter(TinyModel(4, seed=9))
    data = explorer_data(trace_of(drafter=drafter, sampler=Sampler(0), keep=Keep(top=3)), words, "t")
    assert data["greedy"]
    top = data["rounds"][0]["drafted"][0]["p_top"]
    assert len(top) == 3
    assert top[0]["p"] < 1


def test_pictures_carry_symbols_words_and_totals(data):
    explorer = RoundExplorer(data)
    html, text = explorer.picture(), explorer.text()
    for r in data["rounds"][:8]:
        for d in r["drafted"]:
            assert f"{MARKS[d['status']].symbol} <code" in html
            assert f"{MARKS[d['status']].symbol}“{d['text']}”" in text
    assert data["summary"] in html
    assert data["summary"] in text
    assert "<script" not in html


def test_token_text_cannot_become_markup(data):
    data["rounds"][0]["drafted"][0]["text"] = "<img src=x onerror=alert(1)>"
    assert "<img" not in RoundExplorer(data).picture()


def test_the_explorer_leaves_a_picture_beside_the_widget(data, monkeypatch):
    shown = []
    monkeypatch.setattr("specdec_lab.show.live.display", lambda data, **more: shown.append(data))
    explorers = [RoundExplorer(data), RoundExplorer(data)]
    assert explorers[0].data["id"] != explorers[1].data["id"]  # two do not hide each other's pictures
    explorers[0]._ipython_display_()
    assert set(shown[0]) == {"text/html", "text/plain", "application/vnd.specdec-lab.widget+json"}
    assert "application/vnd.jupyter.widget-view+json" in shown[1]
    assert len(json.dumps(shown[0])) < 50_000


def test_a_run_without_rounds_is_one_sentence():
    with pytest.raises(LabError, match="no round to show"):
        explorer_data(Trace([0]), words, "t")


def test_the_recorded_rounds_are_a_real_run(lab):
    """They can be made again: the same rounds, token for token."""
    from specdec_lab.cli.demo import PROMPT

    recorded = sd.recorded_round().data
    again = explorer_data(lab.speculative(PROMPT, "lookup", max_new_tokens=40), lab.text, recorded["title"])
    for a, b in zip(recorded["rounds"], again["rounds"], strict=True):
        assert [(d["text"], d["status"]) for d in a["drafted"]] == [(d["text"], d["status"]) for d in b["drafted"]]
        assert a["before"] == b["before"]


def test_bars_say_their_numbers_and_when_there_is_no_guess():
    bars = sd.Bars("Tokens per pass", (sd.Bar("your guess", None), sd.Bar("measured", 2.444)))
    assert "no guess" in repr(bars)
    assert "2.44" in repr(bars)
    assert "no guess" in bars._repr_html_()
    assert repr(sd.Bars("empty", ())) == "empty"
    assert "0" in repr(sd.Bars("zero", (sd.Bar("a", 0.0),)))


def test_a_race_alternates_and_takes_medians():
    calls, target = [], TinyModel(4, seed=1)
    from specdec_lab.engine.decode import plain

    def arm(name):
        def run():
            calls.append(name)
            return Trace([0]).collect(plain(target, [0], stops=Stops(5)))

        return run

    result = sd.race(arm("plain"), arm("speculative"), repeats=3)
    assert calls == ["plain", "speculative", "speculative", "plain", "plain", "speculative"]
    assert result.ratio == sorted(result.ratios)[1] > 0


def test_a_race_is_told_in_numbers_where_nothing_can_run():
    result = raced(0.25)
    rounds = len(result.speculative.rounds)
    assert 1 < rounds < 16
    shown = RaceWidget(race_data(result.plain, result.speculative, str, "a <race>", "no machine"))
    assert lanes(shown.data)["plain"] == [(0.25 * n, n) for n in range(1, 17)]
    assert lanes(shown.data)["speculative"][-1] == (0.25 * rounds, 16)
    said = f"Speculation wrote 16 tokens in {0.25 * rounds:.2f} s, in {rounds} rounds: {16 / rounds:.2f} times as fast a token."
    assert said in shown.text() and re.search(r"0.80 s +3 ", shown.text()) and "no machine" in shown.text()
    assert "<b>a &lt;race&gt;</b>" in shown.picture()
    with pytest.raises(LabError, match="interrupted before its first round"):
        race_data(Trace([0]), result.speculative, str, "", "")


def test_a_sampled_target_need_not_say_its_favourite(data):
    assert "the target's favourites:" in RoundExplorer(data).text()
    assert "the target said" not in RoundExplorer(data).picture()
    assert "the target said:" in RoundExplorer({**data, "greedy": True}).text()


NUMBERS = {
    "eagle": {"E": 1.612, "d": 0.11, "speed-up": (1.33, (1.2, 1.45)), "says": "<b>"},
    "lookup": {"E": 1.62, "d": 0.0, "speed-up": (1.32, (1.1, 1.5))},
    "plain": {"E": 1.0, "speed-up": None},
}


def test_a_table_marks_the_best_of_each_column_and_says_every_number_in_words():
    table = Table("On six texts", NUMBERS, best={"E": max, "d": min, "speed-up": max}, digits={"E": 3})
    assert table.marked() == {("lookup", "E"), ("lookup", "d"), ("eagle", "speed-up")}
    said = repr(table).splitlines()
    assert said[0] == "On six texts" and said[-1] == "★ the best of its column"
    assert [line.split() for line in said[1:5]] == [
        ["E", "d", "speed-up", "says"],
        ["eagle", "1.612", "0.11", "1.33", "(1.20–1.45)", "★", "<b>"],
        ["lookup", "1.620", "★", "0.00", "★", "1.32", "(1.10–1.50)", "–"],
        ["plain", "1.000", "–", "–", "–"],
    ]
    page = table._repr_html_()
    assert page.count("★") == 4 and "&lt;b&gt;" in page and "<b><b>" not in page
    for value in ("1.612", "1.33 (1.20–1.45)", "–"):
        assert value in page


def test_a_table_marks_the_best_of_each_row_and_nothing_where_all_are_equal():
    rows = {"chat": {"a": 1.5, "b": 0.2}, "sums": {"a": 1.0, "b": 2.0}, "tie": {"a": 1.0, "b": 1.0}}
    assert Table("", rows, best=max, across=True).marked() == {("chat", "a"), ("sums", "b")}
    assert Table("", rows, best=min).marked() == {("sums", "a"), ("tie", "a"), ("chat", "b")}
    assert Table("", rows).marked() == set() and "★" not in repr(Table("", rows))
    assert Table("", {"a": {"yes": True, "n": 3}}, best=max).marked() == set()


def test_the_shade_of_a_table_grows_with_its_numbers():
    page = Table("", {"one": {"a": 1.0, "b": 0.5, "c": "text"}}, shade=True)._repr_html_()
    assert re.findall(r"rgba\(0,114,178,([\d.]+)\)", page) == ["0.45", "0.23"]
    assert "rgba" not in Table("", {"one": {"a": 1.0}})._repr_html_()


def drawn(shown):
    """The picture of what is displayed, well-formed, whatever the names hold; it says the same as the text."""
    svg = re.search(r"<svg [^>]*viewBox.*?</svg>", shown._repr_html_(), re.S)[0]
    tree = ElementTree.fromstring(svg)
    assert tree.find("{*}desc").text == repr(shown)
    return tree


def test_dots_show_each_text_and_say_every_number():
    shown = sd.Dots("α by kind", {"a < b": {"one & two": 0.25, "three": 0.75}, "none": [], "alone": [0.5]}, "α")
    circles = list(drawn(shown).iter("{http://www.w3.org/2000/svg}circle"))
    assert [c[0].text for c in circles] == ["one & two: 0.25", "three: 0.75", "0.5"]
    left, right, _ = (float(c.get("cx")) for c in circles)
    assert 130 < left < right < 640
    said = [" ".join(line.split()) for line in repr(shown).splitlines()]
    assert said == ["α by kind (α)", "a < b mean 0.5: 0.25 0.75", "none none", "alone mean 0.5: 0.5"]


def test_dots_on_a_scale_that_multiplies():
    shown = sd.Dots("", {"a": [1.0, 10.0, 100.0], "b": [4.0]}, "perplexity", log=True)
    assert shown.mean("a") == pytest.approx(10)
    places = [float(c.get("cx")) for c in drawn(shown).iter("{http://www.w3.org/2000/svg}circle")]
    assert places[2] - places[1] == pytest.approx(places[1] - places[0], abs=0.2)
    for only in ([2.0], [2.0, 2.0]):  # no width
        assert "2" in repr(sd.Dots("", {"a": only}, "x", log=True)) and drawn(sd.Dots("", {"a": only}, "x", log=True))
    assert drawn(sd.Dots("", {"a": []}, "x")) and drawn(sd.Dots("", {"a": [0.0, 0.0]}, "x"))


def test_an_outline_shows_what_was_wanted_and_what_came():
    came = {"plain": {"<the": 0.5}, "speculative": {"<the": 0.4, "a": 0.35}}
    shown = sd.Outline("One word", {"<the": 0.45, "a": 0.3}, came, runs=400)
    assert repr(shown).splitlines() == [
        "One word (shares of 400)",
        "<the: wanted 0.450 ± 0.050, plain 0.500, speculative 0.400",
        "a: wanted 0.300 ± 0.046, plain 0.000, speculative 0.350",
    ]
    tree = drawn(shown)
    bars = [r for r in tree.iter("{http://www.w3.org/2000/svg}rect") if r.get("fill") != "none"]
    assert len(bars) == 4 + 2  # and two beside their names
    assert ["url" in r.get("fill") for r in bars[:2]] == [False, True]  # not colour alone
    heights = [float(r.get("height")) for r in bars[:4]]
    assert heights[0] > heights[1] > heights[3] > heights[2] == 0
    exact = sd.Outline("", {"a": 0.3}, {"x": {"a": 0.3}})
    assert repr(exact) == "\na: wanted 0.300, x 0.300" and "19 of 20" not in exact._repr_html_()
    assert len(shown._repr_html_()) < 12_000
    with pytest.raises(ValueError, match="told apart"):
        sd.Outline("", {}, {way: {} for way in "abcd"})


def test_every_rule_has_its_picture():
    from specdec_lab.theory import RULES

    shown = sd.Rules((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))
    said, page = repr(shown).splitlines(), shown._repr_html_()
    assert len(said) == 1 + len(RULES) and sum(line.startswith("✓") for line in said) == 2
    assert "✗ 0.60 0.16 0.24  bug: after a rejection, draw from p" in said
    assert page.count("p comes out</b>") == 2 and page.count("not p</b>") == len(RULES) - 2
    for svg in re.findall(r"<svg xmlns.*?</svg>", page, re.S):
        ElementTree.fromstring(svg)
    assert len(page) < 30_000


def test_a_tree_is_shown_with_its_way(data):
    r = data["rounds"][0]
    marks = ["rejected", "accepted", "discarded", "accepted"]
    drafts = [r["drafted"][0] | {"status": mark, "text": f"t{n}"} for n, mark in enumerate(marks)]
    for draft, parent in zip(drafts, (-1, -1, 0, 1)):
        draft |= {"parent": parent, "after_top": []}
    emitted = {"id": 1, "text": "own", "kind": "bonus", "p": 1, "p_raw": 1, "p_top": []}
    tree = {"drafted": drafts, "emitted": emitted, "before": "", "stop": None, "after_top": []}
    assert outline(tree) == [
        (0, "rejected", "t0"), (1, "discarded", "t2"), (0, "accepted", "t1"), (1, "accepted", "t3"), (2, "bonus", "own"),
    ]  # fmt: skip
    shown = TreeExplorer({**data, "rounds": [tree]})
    assert "\n     ✓“t3” accepted\n        +“own” bonus" in shown.text()
    assert shown.picture().count("padding-left:26px") == 2 and "<script" not in shown.picture()


def test_a_tree_in_the_terminal_has_brackets():
    drafts = [
        Draft(n, 1, 1, None, None, 1, None, mark, parent=parent)
        for n, (mark, parent) in enumerate(zip(["rejected", "accepted", "discarded", "accepted"], (-1, -1, 0, 1)))
    ]
    line = terminal.round_line(Round(3, tuple(drafts), Emitted(9, "bonus", 1, None)), lambda ids: f"t{ids[0]}", False)
    assert line == "✗“t0” [–“t2”] ✓“t1” [✓“t3”]  →  +“t9”"
