"""Lesson 06: what a design brings, place by place and by the clock."""

import math
from collections.abc import Sequence

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, listed
from specdec_lab.formats import short


@fresh_numbers(
    alphas=(
        (0.8, 0.6, 0.4),
        (0.6, 0.5, 0.3),
        (0.9, 0.7, 0.5),
        (0.8, 0.6, 0.3),
        (0.9, 0.6, 0.3),
        (0.8, 0.5, 0.2),
        (0.7, 0.6, 0.4),
        (0.9, 0.8, 0.5),
    )
)
def tokens_by_place(alphas: Sequence[float]) -> Problem:
    reached = [math.prod(alphas[:i]) for i in range(1, len(alphas) + 1)]
    expected = 1 + sum(reached)
    products = [" · ".join(f"{a}" for a in alphas[:i]) for i in range(1, len(alphas) + 1)]
    return Problem(
        f"Medusa drafts three tokens a round. Of the rounds that get to a place, these shares survive there: {listed(alphas)} "
        "at places 1, 2 and 3. How many tokens does a pass of the target give, on average?",
        expected,
        f"A draft counts if all before it survived, too: 1 + {' + '.join(products)} = {short(expected)}.",
        [
            Mistake(1 + sum(alphas), "This also counts drafts behind a miss: place 2 is only reached past place 1.", 1),
            Mistake(reached[-1], "This is the share of rounds without a miss."),
            Mistake(expected - 1, "These are the accepted drafts. The corrected or bonus token comes on top.", 6),
            Mistake(
                theory.expected_tokens(alphas[0], len(alphas)),
                "This takes the first head's rate for all. The later heads are worse: they do not see the drafts before theirs.",
            ),
        ],
    )


@fresh_numbers(layers=(4, 16, 24), thin=(3.1, 3.4), wide=(2.2, 2.5), gamma=(3, 4))
def faster_of_two(layers: int, thin: float, wide: float, gamma: int) -> Problem:
    all_layers, wide_layers = 32, 2
    weights, thin_weights, wide_weights = 2000, 40, 200
    a, b = layers / all_layers, wide_layers / all_layers
    gain_a, gain_b = thin / (gamma * a + 1), wide / (gamma * b + 1)
    if gain_a > gain_b:
        name, expected, c, best = "A", thin, a, gain_a
        other = Mistake(gain_b, "This is B. Its drafts are the cheaper ones, but A's bring more than they cost.")
    else:
        name, expected, c, best = "B", wide, b, gain_b
        other = Mistake(gain_a, "This is A. It brings more tokens per pass, but its drafts cost even more.", 7)
    return Problem(
        "A GPU starts operations one by one, and nothing else takes time: each layer takes equally long, thin or wide. "
        f"The target has {all_layers} layers and {weights:,} million weights. Draft A has {layers} thin layers and {thin_weights} "
        f"million weights, and brings {thin} tokens per pass. Draft B has {wide_layers} wide layers and {wide_weights} million "
        f"weights, and brings {wide}. γ = {gamma}, and the checking pass costs as much as a plain one. "
        "How many times as fast as plain decoding is the faster of the two?",
        best,
        f"A draft of A costs {layers} / {all_layers} = {a:g} of a plain pass, so S = {thin} / ({gamma} · {a:g} + 1) = "
        f"{short(gain_a)}. One of B costs {wide_layers} / {all_layers} = {b:g}, so S = {wide} / ({gamma} · {b:g} + 1) = "
        f"{short(gain_b)}. The faster one is {name}, with {short(best)}.",
        [
            Mistake(thin, "This is tokens per pass. A round costs more than one plain pass.", 7),
            other,
            Mistake(
                max(thin / (gamma * thin_weights / weights + 1), wide / (gamma * wide_weights / weights + 1)),
                "This takes the cost of a draft from its weights. Here the layers decide.",
                14,
            ),
            Mistake(
                expected / (c + 1), f"This pays for one draft; a round needs {gamma} of them, one after the other."
            ),
        ],
    )
