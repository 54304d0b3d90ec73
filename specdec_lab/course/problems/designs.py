"""Lesson 06: what a design brings, place by place and by the clock."""

import math
from collections.abc import Sequence

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, in_words
from specdec_lab.formats import short

ALPHAS = (
    (0.8, 0.6, 0.4), (0.6, 0.5, 0.3), (0.9, 0.7, 0.5), (0.8, 0.6, 0.3), (0.9, 0.6, 0.3), (0.8, 0.5, 0.2), (0.7, 0.6, 0.4), (0.9, 0.8, 0.5),
)  # fmt: skip


@fresh_numbers(alphas=ALPHAS)
def tokens_by_place(alphas: Sequence[float]) -> Problem:
    places = range(1, len(alphas) + 1)
    reached = [math.prod(alphas[:i]) for i in places]
    expected = 1 + sum(reached)
    products = [" · ".join(map(str, alphas[:i])) for i in places]
    return Problem(expected,
        f"Medusa drafts three tokens a round. Of the rounds that get to a place, these shares survive there: {in_words(alphas)} "
        "at places 1, 2 and 3. How many tokens does a pass of the target give, on average?",
        f"A draft counts if all before it survived, too: 1 + {' + '.join(products)} = {short(expected)}.",
        Mistake("This also counts drafts behind a miss: place 2 is only reached past place 1.", 1 + sum(alphas), belief=1),
        Mistake("This is the share of rounds without a miss.", reached[-1]),
        Mistake("These are the accepted drafts. The corrected or bonus token comes on top.", expected - 1, belief=6),
        Mistake("This takes the first head's rate for all. The later heads are worse: they do not see the drafts before theirs.",
                theory.expected_tokens(alphas[0], len(alphas))))  # fmt: skip


@fresh_numbers(layers=(4, 16, 24), thin=(3.1, 3.4), wide=(2.2, 2.5), gamma=(3, 4))
def faster_of_two(layers: int, thin: float, wide: float, gamma: int) -> Problem:
    all_layers, wide_layers = 32, 2
    weights, thin_weights, wide_weights = 2000, 40, 200
    a, b = layers / all_layers, wide_layers / all_layers
    gain_a, gain_b = thin / (gamma * a + 1), wide / (gamma * b + 1)
    by_weights = max(thin / (gamma * thin_weights / weights + 1), wide / (gamma * wide_weights / weights + 1))
    a_wins = gain_a > gain_b
    name, expected, c, best = ("A", thin, a, gain_a) if a_wins else ("B", wide, b, gain_b)
    return Problem(best,
        "A GPU starts operations one by one, and nothing else takes time: each layer takes equally long, thin or wide. "
        f"The target has {all_layers} layers and {weights:,} million weights. Draft A has {layers} thin layers and {thin_weights} "
        f"million weights, and brings {thin} tokens per pass. Draft B has {wide_layers} wide layers and {wide_weights} million "
        f"weights, and brings {wide}. γ = {gamma}, and the checking pass costs as much as a plain one. "
        "How many times as fast as plain decoding is the faster of the two?",
        f"A draft of A costs {layers} / {all_layers} = {a:g} of a plain step, so S = {thin} / ({gamma} · {a:g} + 1) = "
        f"{short(gain_a)}. One of B costs {wide_layers} / {all_layers} = {b:g}, so S = {wide} / ({gamma} · {b:g} + 1) = "
        f"{short(gain_b)}. The faster one is {name}, with {short(best)}.",
        Mistake("This is tokens per pass. A round costs more than one plain step.", thin, belief=7),
        Mistake("This is B. Its drafts are the cheaper ones, but A's bring more than they cost.", gain_b if a_wins else None),
        Mistake("This is A. It brings more tokens per pass, but its drafts cost even more.", None if a_wins else gain_a, belief=7),
        Mistake("This takes the cost of a draft from its weights. Here the layers decide.", by_weights, belief=14),
        Mistake(f"This pays for one draft; a round needs {gamma} of them, one after the other.", expected / (c + 1)))  # fmt: skip
