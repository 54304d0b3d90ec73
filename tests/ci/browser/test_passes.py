"""The Pass Explorer: what it says and draws is the floor of lesson 01."""

import re

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


SAID = {  # by the tokens in the pass
    1: r"1 token: 10 ms .* 100 tokens a second.* idle for 90 %",
    5: r"5 tokens: .* 1\.00 times .* idle for 50 %",
    10: r"10 tokens: .* 1\.00 times .* equally long",
    20: r"20 tokens: .* 2\.00 times .* memory waits",
}


def test_the_longer_job_says_how_long(shown):
    page = shown(sd.pass_explorer(TARGET, MACHINE))
    for k, said in SAID.items():
        page.get_by_label("k, tokens in the pass").fill(str(k))
        assert re.match(said, page.inner_text(".sdl-picture .sdl-words"))
        assert seconds_of(page) == {"reading": 10, "computing": k}
        assert page.locator(".sdl-meets > *").count() == k
