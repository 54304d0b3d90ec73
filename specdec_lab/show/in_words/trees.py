"""A tree beside a chain."""

from collections.abc import Mapping

from specdec_lab.formats import joined
from specdec_lab.measure.prompts import TIED
from specdec_lab.show.in_words.common import Interval, above_or_below, slow_ones


def chain_and_tree(tree: Mapping[str, float], chain: Mapping[str, float]) -> str:
    """A tree and a chain of equally many drafts: rows of `bench.overall`, by the medians of their rounds."""
    E, S = (tree[x] / chain[x] for x in ("tokens_per_pass", "ratio_from_parts"))
    said = [
        f"With {tree['gamma']} drafts the tree writes {tree['tokens_per_pass']:.2f} tokens per pass, and the chain "
        f"{chain['tokens_per_pass']:.2f}. From its parts the tree is {tree['ratio_from_parts']:.2f} times as fast as plain "
        f"decoding, and the chain {chain['ratio_from_parts']:.2f} times."
    ]
    ahead = "tree" if S > 1 else "chain"
    if abs(S - 1) < TIED:
        said.append("So between the two there is no difference that these times can show.")
    elif abs(E - 1) < TIED:
        said.append(f"So the {ahead} is ahead by what it costs, and not by E.")
    elif (E > 1) == (S > 1):
        said.append(f"So the {ahead} is ahead in both.")
    else:
        said.append("So what it costs decides, and not E.")
    return " ".join(said + slow_ones({"the chain": chain, "the tree": tree}))


def suite_of_trees(found: Mapping[str, Mapping[int, Mapping[str, tuple[float, Interval]]]]) -> str:
    """Where a tree writes more than a chain of as many drafts, and how both grow with the drafts.

    Args:
        found: by the way of choosing tokens and by drafts, {"chain", "tree" and "tree / chain": (number, its interval)}.
    """
    said = []
    for how, by_drafts in found.items():
        sides = {n: above_or_below(of["tree / chain"][1], (1 - TIED, 1 + TIED)) for n, of in by_drafts.items()}
        ends = [
            f"{words} {joined([str(n) for n, side in sides.items() if side == wanted])}"
            for wanted, words in (
                (1, "the tree writes more with"),
                (0, "the two cannot be told apart with"),
                (-1, "the chain writes more with"),
            )
            if wanted in sides.values()
        ]
        few, many = min(by_drafts), max(by_drafts)
        chain, tree = (by_drafts[many][shape][0] / by_drafts[few][shape][0] for shape in ("chain", "tree"))
        said.append(
            f"{how[0].upper()}{how[1:]}: {', '.join(ends)} drafts. From {few} to {many} drafts the tokens per pass of the "
            f"chain grow {chain:.2f} times, and those of the tree {tree:.2f} times."
        )
    return " ".join(said)


def best_ways(ways: Mapping[str, Mapping[str, float]]) -> str:
    """What is best for each number of texts, and the last of several ways, such as "tree of 8": times plain decoding.
    "plain" is among them."""
    sizes, (*_, last) = list(ways["plain"]), ways
    best: dict[str, list[str]] = {}
    for size in sizes:
        most = max(of[size] for of in ways.values())
        good = ["no drafts" if way == "plain" else f"a {way}" for way in ways if ways[way][size] * (1 + TIED) > most]
        best.setdefault(" or ".join(good), []).append(size)
    words = [f"{good} with {joined(of)}" for good, of in best.items()]
    few, many = (ways[last][size] for size in (sizes[0], sizes[-1]))
    return (
        f"Best here: {', '.join(words)}. The {last} goes from {few:.2f} times plain decoding with {sizes[0]} to "
        f"{many:.2f} times with {sizes[-1]}."
    )
