"""What a reader's own numbers say, as one or two sentences below a result.

A lesson cannot know what a machine will measure: times may rise, stay, fall or jump. So each sentence is chosen from
the numbers themselves.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import geometric_mean, mean, median

from specdec_lab.engine.trace import Trace
from specdec_lab.formats import joined, short
from specdec_lab.measure.bench import doubt, overall
from specdec_lab.measure.costs import Race, doubts, times_as_long, width_at
from specdec_lab.measure.prompts import TIED, bootstrap_interval
from specdec_lab.measure.results import Counts, saved_results, tokens_per_pass
from specdec_lab.measure.serving import StepCosts
from specdec_lab.models.base import Model
from specdec_lab.models.cpu.linear import price_of_bits
from specdec_lab.theory import expected_tokens

AS_LONG = 0.05  # two times that differ by less than this share of the smaller one are called equal
UNSURE, SURE = 0.4, 0.8  # chances of the target's favourite

Times = Mapping[int, Sequence[float]]
Interval = tuple[float, float]


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
        f"{E:.2f} / {cost:.2f} ≈ {end}{doubt}"
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
        overlap = apart(*(rows[name]["ratio_interval"] for name in (best, others[0]))) == 0
        first = f"By the clock {best} is ahead, {ahead:.2f} times as fast as {others[0]}, which comes next"
        first += ". Their intervals overlap, so other prompts may put them in another order." if overlap else "."
    return f"{first} The most tokens per pass, {rows[E]['tokens_per_pass']:.2f}, has {E}."


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


def of_a_card(T: Mapping[int, float], model: str, crossing: float) -> str:
    """Recorded seconds of passes of a large model on a card, and where its data sheet has the crossing."""
    wider = [f"{k} tokens {T[k] / T[1]:.2f} times" for k in (5, 64, 256, 512)]
    return (
        f"{model}: a pass over {joined(wider)} as long as a pass over one. The data sheet promises that nothing rises up to "
        f"{crossing:.0f}."
    )


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
    single = [a for of in known.values() for a in of]
    return f"Mean α by kind: {means}. Single texts go from {min(single):.2f} to {max(single):.2f}. {end}"


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


def formula(singles: Mapping[str, Mapping[str, Trace]], traces: Mapping[str, Mapping[str, Trace]], gamma: int) -> str:
    """E as the formula predicts it from rounds with one draft, beside what rounds with γ drafts wrote.

    The 95 % interval of their distance is by bootstrap over texts. Rounds that a stop cut short do not count.

    Args:
        singles, traces: of the same texts, by kind and text, with one draft a round and with γ.
    """
    one, many = (
        {
            text: [r for r in trace.rounds if len(r.drafted) == n and not r.stop]
            for of in some.values()
            for text, trace in of.items()
        }
        for some, n in ((singles, 1), (traces, gamma))
    )

    def of(texts: Sequence[str]) -> tuple[float, float, float] | None:
        """α, E by the formula, E as it was counted; None where there is nothing to count."""
        first, whole = (Trace([], [r for text in texts for r in some[text]]) for some in (one, many))
        alpha, counted = first.alpha, whole.tokens_per_pass
        return None if alpha is None or counted is None else (alpha, expected_tokens(alpha, gamma), counted)

    def distance(texts: Sequence[str]) -> float | None:
        return found[1] / found[2] - 1 if (found := of(texts)) else None

    if (found := of(list(many))) is None:
        return "These texts have no whole rounds that could be compared."
    alpha, predicted, counted = found
    off, interval = predicted / counted - 1, bootstrap_interval(distance, list(many))
    numbers = (
        f"With one draft a round α is {alpha:.2f}. From this the formula predicts {predicted:.2f} tokens per pass with "
        f"γ = {gamma}, and {counted:.2f} were counted: {abs(off):.0%} too {'many' if off > 0 else 'few'}."
    )
    if not interval:
        return f"{numbers} These rounds are too few to say more."
    numbers += f" Other such texts would give {interval[0]:+.0%} to {interval[1]:+.0%}."
    if abs(off) < TIED or interval[0] <= 0 <= interval[1]:
        return f"{numbers} So these texts do not show that it is wrong."
    return f"{numbers} So these drafts do not survive independently, all with one rate."


def sampling(sampled: Trace, greedy: Trace, drafter: str = "eagle") -> str:
    """What sampling costs: one text at temperature 1 and greedy, and a drafter in the recorded runs of both."""
    here = (
        f"This text: {sampled.tokens_per_pass:.2f} tokens per pass. Written greedily, the same prompt has "
        f"{greedy.tokens_per_pass:.2f}. One text decides nothing."
    )
    results = [saved_results(temperature=t, gamma="best", dtype="float32")[0] for t in (0.0, 1.0)]
    first, second = (overall(result["rows"])[drafter] for result in results)
    gains = [row["ratio_to_plain"] - 1 for row in (first, second)]
    pace = "{ratio_to_plain:.2f} times ({ratio_interval[0]:.2f}–{ratio_interval[1]:.2f})"
    many = (
        f"On {first['prompts']} prompts, recorded on {results[0]['meta']['hardware']}, {drafter} is {pace.format_map(first)} "
        f"as fast as plain decoding when greedy, and {pace.format_map(second)} at temperature 1"
    )
    if apart(first["ratio_interval"], second["ratio_interval"]) > 0 and gains[0] > 0:
        return f"{here} {many}: sampling costs {1 - max(gains[1], 0) / gains[0]:.0%} of the gain."
    return f"{here} {many}."


def best_gammas(results: Mapping[int, Mapping[str, dict]]) -> str:
    """The best γ of each drafter, from the rows of `bench.overall` by γ and drafter: by the medians of their rounds."""
    gains = {
        name: {gamma: rows[name]["ratio_from_parts"] for gamma, rows in results.items()}
        for name in (arm for arm, row in next(iter(results.values())).items() if row["gamma"])
    }
    most = {name: max(of.values()) for name, of in gains.items()}

    def best(name: str) -> str:
        good = [str(gamma) for gamma, gain in gains[name].items() if gain * (1 + AS_LONG) > most[name]]
        return f"“{name}” {most[name]:.2f} times with γ = {' or '.join(good)}"

    order = sorted(most, key=lambda name: -most[name])
    won = [name for name in order if most[name] > 1 + TIED]
    lost = [f"“{name}”" for name in order if most[name] < 1 - TIED]
    even = [f"“{name}”" for name in order if abs(most[name] - 1) <= TIED]
    said = [f"As fast as plain decoding: {', '.join(map(best, won))}."] if won else ["Nothing gains here."]
    if even:
        said.append(f"{joined(even)} at best {'come' if len(even) > 1 else 'comes'} out even.")
    if lost:
        said.append(f"{joined(lost)} {'lose' if len(lost) > 1 else 'loses'} with every γ tried here.")
    said += [slow for gamma, rows in results.items() for slow in slow_ones(rows, f", γ = {gamma}")]
    return " ".join(said)


def slow_ones(rows: Mapping[str, Mapping], more: str = "") -> list[str]:
    """A sentence for each row of `bench.overall` whose times are doubtful."""
    return [said for name, row in rows.items() if (said := doubt(name + more, row))]


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
    less = apart(around, around_left)
    if less:
        said.append(f"So drafts bring {'less' if less > 0 else 'more'} with {low}.")
    if not around[0] <= bits <= around[1]:
        said.append(f"Alone, {'fewer bits' if bits > drafts else 'drafts'} bring more here.")
    return " ".join(said)


def other_program(rows: Mapping[str, dict]) -> str:
    """A program's plain decoding beside its drafts: rows of `bench.overall`, the plain arm first."""
    (plain, first), *others = rows.items()
    paces = [f"{row['tokens_per_second']:.0f} with “{name}”" for name, row in others]
    sides = {name: apart(row["ratio_interval"], first["ratio_interval"]) for name, row in others}
    ends = [
        f"{joined([f'“{name}”' for name, side in sides.items() if side == wanted])} {words}"
        for wanted, words in ((1, "is faster"), (0, "cannot be told apart from it"), (-1, "is slower"))
        if wanted in sides.values()
    ]
    return f"“{plain}” writes {first['tokens_per_second']:.0f} tokens a second, {joined(paces)}: {'; '.join(ends)}."


def drafters_on_a_card(greedy: Mapping[str, float], warm: Mapping[str, float], same: Mapping[str, int], of: int) -> str:
    """Recorded tokens a second by arm, "plain" among them: greedy and at temperature 1; and greedy texts that are plain's."""
    said = []
    for how, pace in (("Greedy", greedy), ("At temperature 1", warm)):
        ratio = {arm: pace[arm] / pace["plain"] for arm in warm if arm != "plain"}
        ends = [
            f"{words}: {joined([f'“{arm}” {x:.2f}' for arm, x in ratio.items() if fits(x)])}"
            for words, fits in (
                ("faster than plain decoding", lambda x: x > 1 + TIED),
                ("as fast", lambda x: abs(x - 1) <= TIED),
                ("slower", lambda x: x < 1 - TIED),
            )
            if any(map(fits, ratio.values()))
        ]
        said.append(f"{how}, {'; '.join(ends)}.")
    other = [f"{of - same[arm]} with “{arm}”" for arm in warm if same[arm] < of]
    said.append(
        f"Of {of} greedy texts some are not plain decoding's: {joined(other)}. There a near-tie fell otherwise in 16 bits."
        if other
        else f"All {of} greedy texts are plain decoding's."
    )
    return " ".join(said)


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
    first, *others = sorted(ms, key=ms.__getitem__)
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


def templates(own: Mapping[str, Sequence[Trace]], other: Mapping[str, Sequence[Trace]]) -> str:
    """α of drafters on the same prompts in the chat template of their training, and in another form."""
    said = []
    for name in own:
        pairs = dict(enumerate(zip(own[name], other[name], strict=True)))

        def alphas(keys: Sequence[int], pairs: Mapping = pairs) -> list[float | None]:
            return [Trace([], [r for key in keys for r in pairs[key][side].rounds]).alpha for side in (0, 1)]

        def ratio(keys: Sequence[int], alphas: Callable = alphas) -> float | None:
            first, second = alphas(keys)
            return second / first if first and second is not None else None

        (first, second), interval = alphas(list(pairs)), bootstrap_interval(ratio, list(pairs))
        side = apart(interval, (1.0, 1.0)) if interval else 0
        end = {1: "higher", -1: "lower", 0: "which these texts cannot tell apart"}[side]
        said.append(f"{name} {first:.2f} and {second:.2f}, {end}")
    return f"α in the template of the training, and in the other form: {'; '.join(said)}."


def two_ways(drawn: float, argmax: float, greedy: float) -> str:
    """α of one pair at temperature 1 with drafts of two kinds, and in greedy decoding."""
    side = "as often as" if abs(argmax - drawn) < TIED else "less often than" if argmax < drawn else "more often than"
    return (
        f"At temperature 1 the favourite survives with chance {argmax:.2f}, {side} a drawn draft with {drawn:.2f}. "
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
    higher, lower = row[1] > row[0] * (1 + AS_LONG), row[1] < row[0] * (1 - AS_LONG)
    now = "became more expensive" if higher else "became cheaper" if lower else "stayed as it was"
    return (
        f"A draft row costs {row[0]:.2f} ms after {short_ones} and {row[1]:.2f} ms after {long_ones}, so it "
        f"{now}. A plain step takes {plain[0]:.0f} ms and {plain[1]:.0f} ms. A step with {gamma} drafts takes "
        f"{ratio[0]:.2f} and {ratio[1]:.2f} times as long as one without."
    )


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
        sides = {n: apart(of["tree / chain"][1], (1 - TIED, 1 + TIED)) for n, of in by_drafts.items()}
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
        f"With five drafts the block of {block['design'].split()[3]} layers has {gains[0]:.2f} times the tokens a pass of the "
        f"one layer in this table, and EAGLE with three depths, which learned longer, has {gains[1]:.2f} times those of an "
        f"EAGLE that reads the last row, on other texts: see section 3. A block costs "
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


def apart(a: Interval, b: Interval) -> int:
    """1 where interval a lies above b, −1 where it lies below, and 0 where they overlap: then nothing is said."""
    return (a[0] > b[1]) - (a[1] < b[0])


def listed(numbers: Sequence[float]) -> str:
    """Numbers in a sentence."""
    return joined([short(x) for x in numbers])
