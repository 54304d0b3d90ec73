"""Questions of several drafters that are answered together. (Rows and passes: test_batch.)"""

import torch

from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.lockstep import Apply, run_in_lockstep


def asks(*questions):
    """A drafter that returns all answers."""
    answers = []
    for question in questions:
        answers.append((yield question))
    return answers


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
    found = [answers[0] for answers in run_in_lockstep([asks(question) for question in questions])]
    for answer, expected in zip(found, [1.5 * a[0], 1.5 * a[1], 2 * a[2], a[3], a[4] / 2], strict=True):
        assert torch.equal(answer, expected)
    assert sorted(calls, key=str) == [(1, 1), (2, 4), (4, "other"), (4, 3)]


def test_a_proposal_gives_its_rows_and_those_before_the_sampler():
    q = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.0, 0.4]], dtype=torch.float64)
    logits, cpu = torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.0, 3.0]]).double(), torch.device("cpu")
    drawn, copied = Proposal([1, 2], q, lambda: logits), Proposal([1, 2])
    assert torch.equal(drawn.distributions(3, cpu), q)
    assert torch.equal(drawn.raw(3, cpu), logits.float().softmax(-1))
    assert copied.distributions(4, cpu).tolist() == copied.raw(4, cpu).tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert Proposal([]).distributions(4, cpu).shape == (0, 4)
