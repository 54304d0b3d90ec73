"""What a draft has learned."""

from collections.abc import Mapping, Sequence

from specdec_lab.measure.prompts import TIED
from specdec_lab.measure.results import Counts, tokens_per_pass


def climbed(history: Sequence[Mapping]) -> str:
    """How far Σ min(p, q) of the first draft rose in a training, and in which half of its tokens."""
    points = [(evaluation["tokens"], evaluation["steps"][0]["overlap"]) for evaluation in history]
    first, last = points[0][1], points[-1][1]
    middle = min(points, key=lambda point: abs(point[0] - points[-1][0] / 2))[1]
    return (
        f"Σ min(p, q) went from {first:.3f} to {last:.3f}: by {middle - first:+.3f} in the first half of the tokens, and by "
        f"{last - middle:+.3f} in the second."
    )


def own_draft(before: Counts, after: Counts, clock: float) -> str:
    """Two drafts on the same prompts, by tokens and passes of each, and how many times as fast the second one is."""
    (old, _), (new, _), (ratio, (low, high)) = map(tokens_per_pass, (before, after, after), (None, None, before))
    return (
        f"On these {len(after)} prompts your draft writes {new:.2f} tokens per pass, and the course's {old:.2f}: {ratio:.2f} "
        f"times as many, and other such prompts would give {low:.2f} to {high:.2f}. By the clock it is {clock:.2f} times as "
        "fast."
    )


def designs(toy: Sequence[Mapping], further: Sequence[Mapping]) -> str:
    """What three depths bring, and what rehearsal, after a toy training and after a long one.

    Args:
        toy, further: the runs of `recorded_designs`, each with its design and its tokens a pass.
    """
    small = {run["design"]: run["tokens_a_pass"] for run in toy}
    most = {run["design"]: run for run in further if run["rehearsed"] == "all the way"}
    last, three = (
        next(run for run in further if run["design"] == design and run["tokens"] == most["last row"]["tokens"])
        for design in ("last row", "three depths")
    )

    def brought(more: float, less: float) -> str:
        if abs(more / less - 1) < TIED:
            return f"no difference ({more:.2f} and {less:.2f} tokens a pass)"
        return f"{more / less:.2f} times the tokens a pass ({more:.2f} and {less:.2f})"

    return (
        f"Three depths against the last row, both rehearsed: after {toy[0]['tokens'] / 1e6:g} M tokens "
        f"{brought(small['three depths, rehearsed'], small['last row, rehearsed'])}, after {three['tokens'] / 1e6:.0f} M "
        f"{brought(three['tokens_a_pass'], last['tokens_a_pass'])}. Rehearsal against none, the last row: after "
        f"{toy[0]['tokens'] / 1e6:g} M {brought(small['last row, rehearsed'], small['last row'])}."
    )


def blocks(tried: Mapping, further: Sequence[Mapping]) -> str:
    """Our block of layers beside EAGLE with three depths, each against the same EAGLE that reads the last row.

    Args:
        tried: "blocks" of `recorded_designs`.
        further: its long runs, the shortest with the last row first.
    """
    layer, *_, block = tried["runs"]
    cost = tried["cost"]
    gains = block["of_five"] / layer["of_five"], further[-1]["of_five"] / further[0]["of_five"]
    rounds = cost["a block"] + cost["pass"], 5 * cost["a draft"] + cost["pass"]
    ahead = (gains[1] / rounds[1]) / (gains[0] / rounds[0])
    end = "as fast as the block's" if abs(ahead - 1) < TIED else f"{ahead:.2f} times as fast as the block's"
    return (
        f"With five drafts the block of {block['design'].split()[3]} layers has {gains[0]:.2f} times the tokens a pass of the "
        f"one layer in this table, and EAGLE with three depths, which learned longer, has {gains[1]:.2f} times those of an "
        f"EAGLE that reads the last row, on other texts: see section 3. A block costs "
        f"less. If a draft of one layer takes {cost['a draft']:.3f} plain steps, a block {cost['a block']:.2f} and the pass "
        f"{cost['pass']:.1f}, rounds of EAGLE with three depths would be {end}."
    )
