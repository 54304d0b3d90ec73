"""The Load Lab: the same arrivals served without drafts, always with drafts, and by a policy that looks at the load."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from specdec_lab.measure.serving import Policy, ServingLog, StepCosts, always, bursts, load_aware, never, simulate
from specdec_lab.show.lines import Line, chart
from specdec_lab.show.panel import Panel, choice, slider, tick
from specdec_lab.show.table import table

TOKENS = 32, 96  # new tokens that a request wants: fewest, most
REQUESTS = 120  # at every load, so that every picture is drawn as fast
POINTS = 80  # of a line over time
HEADS = ("", "mean", "half within", "95 % within", "tokens/s", "steps with drafts", "switches")


def capacity(costs: StepCosts) -> float:
    """Requests a second that plain decoding can serve at most, with its largest measured batch."""
    most = max(costs.sizes)
    return 1 / (fmean(TOKENS) * costs(most, 0) / most + costs.join)


def traffic(costs: StepCosts, load: float, in_bursts: bool, seed: int = 0) -> list:
    """REQUESTS arrivals or so, at `load` times what plain decoding can serve; in bursts, a fifth of the time holds most of them."""
    rate = load * capacity(costs)
    seconds = REQUESTS / rate
    pieces = [(seconds / 10, 0.4 * rate), (seconds / 40, 3.4 * rate)] * 8 if in_bursts else [(seconds, rate)]
    return bursts(pieces, TOKENS, seed)


def row(name: str, log: ServingLog) -> tuple[str, ...]:
    """A policy under HEADS: milliseconds a token, tokens a second, and how often drafts were on."""
    times = [f"{1e3 * seconds:.1f}" for seconds in (log.mean, log.percentile(0.5), log.percentile(0.95))]
    drafting = sum(s.gamma > 0 for s in log.steps) / len(log.steps)
    return (name, *times, f"{log.throughput:.0f}", f"{drafting:.0%}", str(log.switches))


def picture(
    costs: StepCosts, accepted: Sequence[int], load: float, gamma: int, policies: Mapping[str, Policy], in_bursts: bool
) -> str:
    """A table of all policies on the same arrivals, and what the last of them did over time."""
    arrivals = traffic(costs, load / 100, in_bursts)
    if not arrivals:
        return "<div>No request came: raise the load.</div>"
    logs = {name: simulate(arrivals, p, costs, accepted, most=max(costs.sizes)) for name, p in policies.items()}
    tokens = 1 + fmean(min(n, gamma) for n in accepted)
    limit = costs.crossover(gamma, tokens)
    pays = f"with {limit} texts or more, drafting no longer pays"
    if limit is None:
        pays = "but here drafting pays at every size of the batch"
    name, last = list(logs.items())[-1]
    steps = last.steps[:: max(1, len(last.steps) // POINTS)]
    texts = Line("texts", [(s.at, s.running) for s in steps], dots=False)
    gammas = Line("γ", [(s.at, s.gamma) for s in steps], dots=False)
    return (
        f'<div style="font-size:15px;max-width:820px"><div>{len(arrivals)} requests. With γ = {gamma} a round writes '
        f"{tokens:.2f} tokens, however many texts there are. What a step costs grows with them: {pays}.</div>"
        f"{table(HEADS, [row(name, log) for name, log in logs.items()], row_heads=True, align='right')}"
        "<div style='font-size:12px'>Milliseconds a token, from a request's arrival to its end.</div>"
        f"{chart(f'What “{name}” did', [texts, gammas], 'seconds', 'texts in the batch; γ')}</div>"
    )


def load_lab(
    machines: Mapping[str, tuple[StepCosts, Sequence[int]]], mine: Mapping[str, Policy] | None = None
) -> Panel:
    """The widget.

    Args:
        machines: by name, what steps cost there, and the accepted drafts of many rounds.
        mine: further policies, `(texts, last γ) → γ`; the last one is drawn over time.
    """
    first = next(iter(machines.values()))[0]
    most = max(first.sizes)
    gammas = sorted({g for costs, _ in machines.values() for _, g in costs.measured if g})
    controls = {
        "machine": choice("machine", dict(machines)),
        "load": slider("load, % of plain", 40, 5, 120, 5),
        "in_bursts": tick("arrivals in bursts"),
        "gamma": choice("γ, drafts a round", {str(g): g for g in gammas}, gammas[-1]),
        "off": slider("load-aware: off above", max(1, most // 4), 0, most, 1),
        "on": slider("and on again below", max(1, most // 4 + 1), 0, most + 1, 1),
    }

    def draw(machine: tuple, load: int, in_bursts: bool, gamma: int, off: int, on: int) -> str:
        policies = {"never": never, "always": always(gamma), "load-aware": load_aware(gamma, off, min(on, off + 1))}
        return picture(*machine, load, gamma, policies | dict(mine or {}), in_bursts)

    return Panel(draw, controls, "Load Lab")
