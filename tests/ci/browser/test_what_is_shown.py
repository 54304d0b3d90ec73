"""What a live widget shows is what the trace says, or theory: numbers, marks, and where its bars end."""

import json
import re

import pytest
from tiny import raced, trace_of

from specdec_lab.course.ledger import Ledger
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.show.asked import Outcome
from specdec_lab.show.explorer import RaceWidget, RoundExplorer, TreeExplorer, explorer_data, race_data
from specdec_lab.show.terminal import MARKS


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
    assert not page.locator(".sdl-totals").is_visible()  # nothing to count yet
    for n, r in enumerate(trace.rounds, 1):
        # The target's own words wait until the round is answered.
        assert page.get_by_role("img", name="not shown yet").count() == len(r.drafted) + 1
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
        tested = [d for r in so_far.rounds for d in r.drafted if d.status != "discarded"]
        assert found["compared and accepted"] == f"{sum(d.status == 'accepted' for d in tested)} of {len(tested)}"
        assert float(found["α"]) == pytest.approx(so_far.alpha, abs=0.0051)
        marks = page.locator("[data-happened]").evaluate_all("all => all.map(e => e.dataset.happened)")
        own = [r.emitted.kind] if r.emitted else []
        assert marks == [*(d.status for d in r.drafted), *own]
        assert all(colour == MARKS[word].colour for word, colour in painted(page))
        written = page.locator(".sdl-strip [data-happened] .sdl-token")
        assert [re.findall("|".join(MARKS), e.get_attribute("class")) for e in written.all()] == [own] * len(own)
        said = page.locator(".sdl-why").inner_text()
        assert r.missed == (f"raft {r.accepted + 1} is ↻ corrected by the target: " in said)
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


TREES = [  # marks, parents, the kind of the target's own token; and what is shown: depth, mark and text
    (
        ("rejected accepted discarded accepted", [-1, -1, 0, 1], "bonus"),
        "0 rejected t0, 1 discarded t2, 0 accepted t1, 1 accepted t3, 2 bonus own",
    ),
    (
        ("accepted discarded rejected rejected", [-1, -1, 0, 0], "corrected"),
        "0 accepted t0, 1 rejected t2, 1 rejected t3, 1 corrected own, 0 discarded t1",
    ),
]


def tree_of(marks: list[str], parents: list[int], kind: str) -> dict:
    """A round of a tree as the explorer's data has it: the drafts t0, t1, … and the target's own token."""
    one = {"id": 1, "p": 1, "q": 1, "p_raw": 1, "q_raw": 1, "u": None, "overlap": 1, "p_top": [], "q_top": []}
    drafts = [
        {**one, "text": f"t{i}", "status": mark, "parent": parent, "after_top": []}
        for i, (mark, parent) in enumerate(zip(marks, parents))
    ]
    emitted = {"id": 1, "text": "own", "kind": kind, "p": 1, "p_raw": 1, "p_top": []}
    return {"drafted": drafts, "emitted": emitted, "before": "", "stop": None, "after_top": []}


def test_a_tree_shows_drafts_behind_what_they_follow(shown):
    """With its mark, as deep as it lies, and the target's own token behind the last draft that was kept."""
    rounds = [tree_of(marks.split(), parents, kind) for (marks, parents, kind), _ in TREES]
    page, kept = shown(TreeExplorer({"title": "", "greedy": True, "summary": "", "rounds": rounds})), 0
    for n, ((marks, *_), right) in enumerate(TREES, 1):
        page.locator(".sdl-reveal").click()
        lines = page.locator(".sdl-branches [data-happened]").evaluate_all(
            """all => all.map((e) => {
                let depth = -1;
                for (let up = e; up; up = up.parentElement) depth += up.tagName === "UL";
                return `${depth} ${e.dataset.happened} ${e.querySelector("code").innerText}`;
            })"""
        )
        assert ", ".join(lines) == right
        assert all(colour == MARKS[word].colour for word, colour in painted(page))
        of_these = marks.count("accepted")
        found, kept = totals(page), kept + of_these
        assert (found["rows computed"], found["new tokens"]) == (str(5 * n), str(kept + n))
        assert f"{of_these} of 4 drafts kept" in page.inner_text(".sdl-verdict")
        if n < len(TREES):
            page.locator(".sdl-next").click()


def race_of(made) -> RaceWidget:
    return RaceWidget(race_data(made.plain, made.speculative, lambda ids: f"t{ids[0]} ", "a race", "no machine"))


def test_the_race_says_what_its_traces_say(shown):
    """Speculation writes more tokens here than plain decoding, so that a ratio of whole times would be another one."""
    made = raced(0.25)
    made.plain.rounds, made.plain.clock = made.plain.rounds[:10], made.plain.clock[:10]
    page = shown(race_of(made))
    traces = made.plain, made.speculative
    plain, speculative = (0.25 * len(trace.rounds) / len(trace.tokens) for trace in traces)
    assert f"{plain / speculative:.2f}× as fast per token" in page.text_content(".sdl-won")
    assert not page.locator(".sdl-won").is_visible()  # before the race has run
    texts = ["".join(f"t{i} " for i in trace.tokens) for trace in traces]
    assert page.locator(".sdl-text").all_text_contents() == texts


def test_points_of_an_outcome_stand_at_their_numbers(shown, fresh_ledger):
    Ledger().guess("a", 3.0)
    outcome = Outcome("a", {"name": "measured", "value": 1.5, "interval": (1.0, 2.0)}, 0.75, Ledger())
    kept = json.dumps(fresh_ledger.read_text("utf-8"))
    page = shown(outcome, before=f"localStorage.setItem('specdec-lab ledger', {kept})")
    points = page.locator(".sdl-point").evaluate_all("all => all.map(e => [e.innerText, parseFloat(e.style.left)])")
    assert [sign for sign, _ in points] == ["◆", "○", "●"]
    left = [x for _, x in points]
    (low, width), apart = (
        page.locator(name).evaluate("e => [parseFloat(e.style.left), parseFloat(e.style.width)]")
        for name in (".sdl-spread", ".sdl-apart")
    )
    end = float(page.inner_text(".sdl-most"))  # of the line, a round number behind all others
    assert 3 < end < 4 and left == pytest.approx([100 * x / end for x in (3, 0.75, 1.5)], abs=0.1)
    assert [low, width] == pytest.approx([100 / end, 100 / end], abs=0.1)
    assert apart == pytest.approx([left[2], left[0] - left[2]], abs=0.2) and "2×" in page.inner_text(".sdl-apart")
    assert "measured 1.5 (between 1 and 2)" in " ".join(page.inner_text(".sdl-key").split())
