"""Checking by confidence against never, always and by load: tokens a second of a full batch, by the clock.

    python tools/confidence.py [DRAFTER] [TEMPERATURE]

For batches of 1, 4, 16 and 32 texts of the built-in prompts. The arms take turns; each ratio is of two runs that were
neighbours. Beside it stands what the prices of steps and the drawn rounds predict.
"""

import random
import sys
import time
from statistics import median

import specdec_lab as sd
from specdec_lab.measure.costs import step_costs
from specdec_lab.measure.prompts import read_prompts
from specdec_lab.measure.serving import (
    ByConfidence,
    always,
    by_rows_of,
    never,
    one_step,
    outcomes,
    scheduled,
    written,
)

GAMMAS, SIZES, TIMED, NEW = (0, 1, 2, 4), (1, 2, 4, 8, 16, 32), (1, 4, 16, 32), 48
TURNS = 7


def main(name: str = "eagle", temperature: str = "0") -> None:
    lab = sd.load()
    prompts = read_prompts()
    ids = [lab.encode(p.content, p.raw) for p in prompts]
    settings = {"temperature": float(temperature), "max_new_tokens": 40}
    seen = [lab.speculative(text, name, gamma=4, request=i, **settings) for i, text in enumerate(ids[1::2])]
    rounds = outcomes(seen)
    costs = step_costs(lab.target, ids[0], lab.drafter(name), SIZES, GAMMAS, samples=7)
    tokens = written(rounds, GAMMAS)
    by_load = costs.schedule(tokens)
    policies = {
        "never": never,
        "always 4": always(4),
        "by load": scheduled(by_load),
        "by confidence": ByConfidence(costs, rounds),
    }
    chosen = policies["by confidence"].best
    print(f"{name}, temperature {temperature}, {lab.hardware}; {len(rounds)} rounds, E = {tokens[4]:.2f} with γ = 4")
    print(f"by load: {by_load}; by confidence γ = {chosen}")

    def pace(texts: int, policy) -> float:
        """Tokens a second, as long as all texts run."""
        batch = sd.Batch(lab.target, most=texts)
        for i in range(texts):
            sampler, stops = sd.Sampler(float(temperature)), sd.Stops(NEW)
            text, drafter = ids[2 * i % len(ids)], lab.drafter(name)
            batch.submit(sd.Request(lab.target, text, drafter, sampler, stops, sd.Uniforms(0, i)))
        batch.step(0)  # reads the prompts
        count, begin = 0, time.perf_counter()
        while len(batch) == texts:
            gamma = policy(texts, 0)
            count += sum(len(r.tokens) for r in batch.step(gamma, by_rows_of(policy, texts, gamma)))
        return count / (time.perf_counter() - begin)

    def foretold(texts: int, policy) -> float:
        dice = random.Random(0)
        steps = [one_step(dice.choices(rounds, k=texts), policy(texts, 0), costs, policy) for _ in range(200)]
        return sum(sum(new) for new, _ in steps) / sum(seconds for _, seconds in steps)

    for texts in TIMED:
        paces: dict[str, list[float]] = {}
        for _ in range(TURNS):
            for arm, policy in policies.items():
                paces.setdefault(arm, []).append(pace(texts, policy))
        plain = foretold(texts, never)
        for arm, found in paces.items():
            ratios = sorted(a / b for a, b in zip(found, paces["never"]))
            print(
                f"{texts:3} texts  {arm:14} {median(found):6.0f} tokens/s  {median(ratios):.2f} times never "
                f"({ratios[1]:.2f}–{ratios[-2]:.2f})  foretold {foretold(texts, policies[arm]) / plain:.2f}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
