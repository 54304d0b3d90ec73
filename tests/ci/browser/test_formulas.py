"""The formulas that a page computes by itself are those of theory.py, over the whole range of the controls."""

import itertools
import json

import pytest
from stand_ins import load_aware

from specdec_lab import theory
from specdec_lab.measure.serving import ByConfidence, Outcome, StepCosts, always, never, simulate
from specdec_lab.show import loadlab
from specdec_lab.show.live import script


def normalised(weights: tuple[int, ...]) -> list[float]:
    """Weights to probabilities; all zero means all alike."""
    return [w / sum(weights) for w in weights] if any(weights) else [1 / len(weights)] * len(weights)


V = [[1.0] * 11, [1 + 0.05 * k for k in range(11)], [1.0, 1.0, 1.3, 1.3, 1.9, 2.5, 3.0, 3.0, 4.0, 5.0, 6.0]]


@pytest.fixture(scope="module")
def computed(browser):
    """Evaluates an expression with a script in front of it: (expression, argument) → value."""
    page = browser.new_page()
    yield lambda expression, x, name="theory.js": page.evaluate(f"(x) => {{ {script(name)}; return {expression}; }}", x)
    page.close()


def test_the_rules_of_the_sandbox(computed):
    rows = [normalised(w) for w in itertools.product((0, 1, 50, 100), repeat=3)]
    pairs = [[p, q] for p, q in itertools.product(rows, rows)]
    names = computed("Object.keys(RULES)", None)
    assert names == list(theory.RULES)
    for name in names:
        found = computed(
            "x[1].map(([p, q]) => [...RULES[x[0]](p, q), emitted(p, q, ...RULES[x[0]](p, q))])", [name, pairs]
        )
        for (p, q), triple in zip(pairs, found):
            accepts, replacement = theory.RULES[name](p, q)
            right = accepts, replacement, theory.emitted(q, accepts, replacement)
            assert triple == [pytest.approx(list(row), abs=1e-12) for row in right]
    alphas = computed("x.map(([p, q]) => acceptance(p, q))", pairs)
    assert alphas == pytest.approx([theory.acceptance(p, q) for p, q in pairs], abs=1e-12)


def test_the_speed_up_of_the_explorer(computed):
    cases = list(itertools.product((0, 0.05, 0.3, 0.75, 0.99), (1, 2, 5, 10), (0, 0.01, 0.3, 1), (0, 0.03, 0.5), V))
    found = computed(
        "x.map(([a, g, c, o, v]) => [expectedTokens(a, g), speedup(a, g, c, v[g], o), bestGamma(a, c, v, o), breakEven(g, c, v[g], o)])",
        [list(case) for case in cases],
    )
    for (alpha, gamma, c, o, v), (tokens, gain, best, even) in zip(cases, found):
        assert tokens == pytest.approx(theory.expected_tokens(alpha, gamma), abs=1e-12)
        assert gain == pytest.approx(theory.speedup(alpha, gamma, c, v[gamma], o), abs=1e-12)
        assert best == theory.best_gamma(alpha, c, v, o)
        right = theory.break_even(gamma, c, v[gamma], o)
        assert even == (None if right is None else pytest.approx(right, abs=1e-9))


LOADS = range(5, 121, 5)
COSTS = StepCosts(
    {(n, g): 0.02 * max(1.0, n * (g + 1) / 16) + 0.001 * g for n in (1, 2, 5, 12, 32) for g in (0, 1, 4)},
    join=0.013,
    catch_up=0.003,
    free={(n, g): 0.02 * max(1.0, n * (g + 1) / 16) for n in (1, 2, 5, 12, 32) for g in (0, 1, 4)},
)
OUTCOMES = [
    Outcome(0, (0.31, 0.2, 0.12, 0.02)), Outcome(1, (0.8, 0.42, 0.3, 0.25)), Outcome(2, (0.97, 0.9, 0.35, 0.3)),
    Outcome(4, (0.99, 0.98, 0.95, 0.93)), Outcome(4, (0.71, 0.7, 0.66, 0.41)), Outcome(0, (0.6, 0.1, 0.05, 0.01)), Outcome(3, (0.5, 0.45, 0.4, 0.2)),
]  # fmt: skip
SERVED = """x.map(([load, inBursts, kind, ...limits]) => {
    const machine = data.machines.here, rate = (load / 100) * machine.capacity;
    const came = data.arrivals[inBursts ? "bursts" : "steady"].map(([at, wanted]) => [at / rate, wanted]);
    const policy = { never: () => never, always, loadAware, byConfidence: () => byConfidence(machine), mine: () => tabled(data.mine.mine) }[kind](...limits);
    const server = { costs: stepCosts(machine.measured), join: machine.join, catchUp: machine.catch_up, most: 32, drawn: drawnFrom(machine) };
    const log = simulate(came, policy, server);
    return [summary(log), log.steps.map((s) => [s.at, s.running, s.gamma])];
})"""


def test_the_simulation_of_the_load_lab(computed):
    """Every load, with and without bursts, each kind of policy; every limit of both sliders comes at least once."""

    def mine(texts: int, last: int) -> int:
        return 4 if texts < 6 + last else 1

    data = loadlab.LoadLab({"here": (COSTS, OUTCOMES)}, {"mine": mine}).data
    cases = []
    for i, (load, in_bursts) in enumerate(itertools.product(LOADS, (False, True))):
        gamma, off, on = (1, 4)[i // 2 % 2], i % 33, 7 * i % 34
        kinds = ("never",), ("always", gamma), ("loadAware", gamma, off, min(on, off + 1)), ("byConfidence",), ("mine",)
        cases += [(load, in_bursts, *kind) for kind in kinds]
    policies = {"never": lambda: never, "always": always, "loadAware": load_aware, "mine": lambda: mine}
    policies["byConfidence"] = lambda: ByConfidence(COSTS, OUTCOMES[::2])
    found = computed(SERVED.replace("data.", f"({json.dumps(data)})."), [list(case) for case in cases], "serving.js")
    for (load, in_bursts, kind, *limit), (said, steps) in zip(cases, found):
        came = loadlab.traffic(COSTS, load / 100, in_bursts)
        log = simulate(came, policies[kind](*limit), COSTS, OUTCOMES[1::2], most=32)
        assert steps == [[s.at, s.running, s.gamma] for s in log.steps]
        times = {"mean": log.mean, "half": log.percentile(0.5), "most": log.percentile(0.95)}
        drafting = sum(s.gamma > 0 for s in log.steps) / len(log.steps)
        whole = {"throughput": log.throughput, "drafting": drafting, "switches": log.switches}
        assert said == pytest.approx({**times, **whole}, rel=1e-12)
