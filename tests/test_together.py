"""Rows that share a cache, and questions that are answered together: each gets its own."""

import random

import pytest
import torch
from tiny import TinyModel

from specdec_lab.drafters import Drafter, LookupDrafter
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Apply, Pass, Row, Shared, together
from specdec_lab.models.tree import Tree


def test_a_row_keeps_its_text_whoever_joins_leaves_and_forgets():
    """Against lists of tokens, one a text."""
    model, dice, left = TinyModel(5, seed=1), random.Random(0), 0
    shared, texts = Shared(model), {}
    for _ in range(400):
        doing = dice.choice(["join", "extend", "rewind", "drop", "keep"])
        if doing == "join" and len(texts) < 5:
            row, text = Row(model.cached()), [dice.randrange(5) for _ in range(dice.randrange(4))]
            row.cached.extend([text])
            shared.join(row)
            texts[row] = text
        elif texts and doing != "join":
            row = dice.choice(list(texts))
            if doing == "drop":
                shared.drop(row)
                del texts[row]
                left += 1
            elif doing == "extend" and len(texts[row]) < 20:
                new = [dice.randrange(5) for _ in range(3)]
                shared.cached.extend([new if other is row else [] for other in shared.rows])
                texts[row] += new
            elif doing == "rewind":
                length = dice.randrange(len(texts[row]) + 3)  # a longer one changes nothing
                row.rewind(length)
                texts[row] = texts[row][:length]
            elif doing == "keep" and len(texts[row]) >= 3:
                start = len(texts[row]) - 3
                row.keep(start, [0, 2])
                texts[row] = [*texts[row][: start + 1], texts[row][start + 2]]
        assert len(shared.rows) == len(texts) == len(shared.cached.lengths)
        for row, text in texts.items():
            assert row.model is model and row.length == len(text)
            assert shared.cached.slots[row.at][: row.length] == text and shared.rows[row.at] is row
    assert left > 20


def asks(*questions):
    """A drafter that returns all answers."""
    answers = []
    for question in questions:
        answers.append((yield question))
    return answers


def test_passes_of_many_texts_give_each_its_own_rows():
    """Of other lengths, in a tree or not, and some through the first layer alone, which is another pass."""
    model, prompts = TinyModel(5, seed=1), [[0], [1, 2], [3, 1, 4], [2, 2]]
    shared, rows = Shared(model), []
    for prompt in prompts:
        row = Row(model.cached())
        row.cached.extend([prompt])
        shared.join(row)
        rows.append(row)
    fork = (3, Tree((-1, -1, 0)))
    passes, extend = [], shared.cached.extend
    shared.cached.extend = lambda new, **more: passes.append((more["layers"], more["logits"])) or extend(new, **more)
    found = together(
        [
            asks(Pass(rows[0], [4, 3]), Pass(rows[0], [1])),
            asks(),
            asks(Pass(rows[2], [1, 2, 0], tree=fork)),
            asks(Pass(rows[3], [3], layers=(0, 1))),
        ]
    )
    assert [len(answers) for answers in found] == [2, 0, 1, 1]
    expected = [[0, 4], [0, 4, 3]]
    assert torch.equal(found[0][0], torch.stack([model.logits(text) for text in expected]))
    assert torch.equal(found[0][1], model.logits([0, 4, 3, 1])[None])
    expected = [[3, 1, 4, 1], [3, 1, 4, 2], [3, 1, 4, 1, 0]]
    assert torch.equal(found[2][0], torch.stack([model.logits(text) for text in expected]))
    assert found[3][0].tolist() == [[3.0]]  # what the first layer makes of a token here
    assert shared.cached.lengths == [4, 2, 6, 3]
    assert passes == [(None, False), ((0, 1), False), (None, False)]  # as few as can be, and without the head


def test_functions_are_called_once_for_all_who_ask_for_the_same():
    calls = []

    def scaled(a, b, by=1):
        calls.append((len(a), by))
        return (a - b) * by

    def other(a):
        calls.append((len(a), "other"))
        return a

    a = [torch.arange(2.0 * n).reshape(n, 2) for n in (1, 3, 2, 4, 1)]
    questions = [
        Apply(scaled, [a[0], a[0] / 2], (3,)),
        Apply(scaled, [a[1], a[1] / 2], (3,)),
        Apply(scaled, [a[2], a[2] / 2], (4,)),
        Apply(other, [a[3]]),
        Apply(scaled, [a[4], a[4] / 2]),
    ]
    found = [answers[0] for answers in together([asks(question) for question in questions])]
    for answer, expected in zip(found, [1.5 * a[0], 1.5 * a[1], 2 * a[2], a[3], a[4] / 2], strict=True):
        assert torch.equal(answer, expected)
    assert sorted(calls, key=str) == [(1, 1), (2, 4), (4, "other"), (4, 3)]


def test_a_proposal_gives_its_rows_and_those_before_the_sampler():
    q = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.0, 0.4]], dtype=torch.float64)
    logits, cpu = torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.0, 3.0]]).double(), torch.device("cpu")
    drawn = Proposal([1, 2], q, lambda: logits)
    assert torch.equal(drawn.distributions(3, cpu), q)
    assert torch.equal(drawn.raw(3, cpu), logits.float().softmax(-1)) and drawn.raw(3, cpu).dtype == torch.float32
    copied = Proposal([1, 2])
    assert copied.distributions(4, cpu).tolist() == copied.raw(4, cpu).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert copied.distributions(4, cpu).dtype == torch.float64
    assert copied.shape == Tree.chain(2) and Proposal([1, 2], tree=Tree((-1, -1))).shape == Tree((-1, -1))
    assert Proposal([]).distributions(4, cpu).shape == (0, 4)


class Steps(Drafter):
    name = "steps"

    def drafting(self, text, gamma, sampler, uniforms):
        doubled = yield Apply(lambda rows: 2 * rows, [torch.tensor([[float(gamma)]])])
        return Proposal([int(doubled)])


def test_a_drafter_drafts_at_once_or_in_steps_and_either_can_be_asked():
    how = [0, 1], 3, Sampler(0.0), Uniforms()

    class Once(Drafter):
        name = "once"

        def drafting(self, text, gamma, sampler, uniforms):
            return Proposal([gamma])

    assert not torch.is_inference_mode_enabled()

    class Alone(Drafter):
        name = "alone"

        def drafting(self, text, gamma, sampler, uniforms):
            assert torch.is_inference_mode_enabled()  # also before the first step
            return Proposal([])

    assert Alone().propose(*how).tokens == []
    with pytest.raises(TypeError, match="Wrong has a `propose` of its own: write `drafting`"):

        class Wrong(Steps):
            def propose(self, text, gamma, sampler, uniforms):
                return Proposal([])

    assert (Steps().propose(*how).tokens, Once().propose(*how).tokens) == ([6], [3])
    assert [p.tokens for p in together([d.drafting(*how) for d in (Once(), Steps(), Once())])] == [[3], [6], [3]]


def test_a_drafter_without_parts_or_caches_says_so():
    drafter = LookupDrafter()
    assert (drafter.oracle, drafter.rows(), drafter.part([0])) == (False, [], "lookup")
    assert drafter.round_costs(lambda of: [1.0, 1.5] if of is drafter else []) == {"lookup": [1.0, 1.5]}
