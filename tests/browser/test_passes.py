"""The Pass Explorer: what it says and draws is the floor of lesson 01."""

import pytest
import torch

import specdec_lab as sd
from specdec_lab.measure.roofline import Machine, work
from specdec_lab.models.random_llama import noise_llama

TARGET = noise_llama(8, 3, 16, 2, 1, 11, torch.device("cpu"), torch.float32)
LEAST = work(TARGET)
# One token is read in 10 ms and computed in 1 ms: from 11 tokens on, computing takes longer.
MACHINE = Machine(bandwidth=LEAST.weight_bytes / 0.010, arithmetic=2 * LEAST.weights / 0.001, launch=0.0)


def seconds_of(page) -> dict[str, float]:
    jobs = page.locator(".sdl-job").all()
    return {
        job.locator("span").first.inner_text(): float(job.locator("> *").last.inner_text().split()[0]) for job in jobs
    }


@pytest.mark.parametrize(
    "k, longer, said",
    [
        (1, 10, "1 token: 10 ms at best, 100 tokens a second. The arithmetic is idle for 90 % of the pass."),
        (5, 10, "5 tokens: at best 1.00 times as long as 1. The arithmetic is idle for 50 % of the pass."),
        (10, 10, "10 tokens: at best 1.00 times as long as 1. Both take equally long."),
        (
            20,
            20,
            "20 tokens: at best 2.00 times as long as 1. Now the memory waits: the pass is 2.00 times as long as the reading.",
        ),
    ],
)
def test_a_pass_takes_as_long_as_the_longer_of_its_jobs(shown, k, longer, said):
    page = shown(sd.pass_explorer(TARGET, MACHINE))
    page.get_by_label("k, tokens in the pass").fill(str(k))
    assert page.inner_text(".sdl-picture .sdl-words") == said
    assert seconds_of(page) == {"reading": 10, "computing": k} and max(seconds_of(page).values()) == longer
    assert page.locator(".sdl-meets > *").count() == k
    wide = page.locator(".sdl-job i").evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert wide[1] / wide[0] == pytest.approx(k / 10, rel=0.02)
    assert page.locator(".sdl-scale small > span").all_inner_texts() == ["0", f"{longer} ms"]  # a round number already


@pytest.mark.parametrize("k", [1, 23, 32])
def test_no_number_of_tokens_is_wider_than_a_phone(shown, k):
    page = shown(sd.pass_explorer(TARGET, MACHINE), width=360)
    page.get_by_label("k, tokens in the pass").fill(str(k))
    card, drawing = (page.locator(f".sdl-{part}").bounding_box() for part in ("explorer", "meets"))
    assert drawing["x"] + drawing["width"] <= card["x"] + card["width"] - 10  # its padding


def test_a_pass_that_is_run_reads_all_layers_and_ends(shown):
    page = shown(sd.pass_explorer(TARGET, MACHINE))
    read = "(document.querySelector('.sdl-read').getAttribute('d').match(/M/g) ?? []).length"
    assert page.evaluate(read) == TARGET.layers  # before it is run, what it will have read
    page.get_by_role("button", name="run a pass").click()
    page.wait_for_function(f"{read} === 0")
    page.wait_for_function(f"{read} === {TARGET.layers}")
    assert page.locator(".sdl-beam:not(.sdl-rest)").count() == 0  # nothing is on its way any more


def test_with_less_motion_no_button_is_offered_that_would_do_nothing(shown):
    page = shown(sd.pass_explorer(TARGET, MACHINE), reduced_motion="reduce")
    assert page.get_by_role("button", name="run a pass").count() == 0
    assert page.locator(".sdl-meets > *").count() == 1
