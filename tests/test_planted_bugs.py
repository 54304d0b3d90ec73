"""The guards, tested by breaking what they guard: a bug is a piece of the package's source, and what stands instead.

Each check also runs on the package as it is, so that what fails, fails for its bug.
"""

import copy
import inspect
import textwrap
from functools import partial
from random import Random

import pytest
from branched_drafter import TWO_BY_TWO, TreeOf
from checks import check_caches_often, check_together
from every_way import worst_apart
from random_nets import make
from test_any_run import check
from test_exact import test_a_token_the_target_never_says_is_refused as at_zero
from test_exact import test_nothing_after_end_of_text as ends
from tiny import NO_STUTTER, Shaped, TinyModel

from specdec_lab.drafters import ModelDrafter
from specdec_lab.drafters.drawing import ChainBuilder, SampledTree
from specdec_lab.engine import decode, verify
from specdec_lab.engine.decode import Request, Stops
from specdec_lab.engine.lockstep import Pass
from specdec_lab.engine.processors import RepetitionPenalty, process
from specdec_lab.engine.rules import BLOCK, USUAL, survives, verify_block, verify_tree
from specdec_lab.engine.sampling import Sampler
from specdec_lab.models.base import Cached, Shared

TARGET, FOUR = TinyModel(3, seed=1), TinyModel(4, seed=8, spread=0.5)
DRAFTER = partial(ModelDrafter, TinyModel(3, seed=2))
BRANCHED = partial(TreeOf, TinyModel(3, seed=2), TWO_BY_TWO)
BINARY = {"target": TinyModel(2, seed=1), "drafter": partial(ModelDrafter, TinyModel(2, seed=2))}


def exact(target=TARGET, drafter=DRAFTER, **how) -> None:
    """The check of all exactness: every way that random numbers can take, added up."""
    assert worst_apart(target, drafter, **how) < 1e-6


def shaped(processors=(RepetitionPenalty(1.7),), **how) -> None:
    """The same where processors shape the logits before a token is drawn."""
    exact(Shaped(TARGET, processors), run_on=TARGET, processors=processors, **{"gamma": 3} | how)


def caches() -> None:
    draft = TinyModel(4, seed=9, spread=0.5)
    check_caches_often(FOUR, lambda: ModelDrafter(draft), draft, 6, gamma=3, tolerance=1e-12)


def batched() -> None:
    for seed in range(4):
        check(Random(seed), texts=12, most=3)


def batched_nets() -> None:
    target, _, drafter, _ = make("model", 7, list(range(7)))
    shared = drafter()
    for seed in range(2):
        check_together(Random(seed), target, lambda *_: (lambda: copy.copy(shared), USUAL), texts=5, most=4)


CHAIN = partial(exact, gamma=2)
TWO_ROUNDS = partial(exact, gamma=2, rounds=2)
FOUR_DRAFTS = partial(exact, **BINARY, gamma=4, length=5)
TREE = partial(exact, drafter=BRANCHED, length=3)
WHOLE_BLOCK = partial(exact, gamma=2, rule=BLOCK)
TWO_BLOCKS = partial(exact, **BINARY, gamma=2, rounds=2, rule=BLOCK)
CUT_OFF = partial(exact, gamma=2, draft_sampler=Sampler(0.7, top_k=2))
SHAPED_TREE = partial(shaped, (RepetitionPenalty(1.7), NO_STUTTER), drafter=BRANCHED, gamma=8, length=3)

BUGS = {  # the check that must notice it, where it is, what stands there, and what stands there instead
    "chain: p and q swapped": (CHAIN, verify.verify, "accepts(p_x, q_x,", "accepts(q_x, p_x,"),
    "chain: one number for both": (CHAIN, verify.verify, "u_resample[i]", "u_accept[i]"),
    "chain: no residual": (CHAIN, verify.verify, "residual(p[i], q[i])", "p[i]"),
    "chain: bonus from q": (CHAIN, verify.verify, "draw(p[last],", "draw(q[last - 1],"),
    "chain: rows shifted": (CHAIN, verify.verify, "p[: len(drafts)].gather", "p[1:].gather"),
    "chain: lenient": (CHAIN, verify.verify, "accepts(p_x,", "accepts(max(p_x, (p_x * q_x) ** 0.5),"),
    "chain: strict": (CHAIN, verify.verify, "accepts(p_x,", "accepts(0.9 * p_x,"),
    "chain: the fourth draft": (FOUR_DRAFTS, verify.verify, "residual(p[i], q[i])", "residual(p[min(i, 2)], q[i])"),
    "tree: one residual": (TREE, verify_tree, "residual(rest, q[i])", "residual(p[place + 1], q[i])"),
    "tree: the first one's q": (TREE, verify_tree, "residual(rest, q[i])", "residual(rest, q[offered[0]])"),
    "tree: p instead of what is left": (TREE, verify_tree, "p_x = float(rest[drafts[i]])", "pass"),
    "tree: corrected from p": (TREE, verify_tree, "draw(rest,", "draw(p[place + 1],"),
    "tree: another row": (TREE, verify_tree, "rest = p[place + 1]", "rest = p[max(place, 0)]"),
    "block: plain residual": (WHOLE_BLOCK, verify_block, "residual(wanted * p[kept],", "residual(p[kept],"),
    "block: per token": (WHOLE_BLOCK, verify_block, "wanted * float(p[i, x])", "float(p[i, x])"),
    "block: first miss": (WHOLE_BLOCK, verify_block, "(i + 1, wanted)", "(i + 1, wanted)\n        else:\n            break"),
    "block: no cap": (WHOLE_BLOCK, verify_block, "min(1.0, wanted", "max(0.0, wanted"),
    "block: the last like the others": (WHOLE_BLOCK, verify_block, "if i + 1 < len(drafts) else None", "if i + 1 < len(drafts) else q[i]"),
    "block: bare share": (WHOLE_BLOCK, survives, "lacking / missed", "wanted"),
    "block: one number for all": (WHOLE_BLOCK, verify_block, "u_accept[i]", "u_accept[0]"),
    "block: numbers come again": (TWO_BLOCKS, Request.__post_init__, "self.rule.fresh", "False"),
    "zero: a token the target never says": (at_zero, verify.accepts, "<", "<="),
    "drafter: q of siblings": (TREE, SampledTree.behind, "q = rest / total", "q = rest"),
    "drafter: drops after drawing": (TREE, SampledTree.proposal, "sorted(self.tokens)", "sorted(self.tokens)[: 6 * self.tokens[0]]"),
    "drafter: siblings share numbers": (TREE, Request.judge_and_commit, "ACCEPT, rank)", "ACCEPT)"),
    "drafter: draws before the cut": (CUT_OFF, ChainBuilder.draw, "return pick(self._q[-1], u)", "return pick(logits.softmax(-1), u)"),
    "drafter: takes back": (CHAIN, ChainBuilder.proposal, "if not self.tokens:", "if not self.tokens[-1]:"),
    "processors: without the drafts": (shaped, process, "[*texts[place], draft]", "text"),
    "processors: with the drafts behind": (shaped, process, "processor(row, before)", "processor(row, [*text, *proposal.tokens])"),
    "processors: a token late": (shaped, process, "processor(row, before)", "processor(row, before[:-1])"),
    "processors: the last row not": (shaped, process, "row = shaped", "row = row if i == len(logits) - 1 else shaped"),
    "processors: without the prompt": (shaped, process, "processor(row, before)", "processor(row, before[2:])"),
    "processors: a tree as a chain": (SHAPED_TREE, process, "proposal.shape.parents[i - 1] + 1", "i - 1"),
    "text: rows off by one": (TWO_ROUNDS, decode.score, "rows.logits[own]", "rows.logits.roll(1, 1)[own]"),
    "text: keeps what was rejected": (TWO_ROUNDS, Cached.rewind, "min(have, keep)", "min(have, keep + 1)"),
    "cache: keeps what was rejected": (caches, Cached.rewind, "min(have, keep)", "min(have, keep + 1)"),
    "cache: of the draft, one short": (caches, ModelDrafter.drafting, "new[-2:]", "new[-1:]"),
    "batch: another row leaves": (batched, Shared.drop, "self.cached.drop(row.at)", "self.cached.drop(0)"),
    "batch: rewinds all alike": (batched, decode.one_round, "[len(request.text) - 1 for", "[len(requests[0].text) - 1 for"),
    "batch: keeps what was rejected": (batched, Cached.rewind, "min(have, keep)", "min(have, keep + 1)"),
    "batch: reads the padding": (batched_nets, Pass.answer, "hidden[one.row.at, : len(one.new)]", "hidden[one.row.at]"),
    "batch: the neighbours' rows": (batched_nets, Pass.answer, "one in asked]", "one in asked[::-1]]"),
    "batch: padding is held": (batched_nets, Cached.extend, "have + len(row) for", "have + max(map(len, new)) for"),
    "end: tokens behind it": (ends, Stops.cut, "return kept, \"eos\"", "return len(new), \"eos\""),
}  # fmt: skip


def plant(patch, function, was: str, instead: str) -> None:
    """Change the code of a function, wherever in the package it is held."""
    function = inspect.unwrap(function)
    source, there = textwrap.dedent(inspect.getsource(function)), dict(function.__globals__)
    if was not in source:
        raise ValueError(f"{function.__qualname__} has no longer: {was}")
    exec(source.replace(was, instead), there)
    patch.setattr(function, "__code__", inspect.unwrap(there[function.__name__]).__code__)


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(monkeypatch, bug):
    check, *where = BUGS[bug]
    plant(monkeypatch, *where)
    with pytest.raises((AssertionError, IndexError)):
        check()


@pytest.mark.parametrize("check", dict.fromkeys(check for check, *_ in BUGS.values()))
def test_what_is_sound_passes(check):
    check()
