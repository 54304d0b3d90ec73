"""Many texts at once: when drafts pay, and what a simulation predicts."""

from collections.abc import Hashable, Mapping, Sequence
from statistics import mean

from specdec_lab.formats import joined, short
from specdec_lab.measure.prompts import TIED
from specdec_lab.measure.serving import StepCosts


def crossovers(costs: StepCosts, tokens: Mapping[int, float]) -> str:
    """Up to how many texts each γ pays, and from how many on it loses: between them it is within TIED of plain decoding.

    Args:
        tokens: that its rounds write, as `serving.written` gives them.
    """
    most, said = costs.sizes[-1], []
    for gamma in sorted((gamma for gamma in tokens if gamma), reverse=True):
        gain = {n: tokens[gamma] * costs(n, 0) / costs(n, gamma) for n in range(1, most + 1)}
        pays = max((n for n in gain if gain[n] > 1 + TIED), default=0)
        loses = next((n for n in gain if n > pays and gain[n] < 1 - TIED), None)
        up_to = f"pays with up to {pays}" if pays else "pays nowhere"
        since = f"loses from {loses} on" if loses else f"loses nowhere up to {most}, the most that were timed"
        said.append(f"γ = {gamma} {up_to} {'texts ' if pays else ''}and {since}")
    return f"{'; '.join(said)}. Between these the two cannot be told apart."


def policies(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """What each policy does at the lowest and at the highest load: (tokens a second, milliseconds a token), by load.

    Policies that lie within TIED of the best are named together.
    """
    quiet = {name: curve[0][1] for name, curve in curves.items()}
    full = {name: curve[-1][0] for name, curve in curves.items()}
    plain, soonest, most = next(iter(curves)), min(quiet, key=quiet.__getitem__), max(full, key=full.__getitem__)
    first = [name for name in quiet if quiet[name] <= quiet[soonest] * (1 + TIED)]
    last = [name for name in full if full[name] * (1 + TIED) >= full[most]]

    def named(names: Sequence[str], alone: str) -> str:
        quoted = [f"“{name}”" for name in names]
        return f"{quoted[0]} {alone}" if len(names) == 1 else f"{joined(quoted)} cannot be told apart"

    return (
        f"At the lowest load {named(first, 'is the fastest')}: {short(quiet[soonest])} ms a token, and {short(quiet[plain])} "
        f"with “{plain}”. At the highest {named(last, 'writes the most')}: {full[most]:.0f} tokens a second, and "
        f"{full[plain]:.0f} with “{plain}”."
    )


def predictions(hoped: Mapping[str, Mapping[Hashable, float]], found: Mapping[Hashable, float]) -> str:
    """Numbers that were predicted in some ways, beside what was found, over the same settings."""
    said = []
    for way, gain in hoped.items():
        offs = [gain[x] / found[x] - 1 for x in found]
        side = "too high" if min(offs) > 0 else "too low" if max(offs) < 0 else "in both directions"
        far = [abs(x) for x in offs]
        some = f"{mean(far):.0%} off on average and {max(far):.0%} at most, {side}"
        said.append(f"{way}: {some if max(far) >= 0.01 else 'less than 1% off everywhere'}.")
    return " ".join(said)


def served(real: Mapping[str, float], simulated: Mapping[str, float], again: float) -> str:
    """Milliseconds a token by policy, on a real server and simulated. again: of the first policy, a second time."""
    best_first = list(map(in_order, (real, simulated)))
    ratios = [real[name] / simulated[name] for name in real]
    first, *_ = real
    noise = max(real[first], again) / min(real[first], again) - 1
    order = (
        f"The order is the same: {best_first[0]}."
        if best_first[0] == best_first[1]
        else f"The real order is {best_first[0]}, the simulated one {best_first[1]}."
    )
    return (
        f"{order} The real server took {min(ratios):.2f} to {max(ratios):.2f} times as long as the simulated one. "
        f"Two real runs of “{first}” differ by {noise:.0%}: policies that lie nearer than this cannot be ordered so."
    )


def in_order(ms: Mapping[str, float]) -> str:
    """Names by their numbers, the least first; "and" stands between two that are nearly equal."""
    first, *others = sorted(ms, key=ms.__getitem__)
    said, before = first, first
    for name in others:
        said += f"{' and ' if ms[name] < (1 + TIED) * ms[before] else ' before '}{name}"
        before = name
    return said
