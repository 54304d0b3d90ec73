"""Speculative decoding in forty lines: the loop of `decode`, and nothing else. Read this first.

There are no caches here, so each call reads the whole text again. It is slow, and writes the same tokens as `decode`
does with the same random numbers: tests/test_forty_lines.py compares them.
"""

from collections.abc import Callable

from torch import Tensor

from specdec_lab.engine.sampling import ACCEPT, DRAFT, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.engine.verify import residual

Net = Callable[[list[int]], Tensor]  # a text of n tokens → logits [n, V]; row i is about the token after token i


def speculate(
    target: Net, draft: Net, text: list[int], gamma: int, new: int, sampler: Sampler, uniforms: Uniforms
) -> list[int]:
    """The text and `new` further tokens of it, distributed as if the target alone had drawn them.

    Leviathan et al. 2023 (arXiv 2211.17192), algorithm 1; Chen et al. 2023 (2302.01318), algorithm 2.
    """
    end = len(text) + new
    while len(text) < end:
        start, drafts, q = len(text), [], []
        for i in range(gamma):  # the draft model: one token after the other
            q.append(sampler(draft(text + drafts)[-1]))
            drafts.append(draw(q[i], uniforms(start + i, DRAFT)))
        p = sampler(target(text + drafts)[start - 1 :])  # the target: all places in one pass, and the one after them
        for kept, x in enumerate(drafts):  # the rule: keep x with chance min(1, p(x) / q(x)), up to the first miss
            if uniforms(start + kept, ACCEPT) * q[kept][x] >= p[kept][x]:
                rest = residual(p[kept], q[kept])
                break
        else:
            kept, rest = gamma, p[gamma]
        text = text + drafts[:kept] + [draw(rest, uniforms(start + kept, RESAMPLE))]
    return text[:end]
