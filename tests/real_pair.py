"""The real target and its drafters: greedy texts against plain decoding, and χ² against the target's own probabilities."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch
from checks import by_chance
from transformers import LlamaForCausalLM

from specdec_lab import Lab
from specdec_lab.drafters import Drafter, ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.models.base import Model
from specdec_lab.models.reference import ReferenceModel

PROMPTS = Path(__file__).with_name("prompts.txt").read_text(encoding="utf-8").splitlines()
BEGINNING = {"prompt": "My favourite animal is the", "raw": True}
NEAR_TIE = 1e-3  # in logits: on a GPU a pass over γ + 1 rows rounds differently from a pass over one


def relative_of(target: Model) -> ReferenceModel:
    """A draft model: the target's first two and last two layers. Untrained, so it is seldom right."""
    config = type(target.hf.config).from_dict(target.hf.config.to_dict() | {"num_hidden_layers": 4})
    hf = LlamaForCausalLM(config).eval()
    whole, kept = target.hf.model, (0, 1, 28, 29)
    hf.model.embed_tokens, hf.model.norm, hf.lm_head = whole.embed_tokens, whole.norm, target.hf.lm_head
    for mine, theirs in zip(hf.model.layers, kept):
        mine.load_state_dict(whole.layers[theirs].state_dict())
    return ReferenceModel(hf.to(target.device), "four layers of the target")


class Pair:
    """What is asked of the target with each of its drafters, in small or, with `full`, as the whole evidence."""

    def __init__(self, lab: Lab, full: bool):
        self.lab, self.full, self.relative = lab, full, relative_of(lab.target)
        # Few runs have few tokens to draw: then wrong rules stand out.
        self.sampler = Sampler(0.6, top_k=None if full else 12)
        self.behind = cache(self.behind)

    def drafter(self, name: str) -> Drafter:
        return ModelDrafter(self.relative) if name == "relative" else self.lab.drafter(name, alpha=0.7)

    def behind(self, *tokens: int) -> torch.Tensor:
        """What the target gives each token behind BEGINNING and these, [V], without a cache."""
        text = [*self.lab.encode(**BEGINNING), *tokens]
        return self.sampler(self.lab.target.cached().extend([text]).logits[0, -1])

    def check_greedy(self, lab: Lab, names: Sequence[str], first: int) -> None:
        """Each drafter's text is plain decoding's, token for token; on a GPU near-ties are counted.

        Args:
            lab: with the target, in any number format.
            first: the prompt of the small version.
        """
        on_cpu, ties = lab.target.device.type == "cpu", 0
        prompts, stops = PROMPTS if self.full else [PROMPTS[first]], Stops(64 if self.full else 16, lab.eos)
        for prompt in prompts:
            ids = lab.encode(prompt, raw=not self.full)
            expected = Trace(ids).collect(plain(lab.target, ids, stops=stops)).tokens
            for name in names:
                drafter = self.drafter(name) if name == "relative" else lab.drafter(name, alpha=0.7)
                trace = Trace(ids).collect(speculative(lab.target, drafter, ids, stops=stops))
                trace.check()
                if trace.tokens != expected:  # where they part, the target's two best logits must be nearly tied
                    at = next(i for i, (a, b) in enumerate(zip(trace.tokens, expected)) if a != b)
                    best = lab.target.cached().extend([ids + expected[:at]]).logits[0, -1].topk(2).values
                    assert not on_cpu and best[0] - best[1] < NEAR_TIE, f"{name} differs at {at} of “{prompt}”: {best}"
                    ties += 1
        print(f"\n{len(prompts)} prompts × {len(names)} drafters: {ties} near-ties decided by rounding")

    def p_value(self, name: str, rule) -> float:
        """χ² on the first two tokens of texts in batches, against the probabilities that the target itself gives them.

        With the draft model it takes two hundred runs to see a rule that draws from p after a rejection. (The better a
        drafter, the seldomer its misses show a wrong residual.) Texts that are expected fewer than five times share a cell.
        """
        runs = 2500 if self.full else 200 if name == "model" else 80
        batch, prompt = Batch(self.lab.target, 40), self.lab.encode(**BEGINNING)
        gamma = 4 if name == "eagle-tree" else 2  # with two drafts its tree is a chain
        settings = {"verify": rule, "sampler": self.sampler, "stops": Stops(2)}
        texts = [
            batch.submit(Request(self.lab.target, prompt, self.drafter(name), uniforms=Uniforms(11, i), **settings))
            for i in range(runs)
        ]
        while len(batch):
            batch.step(gamma)
        counts = Counter(tuple(text.tokens) for text in texts)

        expected, first = {}, self.behind()
        for a in first.argsort(descending=True).tolist():
            if float(first[a]) * runs < 5:
                break  # no pair that begins here can fill a cell
            both = float(first[a]) * self.behind(a) * runs
            expected |= {(a, b): float(both[b]) for b in (both >= 5).nonzero()[:, 0].tolist()}

        def with_the_rest(cells) -> torch.Tensor:
            return torch.tensor([*cells, runs - sum(cells)], dtype=torch.float64)

        p_value = by_chance(with_the_rest([counts[pair] for pair in expected]), with_the_rest(expected.values()))
        print(f"\n{name}, {rule.__name__}: {runs} runs, {len(expected) + 1} cells, p = {p_value:.3f}")
        return p_value
