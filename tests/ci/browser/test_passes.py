"""The Pass Explorer: what it says and draws is the floor of lesson 01."""

import re

import pytest
from small_models import make

import specdec_lab as sd
from specdec_lab.measure.roofline import Machine, work

TARGET = make("llama")
LEAST = work(TARGET)
# One token is read in 10 ms and computed in 1 ms: from 11 tokens on, computing takes longer.
MACHINE = Machine(bandwidth=LEAST.weight_bytes / 0.010, arithmetic=2 * LEAST.weights / 0.001, launch=0.0)


def seconds_of(page) -> dict[str, float]:
    jobs = page.locator(".sdl-job").all()
    return {
        job.locator("span").first.inner_text(): float(job.locator("> *").last.inner_text().split()[0]) for job in jobs
    }


@pytest.mark.parametrize(
    ("k", "longer", "said"),
    [
        (1, 10, r"1 token: 10 ms .* 100 tokens a second.* idle for 90 %"),
        (5, 10, r"5 tokens: .* 1\.00 times .* idle for 50 %"),
        (10, 10, r"10 tokens: .* 1\.00 times .* equally long"),
        (20, 20, r"20 tokens: .* 2\.00 times .* memory waits"),
    ],
)
def test_the_longer_job_says_how_long(shown, k, longer, said):
    page = shown(sd.pass_explorer(TARGET, MACHINE))
    page.get_by_label("k, tokens in the pass").fill(str(k))
    assert re.match(said, page.inner_text(".sdl-picture .sdl-words"))
    assert seconds_of(page) == {"reading": 10, "computing": k} and max(seconds_of(page).values()) == longer
    assert page.locator(".sdl-meets > *").count() == k
    wide = page.locator(".sdl-job i").evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert wide[1] / wide[0] == pytest.approx(k / 10, rel=0.02)
    assert page.locator(".sdl-scale small > span").all_inner_texts() == ["0", f"{longer} ms"]  # a round number already


@pytest.mark.parametrize("k", [1, 23, 32])
def test_no_pass_is_wider_than_a_phone(shown, k):
    page = shown(sd.pass_explorer(TARGET, MACHINE), width=360)
    page.get_by_label("k, tokens in the pass").fill(str(k))
    card, drawing = (page.locator(f".sdl-{part}").bounding_box() for part in ("explorer", "meets"))
    assert drawing["x"] + drawing["width"] <= card["x"] + card["width"] - 10  # its padding


def test_a_pass_reads_all_layers_and_ends(shown):
    page = shown(sd.pass_explorer(TARGET, MACHINE))
    read = "(document.querySelector('.sdl-read').getAttribute('d').match(/M/g) ?? []).length"
    assert page.evaluate(read) == TARGET.layers  # before it is run, what it will have read
    page.get_by_role("button", name="run a pass").click()
    page.wait_for_function(f"{read} === 0")
    page.wait_for_function(f"{read} === {TARGET.layers}")
    assert page.locator(".sdl-beam:not(.sdl-rest)").count() == 0  # nothing is on its way any more


def test_with_less_motion_no_idle_button_is_offered(shown):
    page = shown(sd.pass_explorer(TARGET, MACHINE), reduced_motion="reduce")
    assert page.get_by_role("button", name="run a pass").count() == 0
    assert page.locator(".sdl-meets > *").count() == 1
