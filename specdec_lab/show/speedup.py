"""The Speed-up Explorer: S over α and γ, for costs that can be changed, with a learner's own machine among them."""

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from specdec_lab import theory
from specdec_lab.show.charts import Line, Plot
from specdec_lab.show.live import Live
from specdec_lab.show.table import Cell, table

ALPHAS = [round(0.95 - 0.1 * i, 2) for i in range(10)]
GAMMAS = range(1, 11)
FLAT = [1.0] * (max(GAMMAS) + 1)


def passes(times: Mapping[int, float]) -> list[float]:
    """v(γ) for γ = 0 … 10 from measured T(k): T(γ + 1) / T(1), on straight lines between the measured k.

    It never falls: where noise makes a wider pass look cheaper, the narrower one's value stands.
    """
    known = sorted(times)
    seconds = np.interp(range(1, max(GAMMAS) + 2), known, [times[k] for k in known])
    return np.maximum.accumulate(seconds / times[known[0]]).tolist()


def v_of(given: Sequence[float] | Mapping[int, Sequence[float]]) -> list[float]:
    """v(γ) of a machine, from the times of its passes or from itself."""
    return passes({k: median(times) for k, times in given.items()}) if isinstance(given, Mapping) else list(given)


def picture(alpha: float, gamma: int, c: float, o: float, v: Sequence[float]) -> str:
    """A table of S over α and γ, the slice at the chosen α, and one sentence of numbers."""
    gain = theory.speedup(alpha, gamma, c, v[gamma], o)
    best = theory.best_gamma(alpha, c, v, o)
    even = theory.break_even(gamma, c, v[gamma], o)
    words = (
        f"α = {alpha:.2f}, γ = {gamma}: E = {theory.expected_tokens(alpha, gamma):.2f} tokens a pass; a round costs "
        f"{gamma}·{c:.2f} + {v[gamma]:.2f} + {o:.2f} = {gamma * c + v[gamma] + o:.2f} plain steps; "
        f"<b>S = {gain:.2f}</b>. "
        + (f"The best γ here is {best}. " if best else "No γ is worth it here: the best choice is not to draft. ")
        + ("Even α = 1 would lose." if even is None else f"With γ = {gamma}, S passes 1 at α = {even:.2f}.")
    )
    lines = [
        Line("S", [(g, theory.speedup(alpha, g, c, v[g], o)) for g in GAMMAS]),
        Line("E, tokens a pass", [(g, theory.expected_tokens(alpha, g)) for g in GAMMAS]),
        Line("plain decoding", [(g, 1.0) for g in GAMMAS], dots=False),
    ]
    drawn = Plot(f"Speed-up by γ at α = {alpha:.2f}", lines, "γ, drafts a round", "times plain decoding")
    return (
        f'<div style="font-size:15px;max-width:820px"><div>{words}</div>{gains_table(alpha, gamma, c, o, v)}'
        f"{drawn.svg()}</div>"
    )


def gains_table(alpha: float, gamma: int, c: float, o: float, v: Sequence[float]) -> str:
    """S as numbers on shades: losses striped and in brackets, the best γ of each row bold."""
    nearest = min(ALPHAS, key=lambda a: abs(a - alpha))
    rows = []
    for a in ALPHAS:
        best = theory.best_gamma(a, c, v, o)
        gains = {g: theory.speedup(a, g, c, v[g], o) for g in GAMMAS}
        rows.append([f"α={a:.2f}", *(gain_cell(s, g == best, (a, g) == (nearest, gamma)) for g, s in gains.items())])
    return (
        f"{table(('', *(f'γ={g}' for g in GAMMAS)), rows, row_heads=True, align='center')}"
        "<div style='font-size:12px'>S for each α and γ. (Brackets and stripes): slower than plain decoding. "
        "Bold: the best γ of the row. Framed: the cell nearest to your sliders.</div>"
    )


def gain_cell(s: float, best: bool, framed: bool) -> Cell:
    if s >= 1:
        shown, paint = f"{s:.2f}", f"rgba(0,158,115,{min(0.75, 0.28 * (s - 1)):.2f})"
    else:
        stripe = f"rgba(213,94,0,{min(0.75, 0.9 * (1 - s)):.2f})"
        shown, paint = f"({s:.2f})", f"repeating-linear-gradient(45deg,{stripe} 0 4px,transparent 4px 8px)"
    frame = ";outline:2px solid currentColor" if framed else ""
    return Cell(f"<b>{shown}</b>" if best else shown, f"padding:2px 5px;background:{paint}{frame}")


class SpeedupExplorer(Live):
    """S over α and γ, with sliders for the costs.

    Args:
        machines: by name, the times of passes as `sd.pass_times` returns them, or v(γ) for γ = 0 … 10. A machine whose
            passes all cost the same comes after them.
        c, o: what one draft and the loop cost at first, in plain steps.
    """

    scripts = ("common.js", "controls.js", "theory.js", "speedup.js")

    def __init__(
        self,
        machines: Mapping[str, Sequence[float] | Mapping[int, Sequence[float]]] | None = None,
        c: float = 0.1,
        o: float = 0.0,
    ):
        all_machines = {name: v_of(given) for name, given in (machines or {}).items()}
        all_machines["a pass costs the same, however wide"] = FLAT
        start = {"alpha": 0.75, "gamma": 4, "c": c, "o": o, "machine": next(iter(all_machines))}
        super().__init__({"machines": all_machines, "start": start})

    def picture(self) -> str:
        start = self.data["start"]
        v = self.data["machines"][start["machine"]]
        return f"<b>Speed-up Explorer</b>{picture(start['alpha'], start['gamma'], start['c'], start['o'], v)}"


speedup_explorer = SpeedupExplorer  # as notebooks call it
