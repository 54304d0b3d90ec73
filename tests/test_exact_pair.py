"""Exactness on the real target, in small; `pytest --full` gives the whole evidence, and tests/ci has more of it."""

import pytest
from real_pair import NEAR_TIE

from specdec_lab.choices import DRAFTERS
from specdec_lab.engine.decode import Stops, plain
from specdec_lab.engine.sampling import draw
from specdec_lab.engine.trace import Trace
from specdec_lab.engine.verify import Verdict, verify
from specdec_lab.measure.prompts import first_of_each_kind, read_prompts
from specdec_lab.models.fast import FastModel
from specdec_lab.models.reference import ReferenceModel


def test_the_fast_backend_writes_the_text_of_the_reference(lab, full):
    """Greedy, on the built-in prompts; near-ties are counted. And its logits are the reference's, up to float32."""
    assert isinstance(lab.target, FastModel)
    reference = ReferenceModel(lab.target.hf, "reference")
    prompts = read_prompts() if full else first_of_each_kind(read_prompts(), 1)[1::2]  # short, middling and long
    stops, ties, apart = Stops(64 if full else 8, lab.eos), 0, []
    for prompt in prompts:
        ids = lab.encode(prompt.content, prompt.raw)
        tokens = Trace(ids).collect(plain(lab.target, ids, stops=stops)).tokens
        ours, theirs = (model.cached().extend([ids + tokens]).logits[0] for model in (lab.target, reference))
        apart.append(float((ours - theirs).abs().max()))
        said = theirs[len(ids) - 1 : -1]  # behind the text as it stands, the reference says each next token itself
        behind = said.amax(-1) - said[range(len(tokens)), tokens]
        assert behind.max() < NEAR_TIE, f"{prompt.id}: margins {behind.tolist()}"
        ties += int((behind > 0).sum())
    assert max(apart) < 3e-4  # of logits up to 35
    print(f"\n{len(prompts)} texts: {ties} near-ties; largest difference of a logit {max(apart):.1e}")


def test_greedy_output_is_plain_output(pair):
    pair.check_greedy(pair.lab, [*DRAFTERS, "relative"], 0)


def no_residual(p, q, drafts, u_accept, u_resample) -> Verdict:
    """A planted bug: after a rejection it draws from p."""
    verdict = verify(p, q, drafts, u_accept, u_resample)
    if verdict.kind != "corrected":
        return verdict
    return Verdict(verdict.path, draw(p[verdict.accepted], u_resample[verdict.accepted]), "corrected")


@pytest.mark.parametrize(
    ("name", "rule"), [("dial", verify), ("model", verify), ("eagle-tree", verify), ("model", no_residual)]
)
def test_sampled_pairs_follow_the_target(pair, name, rule):
    """False alarm: 1e-4 a drafter. The planted bug must fail the same test, with as many runs."""
    assert (pair.p_value(name, rule) > 1e-4) == (rule is verify)
