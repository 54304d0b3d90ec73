"""What a pass costs: by its width, by the bits of a weight, on a card, behind long texts."""

from collections.abc import Mapping
from statistics import median

from specdec_lab.formats import joined
from specdec_lab.measure.costs import doubts, times_as_long, width_at
from specdec_lab.measure.prompts import TIED
from specdec_lab.models.base import Model
from specdec_lab.models.cpu.linear import price_of_bits
from specdec_lab.show.in_words.common import AS_LONG, Times, above_or_below, listed


def passes(times: Times) -> str:
    """T(k), with k = 1 and k = 5 among them, as `sd.pass_times` returns it."""
    five, twice, widest = times_as_long(times, 5), width_at(times, 2), max(times)
    if five > 1 + AS_LONG:
        first = (
            f"Here five tokens take about {five:.1f} times as long as one: four places are checked for some "
            f"{10 * round(10 * (five - 1))} % more."
        )
    elif five < 1 - AS_LONG:
        first = (
            f"Here five tokens take only {five:.2f} times as long as one: products of matrices run better with several "
            f"rows on this machine, and plain decoding is not at its best."
        )
    else:
        first = f"Here five tokens take {five:.2f} times as long as one: four places are checked for nothing."
    if twice:
        second = f"A pass takes twice as long with about {twice:.0f} tokens."
    else:
        second = f"Even {widest} tokens take less than twice as long as one."
    doubt = doubts(times)
    return f"{first} {second}" + (f" {doubt}" if doubt else "")


def equal_bits(target: Model) -> str:
    """What it costs on this machine that a narrow pass gives the same bits as a wide one."""
    if target.device.type != "cpu":
        return (
            "On this device a narrow pass and a wide one may round a little differently: lesson 03 says what follows."
        )
    price = price_of_bits()
    if price <= 1 + TIED:
        return "That a pass gives the same bits whatever its width costs no time on this processor."
    return (
        "So that a pass gives the same bits whatever its width, one row is filled up to several where this processor would "
        f"round it otherwise. A product of such a shape then takes {price:.2f} times as long, so T(1) is a little too long."
    )


def formats(curves: Mapping[str, Times]) -> str:
    """T(k) by number format, the most bits first."""
    ones = [1e3 * median(times[1]) for times in curves.values()]
    fives = [times_as_long(times, 5) for times in curves.values()]
    measured = (
        f"A pass over one token takes {listed(ones)} ms with {joined(list(curves))}. "
        f"Five tokens take {listed(fives)} times as long as one."
    )
    if ones[-1] >= ones[0] * (1 - AS_LONG):
        return (
            f"{measured} So fewer bits are not faster here: this processor, or its program, has no fast way for them."
        )
    if fives[-1] <= fives[0] + AS_LONG:
        return f"{measured} So fewer bits are faster here, and a wide pass costs no more of a narrow one than before."
    said = [
        f"{measured} So with the fewest bits the narrow pass is the fastest, and each further token costs more of it."
    ]
    *_, (fewest, last) = curves.items()
    steps = {(k, k + 1): times_as_long(last, k + 1, k) for k in range(1, 5) if k in last and k + 1 in last}
    if steps and max(steps, key=steps.__getitem__) == (4, 5):
        said.append(f"With {fewest} the largest step is that from four tokens to five: {steps[4, 5]:.2f} times.")
    return " ".join(said)


def fewer_bits(best: Mapping[str, dict]) -> str:
    """Tokens a second, plain and with the best drafter, by the bits of a weight: the most bits first.

    Args:
        best: by bits, {"plain" and "best": tokens a second, "times plain": (ratio, its interval)}.
    """
    (high, first), *_, (low, last) = best.items()
    (drafts, around), (left, around_left) = first["times plain"], last["times plain"]
    bits, shown = round(last["plain"] / first["plain"], 2), round(drafts, 2)  # what is multiplied is what is shown
    said = [
        f"{low} in place of {high} make plain decoding {bits:.2f} times as fast. The best drafts make it {shown:.2f} times "
        f"as fast with {high}, and {left:.2f} times with {low}. Both together bring {last['best'] / first['plain']:.2f} "
        f"times, where {bits:.2f} · {shown:.2f} would be {bits * shown:.2f}."
    ]
    less = above_or_below(around, around_left)
    if less:
        said.append(f"So drafts bring {'less' if less > 0 else 'more'} with {low}.")
    if not around[0] <= bits <= around[1]:
        said.append(f"Alone, {'fewer bits' if bits > drafts else 'drafts'} bring more here.")
    return " ".join(said)


def of_a_card(T: Mapping[int, float], model: str, crossing: float) -> str:
    """Recorded seconds of passes of a large model on a card, and where its data sheet has the crossing."""
    wider = [f"{k} tokens {T[k] / T[1]:.2f} times" for k in (5, 64, 256, 512)]
    return (
        f"{model}: a pass over {joined(wider)} as long as a pass over one. The data sheet promises that nothing rises up to "
        f"{crossing:.0f}."
    )


def draft_rows(costs: Mapping[str, Mapping[tuple[int, int], float]], texts: int, gamma: int) -> str:
    """Seconds of a step by (texts, γ), behind short and behind long texts: the price of a row, and the ratio."""
    row = [1e3 * (of[texts, gamma] - of[texts, 0]) / (texts * gamma) for of in costs.values()]
    plain = [1e3 * of[texts, 0] for of in costs.values()]
    ratio = [of[texts, gamma] / of[texts, 0] for of in costs.values()]
    short_ones, long_ones = costs
    higher, lower = row[1] > row[0] * (1 + AS_LONG), row[1] < row[0] * (1 - AS_LONG)
    now = "became more expensive" if higher else "became cheaper" if lower else "stayed as it was"
    return (
        f"A draft row costs {row[0]:.2f} ms after {short_ones} and {row[1]:.2f} ms after {long_ones}, so it "
        f"{now}. A plain step takes {plain[0]:.0f} ms and {plain[1]:.0f} ms. A step with {gamma} drafts takes "
        f"{ratio[0]:.2f} and {ratio[1]:.2f} times as long as one without."
    )
