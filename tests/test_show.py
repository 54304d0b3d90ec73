"""What the marks, pictures and the explorer's data say; the browser is in `browser/`."""

import io
import json
import re

import pytest
from pages import tree_of
from tiny import TinyModel, raced, trace_of

import specdec_lab as sd
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Draft, Emitted, Round, Trace
from specdec_lab.errors import LabError
from specdec_lab.show import terminal
from specdec_lab.show.explorer import (
    RaceWidget,
    RoundExplorer,
    TreeExplorer,
    explorer_data,
    lanes,
    outline,
    race_data,
    token_html,
)
from specdec_lab.show.marks import MARKS, visible


def words(ids):
    return "".join(f"w{i} " for i in ids)


@pytest.fixture
def data() -> dict:
    trace = trace_of(keep=Keep(top=3), uniforms=Uniforms(2, 3), stops=Stops(60))
    assert {r.emitted.kind for r in trace.rounds if r.emitted} == {"corrected", "bonus"}
    return explorer_data(trace, words, "a title")


def test_every_mark_has_its_own_colour_and_symbol_wherever_rounds_are_shown():
    """On a page and in a terminal: a corrected token does not look like one that was accepted."""
    assert len({m.symbol for m in MARKS.values()}) == len(MARKS)
    promised = {"accepted": "#009E73", "rejected": "#D55E00", "corrected": "#E69F00", "bonus": "#0072B2"}
    assert {word: MARKS[word].colour for word in promised} == promised
    for word, mark in MARKS.items():
        assert f"2px {'dashed' if word == 'discarded' else 'solid'} {mark.colour};" in token_html(word, "x")
        red, green, blue = bytes.fromhex(mark.colour[1:])
        assert terminal.coloured(word, "x", True).startswith(f"\x1b[38;2;{red};{green};{blue}m")


def test_line_breaks_stay_on_one_line():
    assert visible("a\n\tb\r") == "a⏎⇥b␍"
    assert (visible("  "), visible(" a"), visible("")) == ("␣␣", " a", "")


def test_a_round_in_the_terminal_is_the_same_with_and_without_colour():
    r = trace_of(uniforms=Uniforms(2, 3)).rounds[0]
    parts = [(d.status, f"{MARKS[d.status].symbol}“w{d.id} ”") for d in r.drafted]
    parts.append((r.emitted.kind, f"{MARKS[r.emitted.kind].symbol}“w{r.emitted.id} ”"))
    for colour in (False, True):
        *drafts, own = (terminal.coloured(word, text, colour) for word, text in parts)
        assert terminal.round_line(r, words, colour) == f"{' '.join(drafts)}  →  {own}"


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


def test_pictures_carry_symbols_words_and_totals_and_no_markup_of_tokens(data):
    explorer = RoundExplorer(data)
    html, text = explorer.picture(), explorer.text()
    for r in data["rounds"][:8]:
        for d in r["drafted"]:
            assert f"{MARKS[d['status']].symbol} <code" in html
            assert f"{MARKS[d['status']].symbol}“{d['text']}”" in text
    assert data["summary"] in html
    assert data["summary"] in text
    assert "<script" not in html
    data["rounds"][0]["drafted"][0]["text"] = "<img src=x onerror=alert(1)>"
    assert "<img" not in RoundExplorer(data).picture()


def test_the_picture_of_rounds_says_the_target_s_favourites_and_how_many_rounds_are_left(data):
    """A sampled target need not say its favourite; a greedy one does."""
    rounds = data["rounds"]
    explorer, most = RoundExplorer(data), RoundExplorer.most
    assert len(rounds) > most
    for line, r in zip(explorer.text().splitlines()[1:], rounds[:most]):
        tops = [*(d["p_top"] for d in r["drafted"]), r["after_top"]]
        assert line.endswith("favourites: " + " ".join(f"“{top[0]['text']}”" for top in tops) + ")")
    assert f"… and {len(rounds) - most} more rounds" in explorer.text()
    assert f"… and {len(rounds) - most} more." in explorer.picture()
    assert "the target said" not in explorer.picture()
    assert "the target said:" in RoundExplorer({**data, "greedy": True}).text()


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


def test_a_round_by_hand_is_judged_by_the_greedy_rule():
    (first,) = sd.recorded_round().data["rounds"]
    assert [d["status"] for d in first["drafted"]] == ["accepted"] * 3 + ["rejected", "discarded"]
    assert (first["emitted"]["text"], first["emitted"]["kind"]) == (" by", "corrected")
    (whole,) = sd.round_by_hand("We", "go home", "go home now").data["rounds"]
    assert [d["status"] for d in whole["drafted"]] == ["accepted"] * 2 and whole["emitted"]["kind"] == "bonus"
    with pytest.raises(LabError, match="2 drafts and 2 words of the target"):
        sd.round_by_hand("We", "go home", "go home")


def test_a_race_is_told_in_numbers_where_nothing_can_run():
    result = raced(0.25)
    rounds = len(result.speculative.rounds)
    assert 1 < rounds < 16
    shown = RaceWidget(race_data(result.plain, result.speculative, str, "a <race>", "no machine"))
    assert lanes(shown.data)["plain"] == [(0.25 * n, n) for n in range(1, 17)]
    assert lanes(shown.data)["speculative"][-1] == (0.25 * rounds, 16)
    said = f"Speculation wrote 16 tokens in {0.25 * rounds:.2f} s, in {rounds} rounds: {16 / rounds:.2f} times as fast per token."
    assert said in shown.text() and re.search(r"0.80 s +3 ", shown.text()) and "no machine" in shown.text()
    assert "<b>a &lt;race&gt;</b>" in shown.picture()
    with pytest.raises(LabError, match="interrupted before its first round"):
        race_data(Trace([0]), result.speculative, str, "", "")


def test_a_tree_is_shown_with_its_way_and_in_the_terminal_with_brackets():
    marks, parents = ["rejected", "accepted", "discarded", "accepted"], (-1, -1, 0, 1)
    tree = tree_of(marks, parents, "bonus")
    top, own = [(0, "rejected", "t0"), (1, "discarded", "t2"), (0, "accepted", "t1")], (2, "bonus", "own")
    assert outline(tree) == [*top, (1, "accepted", "t3"), own]
    shown = TreeExplorer({"title": "", "greedy": True, "summary": "", "rounds": [tree]})
    assert "\n     ✓“t3” accepted\n        +“own” bonus" in shown.text()
    assert shown.picture().count("padding-left:26px") == 2 and "<script" not in shown.picture()

    made = (Draft(n, 1, 1, None, None, 1, None, mark, parent=p) for n, (mark, p) in enumerate(zip(marks, parents)))
    line = terminal.round_line(Round(3, tuple(made), Emitted(9, "bonus", 1, None)), lambda ids: f"t{ids[0]}", False)
    assert line == "✗“t0” [–“t2”] ✓“t1” [✓“t3”]  →  +“t9”"
