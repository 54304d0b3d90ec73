"""A live widget against the trace that it shows, and against its own picture: two programs, the same numbers and marks."""

import json
import re

import pytest
from pages import tree_of
from tiny import raced, trace_of

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.course.ledger import Ledger
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.measure.serving import StepCosts, always, load_aware, never
from specdec_lab.show import loadlab, sandbox, speedup
from specdec_lab.show.charts import Bar
from specdec_lab.show.explorer import (
    RaceWidget,
    RoundExplorer,
    TreeExplorer,
    explorer_data,
    outline,
    race_data,
    result,
)
from specdec_lab.show.guess import Outcome
from specdec_lab.show.marks import MARKS
from specdec_lab.show.page import as_text


def totals(page) -> dict[str, str]:
    """The numbers below an explorer, by name."""
    rows = page.locator(".sdl-totals > *").all()
    return {row.locator(".sdl-name").inner_text(): row.locator("b").inner_text() for row in rows}


def painted(page) -> list[tuple[str, str]]:
    """(mark, colour) of everything that has one."""
    return page.locator("[style*='--mark']").evaluate_all(
        "(all, words) => all.map(e => [words.find(w => e.classList.contains(`sdl-${w}`)), e.style.getPropertyValue('--mark')])",
        list(MARKS),
    )


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_round_explorer_says_what_the_trace_says(shown, temperature):
    """Its sums so far, each round's sentence and marks, and the numbers behind each draft."""
    trace = trace_of(sampler=Sampler(temperature), keep=Keep(top=3), uniforms=Uniforms(2, 3), stops=Stops(18))
    kinds = {r.emitted.kind if r.emitted else "nothing" for r in trace.rounds}
    assert {"corrected", "bonus"} <= kinds or temperature == 0
    page = shown(RoundExplorer(explorer_data(trace, str, "a title")))
    assert totals(page)["first misses found"] == "–"
    for n, r in enumerate(trace.rounds, 1):
        if n == 1:  # said, and so revealed: the second draft is the first miss
            page.locator(".sdl-token").nth(1).click()
            miss = r.accepted if r.missed else len(r.drafted)
            assert page.locator(".sdl-verdict").inner_text().startswith("✓ Right." if miss == 1 else "Not quite: ")
            assert totals(page)["first misses found"] == f"{int(miss == 1)} of 1"
        else:
            page.locator(".sdl-reveal").click()
        so_far = Trace(trace.prompt, trace.rounds[:n])
        found = totals(page)
        assert (found["passes"], found["tokens"]) == (str(n), str(len(so_far.tokens)))
        assert float(found["tokens per pass"]) == pytest.approx(so_far.tokens_per_pass, abs=0.0051)
        assert float(found["α so far"]) == pytest.approx(so_far.alpha, abs=0.0051)
        marks = page.locator("[data-happened]").evaluate_all("all => all.map(e => e.dataset.happened)")
        own = [r.emitted.kind] if r.emitted else []
        assert marks == [*(d.status for d in r.drafted), *own]
        assert all(colour == MARKS[word].colour for word, colour in painted(page))
        written = page.locator(".sdl-strip [data-happened] .sdl-token")
        assert [re.findall("|".join(MARKS), e.get_attribute("class")) for e in written.all()] == [own] * len(own)
        said = page.locator(".sdl-verdict").inner_text()
        assert r.missed == (f"{r.accepted} accepted; draft {r.accepted + 1} is the first miss" in said)
        assert f"{r.accepted + 1} token" in said or not own
        for i, d in enumerate(r.drafted):
            page.locator(f'.sdl-token[data-column="{i}"]').click()
            values = page.locator(".sdl-detail td").all_inner_texts()
            if temperature:
                right = [d.p, d.q, min(1, d.p / d.q), d.u]
                assert [float(x) for x in values] == pytest.approx(right, abs=6e-4)
            else:
                assert [float(x.rstrip("% ")) for x in values] == pytest.approx(
                    [100 * d.p_raw, 100 * d.q_raw], abs=0.51
                )
        if n < len(trace.rounds):
            page.locator(".sdl-next").click()
    # The strip of all rounds has as many boxes as tokens were written.
    boxes = page.locator(".sdl-round").evaluate_all("all => all.map(e => e.children.length)")
    assert boxes == [max(1, len(r.tokens)) for r in trace.rounds]


TREES = [
    (["rejected", "accepted", "discarded", "accepted"], [-1, -1, 0, 1], "bonus"),
    (["accepted", "discarded", "rejected", "rejected"], [-1, -1, 0, 0], "corrected"),
    (["rejected", "rejected", "discarded", "discarded"], [-1, -1, 0, 1], "corrected"),
]


def test_the_tree_explorer_has_the_outline_of_its_text(shown):
    """Each draft and the target's own token in the same order, as deep, with the same mark; and its rows are added up."""
    rounds = [tree_of(*tree) for tree in TREES]
    page = shown(TreeExplorer({"title": "", "greedy": True, "summary": "", "rounds": rounds}))
    for n, r in enumerate(rounds, 1):
        page.locator(".sdl-reveal").click()
        lines = page.locator(".sdl-branches [data-happened]").evaluate_all(
            """all => all.map((e) => {
                let depth = -1;
                for (let up = e; up; up = up.parentElement) depth += up.tagName === "UL";
                return [depth, e.dataset.happened, e.querySelector("code").innerText];
            })"""
        )
        assert [tuple(line) for line in lines] == outline(r)
        assert all(colour == MARKS[word].colour for word, colour in painted(page))
        found, kept = totals(page), sum(d["status"] == "accepted" for r in rounds[:n] for d in r["drafted"])
        assert (found["rows computed"], found["new tokens"]) == (str(5 * n), str(kept + n))
        assert f"{sum(d['status'] == 'accepted' for d in r['drafted'])} of 4 drafts kept" in page.inner_text(
            ".sdl-verdict"
        )
        if n < len(rounds):
            page.locator(".sdl-next").click()


def test_the_race_says_what_its_text_says(shown):
    """Speculation writes more tokens here than plain decoding, so that a ratio of whole times would be another one."""
    made = raced(0.25)
    made.plain.rounds, made.plain.clock = made.plain.rounds[:10], made.plain.clock[:10]
    data = race_data(made.plain, made.speculative, lambda ids: f"t{ids[0]} ", "a race", "no machine")
    page = shown(RaceWidget(data))
    said = re.search(r"([\d.]+) times as fast per token", page.inner_text(".sdl-race"))[1]
    assert said == re.search(r"([\d.]+) times as fast per token", result(data))[1]
    whole = [made.plain.tokens, made.speculative.tokens]
    assert page.locator(".sdl-text").all_text_contents() == ["".join(f"t{i} " for i in tokens) for tokens in whole]
    rows = as_text(page.locator(".sdl-race details").inner_html())
    table = [line.split() for line in rows.splitlines() if " s " in line]
    assert table == [line.split() for line in RaceWidget(data).text().splitlines() if re.match(r"[\d.]+ s ", line)]
    assert len(table) == 5


COSTS = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 1, 4)}, join=0.01)
ACCEPTED = [4, 2, 0, 4, 1]


def rows_of(text: str, beginnings: tuple[str, ...]) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith(beginnings)]


@pytest.mark.parametrize(
    ("load", "gamma", "off", "on", "bursts"), [(40, 4, 8, 9, False), (105, 1, 3, 2, True), (90, 4, 2, 30, True)]
)
def test_the_load_lab_has_the_table_of_its_picture(shown, load, gamma, off, on, bursts):
    page = shown(sd.load_lab({"a <machine>": (COSTS, ACCEPTED)}))
    for name, value in {"load, % of plain": load, "by load: off above": off, "and on again below": on}.items():
        page.get_by_label(name).fill(str(value))
    page.get_by_label("γ, drafts a round").select_option(str(gamma))
    page.get_by_label("arrivals in bursts").set_checked(bursts)
    policies = {"never": never, "always": always(gamma), "by load": load_aware(gamma, off, min(on, off + 1))}
    right = as_text(loadlab.picture(COSTS, ACCEPTED, load, gamma, policies, bursts))
    found = as_text(page.inner_html(".sdl-picture"))
    table = rows_of(right, (*policies,))
    assert rows_of(found, (*policies,)) == table and len(table) == 3
    sentence = right[: right.index("no longer pay")]
    assert " ".join(found.split()).startswith(" ".join(sentence.split()))


def cells_with(html: str, mark: str) -> list[int]:
    """Which of a table's numbers, in order, have this in their cell."""
    cells = re.findall(r"<td[^>]*>.*?\d</b>\)?</td>|<td[^>]*>[(\d].*?</td>", html)
    return [i for i, cell in enumerate(cells) if mark in cell]


def heights_of(html: str) -> list[float]:
    return [float(x) for x in re.findall(r'<rect [^>]*height="([\d.e-]+)"', re.sub("<pattern.*?</pattern>", "", html))]


@pytest.mark.parametrize(("alpha", "gamma", "c", "o"), [(0.75, 4, 0.1, 0.0), (0.52, 2, 0.3, 0.1), (0.9, 9, 0.02, 0.05)])
def test_the_speed_up_explorer_has_the_numbers_of_its_picture(shown, alpha, gamma, c, o):
    """Where passes become dearer with their width: with v of one γ less the numbers would be others."""
    v = speedup.passes({1: 1.0, 3: 1.3, 6: 2.5, 11: 4.0})
    page = shown(sd.speedup_explorer({"here": v}))
    for name, value in {"α": alpha, "γ": gamma, "c,": c, "o,": o}.items():
        page.locator(f'input[aria-label^="{name}"]').fill(str(value))
    page.locator(".sdl-rough").evaluate_all("all => all.forEach(e => e.remove())")  # the same, shorter, on a phone
    right, found = speedup.picture(alpha, gamma, c, o, v), re.sub("</?span[^>]*>", "", page.inner_html(".sdl-picture"))
    assert rows_of(as_text(found), ("α=",)) == rows_of(as_text(right), ("α=",))
    for mark in ("<b>", "outline"):
        assert cells_with(found, mark) == cells_with(right, mark) != []
    numbers = [re.findall(r"[\d.]+ at \d+", re.search("<desc>(.*?)</desc>", html, re.S)[1]) for html in (found, right)]
    drawn, wanted = ([(float(n.split()[0]), n.split()[-1]) for n in some] for some in numbers)
    assert len(drawn) == 30 and [x for _, x in drawn] == [x for _, x in wanted]
    assert [y for y, _ in drawn] == pytest.approx([y for y, _ in wanted], abs=0.011)


@pytest.mark.parametrize("rule", [0, 1, 4])
def test_the_sandbox_draws_what_its_picture_draws(shown, rule):
    page = shown(sd.sandbox())
    name = list(theory.RULES)[rule]
    page.get_by_label("rule").select_option(name)
    p, q = (sandbox.normalised(weights) for weights in sandbox.START.values())
    right, found = sandbox.picture(p, q, name), page.inner_html(".sdl-picture")
    assert rows_of(as_text(found), sandbox.TOKENS) == rows_of(as_text(right), sandbox.TOKENS)
    assert heights_of(found)[:15] == pytest.approx(heights_of(right)[:15], abs=0.06)
    for said in ("Accepted in all: ", "What comes out is "):
        assert re.search(f"{said}[^<]*", found)[0][:30] in re.sub("</?b>", "", right)


def test_the_points_of_an_outcome_stand_where_the_bars_of_its_picture_end(shown, fresh_ledger):
    Ledger().guess("a", 3.0)
    outcome = Outcome("a", Bar("measured", 1.5, interval=(1.0, 2.0)), 0.75, Ledger())
    kept = json.dumps(fresh_ledger.read_text("utf-8"))
    page = shown(outcome, before=f"localStorage.setItem('specdec-lab ledger', {kept})")
    points = page.locator(".sdl-point").evaluate_all("all => all.map(e => [e.innerText, parseFloat(e.style.left)])")
    assert [sign for sign, _ in points] == ["◆", "○", "●"]
    left = [x for _, x in points]
    (low, width), apart = (
        page.locator(name).evaluate("e => [parseFloat(e.style.left), parseFloat(e.style.width)]")
        for name in (".sdl-spread", ".sdl-apart")
    )
    pixels = [int(x) for x in re.findall(r"width:(\d+)px", outcome.picture())]
    assert [*left, width] == pytest.approx([x / pixels[0] * left[0] for x in pixels], abs=0.3)
    assert low == pytest.approx(left[2] * 2 / 3, abs=0.2)
    assert apart == pytest.approx([left[2], left[0] - left[2]], abs=0.2) and "2×" in page.inner_text(".sdl-apart")
    assert "measured 1.5 (between 1 and 2)" in " ".join(page.inner_text(".sdl-key").split())
