"""What a reader's own numbers say, as one or two sentences below a result.

A lesson cannot know what a machine will measure: times may rise, stay, fall or jump. So each sentence is chosen from
the numbers themselves.
"""

from collections.abc import Hashable, Mapping, Sequence
from statistics import geometric_mean, mean, median

from specdec_lab.engine.trace import Trace
from specdec_lab.formats import short
from specdec_lab.measure.bench import overall
from specdec_lab.measure.costs import Race, doubts, times_as_long, width_at
from specdec_lab.measure.results import Counts, saved_results, tokens_per_pass
from specdec_lab.measure.serving import StepCosts
from specdec_lab.models.base import Model
from specdec_lab.theory import expected_tokens

AS_LONG = 0.05  # two times that differ by less than this share of the smaller one are called equal
TIED = 0.02  # simulated times that differ by less than this share are not put in an order
AGREES = 0.1  # the same for a formula and what was counted
UNSURE, SURE = 0.4, 0.8  # chances of the target's favourite

Times = Mapping[int, Sequence[float]]


def race(result: Race) -> str:
    """Tokens of a round, its cost, and what comes of them."""
    E, S = result.speculative.tokens_per_pass, result.ratio
    cost = E / S
    if S > 1 + AS_LONG:
        end = f"{S:.2f} times as fast."
    elif S < 1 - AS_LONG:
        end = f"{S:.2f} times as fast, so here the drafts were a loss."
    else:
        end = f"{S:.2f} times as fast: neither a gain nor a loss that the clock can show."
    doubt = f" {result.doubt}" if result.doubt else ""
    return (
        f"A round wrote {E:.2f} tokens and took {cost:.2f} times as long as a step of plain decoding: "
        f"{E:.2f} / {cost:.2f} = {end}{doubt}"
    )


def recorded() -> str:
    """The best drafter of the recorded run over the built-in prompts."""
    result = saved_results(temperature=0.0, gamma="best", dtype="float32")[0]
    rows = {arm: row for arm, row in overall(result["rows"], peers=False).items() if row["gamma"]}
    name, best = max(rows.items(), key=lambda item: item[1]["ratio_to_plain"])
    low, high = best["ratio_interval"]
    draft = rows["model"]["ratio_to_plain"]
    return (
        f"{best['prompts']} prompts, greedy, one at a time, on {result['meta']['hardware']}: the draft model is {draft:.2f} "
        f"times as fast as plain decoding. The best drafter of this course, {name}, is {best['ratio_to_plain']:.2f} times as "
        f"fast, and other prompts of these kinds would give {low:.2f} to {high:.2f}."
    )


def fastest(rows: Mapping[str, Mapping], names: Sequence[str]) -> str:
    """Of some drafters of a recorded run, the one that the clock puts first, and those that lie within TIED of it.

    Args:
        rows: as `bench.overall` gives them.
    """
    order = sorted(names, key=lambda name: -rows[name]["ratio_to_plain"])
    best, *others = order
    level = [n for n in others if rows[n]["ratio_to_plain"] * (1 + TIED) > rows[best]["ratio_to_plain"]]
    E = max(names, key=lambda name: rows[name]["tokens_per_pass"])
    if level:
        first = f"By the clock {joined([best, *level])} lie within 2 %, and are not put in an order."
    else:
        ahead = rows[best]["ratio_to_plain"] / rows[others[0]]["ratio_to_plain"]
        first = f"By the clock {best} is ahead, {ahead:.2f} times as fast as {others[0]}, which comes next."
    return f"{first} The most tokens per pass, {rows[E]['tokens_per_pass']:.2f}, has {E}."


def passes(times: Times) -> str:
    """T(k), with k = 1 and k = 5 among them, as `sd.pass_times` returns it."""
    five, twice, widest = times_as_long(times, 5), width_at(times, 2), max(times)
    if five > 1 + AS_LONG:
        first = (
            f"Here five tokens take {five:.2f} times as long as one: four places are checked for {five - 1:.0%} more."
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


def formats(curves: Mapping[str, Times]) -> str:
    """T(k) by number format, the most bits first."""
    ones = [1e3 * median(times[1]) for times in curves.values()]
    fives = [times_as_long(times, 5) for times in curves.values()]
    measured = (
        f"A pass over one token takes {listed(ones)} ms with {' and '.join([', '.join(list(curves)[:-1]), list(curves)[-1]])}. "
        f"Five tokens take {listed(fives)} times as long as one."
    )
    if ones[-1] >= ones[0] * (1 - AS_LONG):
        return (
            f"{measured} So fewer bits are not faster here: this processor, or its program, has no fast way for them."
        )
    if fives[-1] > fives[0] + AS_LONG:
        return f"{measured} So with the fewest bits the narrow pass is the fastest, and each further token costs more of it."
    return f"{measured} So fewer bits are faster here, and a wide pass costs no more of a narrow one than before."


def same_texts(same: int, of: int, target: Model) -> str:
    """How many greedy texts are plain decoding's."""
    if same == of:
        return f"All {of} texts are those of plain decoding, token for token."
    rounds = "in so few bits" if target.dtype.itemsize < 4 else "on this device"
    return (
        f"{same} of {of} texts are those of plain decoding. Where one parts, two tokens were nearly tied, and a wide pass "
        f"rounds otherwise than a narrow one {rounds}."
    )


def kinds(alphas: Mapping[str, Mapping[str, float | None]]) -> str:
    """α of several texts of each kind."""
    known = {kind: [a for a in of.values() if a is not None] for kind, of in alphas.items()}
    order = sorted((kind for kind in known if known[kind]), key=lambda kind: -mean(known[kind]))
    top, low = order[0], order[-1]
    means = ", ".join(f"{kind} {mean(known[kind]):.2f}" for kind in order)
    if min(known[top]) > max(known[low]):
        end = f"Each text of the kind {top} lies above each of the kind {low}."
    else:
        end = f"Some texts of the kind {low} lie above some of the kind {top}: the kind alone does not decide."
    return f"Mean α by kind: {means}. {end}"


def sureness(traces: Mapping[str, Mapping[str, Trace]]) -> str:
    """α of the tested drafts where the target was unsure, and where it was sure."""
    places = [d for of in traces.values() for t in of.values() for r in t.rounds for d in r.tested]
    unsure = [d.overlap for d in places if d.p_top[0][1] < UNSURE]
    sure = [d.overlap for d in places if d.p_top[0][1] > SURE]
    if not (unsure and sure):
        return "The target was equally sure at all of these places."
    low, high = mean(unsure), mean(sure)
    measured = (
        f"Where the target gives its favourite less than {UNSURE}, α is {low:.2f}, over {len(unsure)} drafts. "
        f"Where it gives it more than {SURE}, α is {high:.2f}, over {len(sure)}."
    )
    return measured if high > low else f"{measured} So here a sure target was no easier to guess."


def formula(traces: Mapping[str, Mapping[str, Trace]], gamma: int) -> str:
    """E by the formula beside what was counted, over the rounds with all drafts that no stop cut short."""
    rounds = [
        r for of in traces.values() for t in of.values() for r in t.rounds if len(r.drafted) == gamma and not r.stop
    ]
    counted = Trace([], rounds)
    E, by_formula = counted.tokens_per_pass, expected_tokens(counted.alpha, gamma)
    off = by_formula / E - 1
    numbers = (
        f"Over these {len(rounds)} rounds α is {counted.alpha:.2f}. The formula makes {by_formula:.2f} tokens per pass of it, "
        f"and {E:.2f} were counted: "
    )
    if abs(off) <= AGREES:
        return f"{numbers}{abs(off):.0%} apart."
    return f"{numbers}{abs(off):.0%} too {'many' if off > 0 else 'few'}. Here drafts do not survive independently."


def best_gammas(results: Mapping[int, Mapping[str, dict]]) -> str:
    """The best γ of each drafter, from the rows of `bench.overall` by γ and drafter."""
    gains = {}
    for name in (arm for arm, row in next(iter(results.values())).items() if row["gamma"]):
        gains[name] = max((rows[name]["ratio_to_plain"], gamma) for gamma, rows in results.items())
    (best, (most, gamma)), *others = sorted(gains.items(), key=lambda item: -item[1][0])
    if most <= 1:
        return f"Plain decoding is faster than {joined([f'“{name}”' for name in gains])}, with every γ tried here."
    said = [f"“{best}” gains most: {most:.2f} times as fast as plain decoding, with γ = {gamma}."]
    if less := [f"“{name}” {gain:.2f} with γ = {gamma}" for name, (gain, gamma) in others if gain > 1]:
        said.append(f"The others: {joined(less)}.")
    if lost := [f"“{name}”" for name, (gain, _) in others if gain <= 1]:
        said.append(f"{joined(lost)} {'lose' if len(lost) > 1 else 'loses'} with every γ tried here.")
    return " ".join(said)


def fewer_bits(best: Mapping[str, dict]) -> str:
    """Tokens a second, plain and with the best drafter, by the bits of a weight: the most bits first."""
    (high, first), *_, (low, last) = best.items()
    by_bits, by_drafts = last["plain"] / first["plain"], first["best"] / first["plain"]
    both, left = last["best"] / first["plain"], last["best"] / last["plain"]
    return (
        f"{low} in place of {high} make plain decoding {by_bits:.1f} times as fast. Drafts make it {by_drafts:.1f} times as "
        f"fast with {high}, and {left:.2f} times with {low}. Both together bring {both:.1f} times, where {by_bits:.1f} · "
        f"{by_drafts:.1f} would be {by_bits * by_drafts:.1f}."
    )


def crossovers(costs: StepCosts, tokens: Mapping[int, float]) -> str:
    """With how many texts each γ begins to lose. tokens: that its rounds write, as `serving.written` gives them."""
    most, said = costs.sizes[-1], []
    for gamma in sorted(tokens, reverse=True):
        limit = costs.crossover(gamma, tokens[gamma]) if gamma else None
        if gamma:
            said.append(
                f"with γ = {gamma} from {limit} texts on"
                if limit
                else f"with γ = {gamma} not with up to {most} texts, the most that were timed"
            )
    return f"Drafting loses {', '.join(said)}."


def policies(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """What each policy does at the lowest and at the highest load: (tokens a second, milliseconds a token), by load."""
    quiet = {name: curve[0][1] for name, curve in curves.items()}
    full = {name: curve[-1][0] for name, curve in curves.items()}
    plain, soonest, most = next(iter(curves)), min(quiet, key=quiet.get), max(full, key=full.get)
    low = f"{short(quiet[soonest])} ms a token, and {short(quiet[plain])} with “{plain}”"
    high = f"{full[most]:.0f} tokens a second, and {full[plain]:.0f} with “{plain}”"
    return f"At the lowest load “{soonest}” is the fastest: {low}. At the highest “{most}” writes the most: {high}."


def prices(perplexity: Mapping[str, Sequence[float]], traces: Mapping[str, Sequence[Trace]]) -> str:
    """Ways to decode the same requests: two plain ones, the exact rule, and relaxed rules."""
    means = {way: geometric_mean(of) for way, of in perplexity.items()}
    E = {way: sum(len(t.tokens) for t in of) / sum(t.target_passes for t in of) for way, of in traces.items()}
    plain, again, *others = means
    luck = max(means[plain], means[again]) / min(means[plain], means[again])
    ways = "; ".join(f"{way}, {short(E[way])} tokens per pass: {means[way] / means[plain]:.2f}" for way in others)
    return f"Perplexity, in units of plain decoding’s: {ways}. Another seed alone changes it {luck:.2f} times."


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
    first, *others = sorted(ms, key=ms.get)
    said, before = first, first
    for name in others:
        said += f"{' and ' if ms[name] < (1 + TIED) * ms[before] else ' before '}{name}"
        before = name
    return said


def auto(speeds: Mapping[str, Mapping[str, float]]) -> str:
    """Times plain by drafter, for a γ chosen by the program and for a fixed one."""
    said = [f"{name}: {', '.join(f'{way} {x:.2f}' for way, x in of.items())}" for name, of in speeds.items()]
    lost = [name for name, of in speeds.items() if of["auto"] < 1]
    end = f"With {' and '.join(lost)} auto was slower" if lost else "With each of them auto was not slower"
    return f"Times as fast as plain decoding: {'; '.join(said)}. {end} than plain decoding."


def stretches(alphas: Mapping[str, Mapping[str, float | None]]) -> str:
    """α of drafters by the stretch of the answer, from its beginning on."""
    said = []
    for name, of in alphas.items():
        first, *later = [a for a in of.values() if a is not None]
        if not later:
            continue
        change = "as high" if abs(mean(later) - first) < AS_LONG else "lower" if mean(later) < first else "higher"
        said.append(f"{name} {first:.2f}, later {mean(later):.2f}, {change}")
    if not said:
        return "These answers are too short to have a later stretch."
    return f"α in the first stretch of the answers, and later: {'; '.join(said)}."


def two_ways(drawn: float, argmax: float, greedy: float) -> str:
    """α of one pair at temperature 1 with drafts of two kinds, and in greedy decoding."""
    side = "less" if argmax < drawn else "more"
    return (
        f"At temperature 1 the favourite survives with chance {argmax:.2f}, {side} than a drawn draft with {drawn:.2f}. "
        f"In greedy decoding it is {greedy:.2f} for both."
    )


def under_grammar(counts: Mapping[str, Counts]) -> str:
    """α of the same prompts in three ways: no grammar, a grammar on p alone, and on both p and q.

    Args:
        counts: by way, in this order: {prompt: (the sum of α over its places, how many)}.
    """
    free, alone, both = counts.values()
    # α is a sum over places divided by their number, as tokens per pass is one over passes: the same interval serves both.
    alphas = [tokens_per_pass(of)[0] for of in (free, alone, both)]

    def step(new: Counts, old: Counts) -> str:
        ratio, (low, high) = tokens_per_pass(new, old)
        between = f"{ratio:.2f} times ({low:.2f}–{high:.2f})"
        if low <= 1 <= high or abs(ratio - 1) < TIED:
            return f"{between}, which these texts cannot tell from no change"
        return f"{between}, so α {'rises' if ratio > 1 else 'falls'}"

    return (
        f"α is {alphas[0]:.2f} without a grammar, {alphas[1]:.2f} with one on p alone, and {alphas[2]:.2f} with one on both. "
        f"On p alone against none: {step(alone, free)}. On both against p alone: {step(both, alone)}."
    )


def draft_rows(costs: Mapping[str, Mapping[tuple[int, int], float]], texts: int, gamma: int) -> str:
    """Seconds of a step by (texts, γ), behind short and behind long texts: the price of a row, and the ratio."""
    row = [1e3 * (of[texts, gamma] - of[texts, 0]) / (texts * gamma) for of in costs.values()]
    plain = [1e3 * of[texts, 0] for of in costs.values()]
    ratio = [of[texts, gamma] / of[texts, 0] for of in costs.values()]
    short_ones, long_ones = costs
    dearer = (
        "dearer" if row[1] > row[0] * (1 + AS_LONG) else "cheaper" if row[1] < row[0] * (1 - AS_LONG) else "as dear"
    )
    return (
        f"A draft row costs {row[0]:.2f} ms behind {short_ones} and {row[1]:.2f} ms behind {long_ones}, so it became "
        f"{dearer}. A plain step takes {plain[0]:.0f} ms and {plain[1]:.0f} ms. A step with {gamma} drafts takes "
        f"{ratio[0]:.2f} and {ratio[1]:.2f} times as long as one without."
    )


def chain_and_tree(tree: Mapping[str, float], chain: Mapping[str, float]) -> str:
    """A tree and a chain of equally many drafts: rows of `bench.overall`."""
    E, S = (tree[x] / chain[x] for x in ("tokens_per_pass", "ratio_to_plain"))
    tokens = (
        f"With {tree['gamma']} drafts the tree writes {tree['tokens_per_pass']:.2f} tokens per pass, and the chain "
        f"{chain['tokens_per_pass']:.2f}."
    )
    clock = (
        f"By the clock the tree is {tree['ratio_to_plain']:.2f} times as fast as plain decoding, and the chain "
        f"{chain['ratio_to_plain']:.2f} times."
    )
    if abs(S - 1) < AS_LONG:
        return f"{tokens} {clock} So between the two the clock sees no difference."
    if (E > 1) == (S > 1):
        return f"{tokens} {clock} So the {'tree' if S > 1 else 'chain'} is ahead in both."
    return f"{tokens} {clock} So what it costs decides, and not E."


def best_ways(ways: Mapping[str, Mapping[str, float]]) -> str:
    """What is best for each number of texts, and the last of several ways, such as "tree of 8": times plain decoding.
    "plain" is among them."""
    sizes, (*_, last) = list(ways["plain"]), ways
    best: dict[str, list[str]] = {}
    for size in sizes:
        best.setdefault(max(ways, key=lambda way: ways[way][size]), []).append(size)
    words = [f"{'no drafts' if way == 'plain' else f'a {way}'} with {joined(of)}" for way, of in best.items()]
    few, many = (ways[last][size] for size in (sizes[0], sizes[-1]))
    return (
        f"Best here: {', '.join(words)}. The {last} goes from {few:.2f} times plain decoding with {sizes[0]} to "
        f"{many:.2f} times with {sizes[-1]}."
    )


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


def gained(ratios: Mapping[str, tuple[float, tuple[float, float]]]) -> str:
    """Which ratios lie clearly above 1, which below, and which cannot be told from it: their interval holds 1, or they
    lie within TIED of it.

    Args:
        ratios: by name, each with its interval.
    """
    above, below, level = [], [], []
    for name, (ratio, (low, high)) in ratios.items():
        clear = abs(ratio - 1) > TIED and not low <= 1 <= high
        (level if not clear else above if ratio > 1 else below).append(f"{name} ({ratio:.2f})")
    said = [
        f"{verb}: {joined(some)}."
        for verb, some in (("Gained", above), ("Lost", below), ("No difference that these prompts can show", level))
        if some
    ]
    return " ".join(said)


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
        f"With five drafts the block of {block['design'].split()[3]} layers has {gains[0]:.2f} times the tokens a pass of an "
        f"EAGLE that reads the last row, and EAGLE with three depths {gains[1]:.2f} times, each on other texts. A block costs "
        f"less. If a draft of one layer takes {cost['a draft']:.3f} plain steps, a block {cost['a block']:.2f} and the pass "
        f"{cost['pass']:.1f}, rounds of EAGLE with three depths would be {end}."
    )


def ranked(paces: Mapping[str, Sequence[float]]) -> str:
    """Ways that took turns, by their tokens a second: the fastest, and those that it cannot be told from.

    These are the ways of which some run was as fast as some of the fastest way's, or whose median lies within TIED.
    """
    best, *others = sorted(paces, key=lambda way: -median(paces[way]))
    ahead = {way: median(paces[best]) / median(paces[way]) for way in others}
    level = [way for way in others if ahead[way] < 1 + TIED or max(paces[way]) >= min(paces[best])]
    clear = [f"{ahead[way]:.2f} times as fast as “{way}”" for way in others if way not in level]
    same = f"“{best}” and {joined([f'“{way}”' for way in level])} cannot be told apart" if level else ""
    if not clear:
        return f"{same} here."
    if not same:
        return f"“{best}” is the fastest: {joined(clear)}."
    return f"{same} here. “{best}” is {joined(clear)}."


def listed(numbers: Sequence[float]) -> str:
    """Numbers in a sentence."""
    return joined([short(x) for x in numbers])


def joined(words: Sequence[str]) -> str:
    """Words in a sentence, with "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
