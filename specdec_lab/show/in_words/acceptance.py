"""How often drafts survive, and which texts come out."""

from collections.abc import Callable, Mapping, Sequence
from statistics import geometric_mean, mean

from specdec_lab.engine.trace import Trace
from specdec_lab.formats import short
from specdec_lab.measure.prompts import TIED, bootstrap_interval
from specdec_lab.measure.results import Counts, tokens_per_pass
from specdec_lab.models.base import Model
from specdec_lab.show.in_words.common import AS_LONG, above_or_below
from specdec_lab.theory import expected_tokens

UNSURE, SURE = 0.4, 0.8  # chances of the target's favourite


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
    off = round(predicted, 2) / round(counted, 2) - 1  # of the numbers that stand in the sentence
    interval = bootstrap_interval(distance, list(many))
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
        side = above_or_below(interval, (1.0, 1.0)) if interval else 0
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


def same_texts(same: int, of: int, target: Model) -> str:
    """How many greedy texts are plain decoding's."""
    if same == of:
        return f"All {of} texts are those of plain decoding, token for token."
    rounds = "in so few bits" if target.dtype.itemsize < 4 else "on this device"
    return (
        f"{same} of {of} texts are those of plain decoding. Where one parts, two tokens were nearly tied, and a wide pass "
        f"rounds otherwise than a narrow one {rounds}."
    )


def prices(perplexity: Mapping[str, Sequence[float]], traces: Mapping[str, Sequence[Trace]]) -> str:
    """Ways to decode the same requests: two plain ones, the exact rule, and relaxed rules."""
    means = {way: geometric_mean(of) for way, of in perplexity.items()}
    E = {way: sum(len(t.tokens) for t in of) / sum(t.target_passes for t in of) for way, of in traces.items()}
    plain, again, *others = means
    luck = max(means[plain], means[again]) / min(means[plain], means[again])
    ways = "; ".join(f"{way}, {short(E[way])} tokens per pass: {means[way] / means[plain]:.2f}" for way in others)
    return f"Perplexity, in units of plain decoding’s: {ways}. Another seed alone changes it {luck:.2f} times."
