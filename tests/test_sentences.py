"""What a wrong answer is told, word for word, and what it earns: the sentence is about this very answer.

The numbers were worked out by hand, or follow from those of the exercise.
"""

import math

import build_exercises as build
import pytest
from test_exercises import SOURCES, points
from test_grading import ALL_WRONG

from specdec_lab.course.judges.check import PARTS
from specdec_lab.course.judges.designs.which import PAIRS, RULES
from specdec_lab.course.judges.load import machines
from specdec_lab.course.judges.part import judged
from specdec_lab.theory import acceptance, emitted, residual

ANSWERS = {param.id: param.values[:2] for param in ALL_WRONG}
TOLD = {  # name of an answer in tests/answers → (its points, what is said)
    "1.bytes: something else": (0, "bytes_read(8e+09, 16, 1) is 1e+10 with your code, and it should be 1.6e+10."),
    "1.ceiling: whole passes": (0, "most_tokens(1.6e+10, 3.35e+12, 1) is 209 with your code, and it should be 209.4."),
    "1.v: asks for too much": (2, "pass_seconds is right. In v: Your code asks for T(1000), which is no pass of a round with these drafts."),
    "1.v: v, twice": (2, "pass_seconds is right. In v: all your numbers are twice too large: a factor of 2 stands where it should not, or is missing below."),
    "2.round: something else": (0, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 7, 9, 2] you write [1, 2]. Here the first miss is at place 3, so [4, 8, 7] is written."),
    "2.round: one token behind the bonus": (0, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 1, 9, 2] you write [4, 8, 1, 9, 2, 7]. Here there is no miss, so [4, 8, 1, 9, 2] is written."),
    "2.round: marks shuffled": (2, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 7, 9, 2] your tokens are right, and your marks are ['rejected', 'accepted', 'rejected', 'discarded', 'corrected']. They should be ['accepted', 'accepted', 'rejected', 'discarded', 'corrected']."),
    "2.cache: something else": (1, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 7, 9, 2] your “stay” is 2. It should be 3."),
    "3.rule: keeps one half": (0, "With p = [0.5, 0.3, 0.2] and q = [0.7, 0.1, 0.2] what comes out is [0.35, 0.55, 0.1], and not p. Check both steps: accept if u · q < p, and look w up in the residual after a rejection."),
    "4.claim: never None": (1, "For α = .3 and the claimed number 2 your second result is 30. (The first one, 1.43 for γ = 5, is right.) The nearest γ is not enough: where no γ comes within .05 of the claimed number, the answer is None."),
    "4.claim: text": (1, "For α = .7 and the claimed number 2.8 the second result should be a γ or None; it is 'five'."),
    "4.claim: swapped": (1, "The two results are swapped: first the tokens per pass, then the γ."),
    "4.rate: the first text only": (0, "For texts whose rounds accept 4 4 3, 0 1 0 0 2 0 0 1 0 1 drafts your function gives .917. Count the accepted drafts, count those that were examined (accepted or rejected), and divide."),
    "4.tokens: α = 0 gives 2": (1.5, "For α = 0 and γ = [4, 0, 1] your function gives [2, 2, 2]; no draft is kept there."),
    "5.best: always 1": (0, "For α = .8, d = [0, .3, .6, .9, 1.2, 1.5, 1.8, 2.1, 2.4], v = [1, 1, 1, 1, 1, 1, 1, 1, 1] and o = 0 your function gives γ = 1; S is 1.38, and the best S is 1.55. Compute S for every γ in the lists, with S = 1 for γ = 0, and compare."),
    "5.best: beyond the lists": (0, "For α = .8, d = [0, .3, .6, .9, 1.2, 1.5, 1.8, 2.1, 2.4], v = [1, 1, 1, 1, 1, 1, 1, 1, 1] and o = 0 your function gives γ = 9; there is no such γ in the lists, and the best S is 1.55. Compute S for every γ in the lists, with S = 1 for γ = 0, and compare."),
    "5.best: the speed-up": (1, "Your function gives 1.55: this is the speed-up. Give back the γ that reaches it."),
    "5.least: something else": (0, "For γ = 1 and a round that costs 1.3 your function gives .5. At that α a round writes 1.5 tokens."),
    "5.least: too often None": (0, "For γ = 4 and a round that costs 2.2 your function gives None. But α = 1 writes 5 tokens, which is enough."),
    "5.least: nothing at the upper edge": (1.5, "For γ = 3 and a round that costs 4 your function gives None. A round that writes γ + 1 tokens for a cost of γ + 1 comes out even: α = 1 is just enough."),
    "5.least: a coarse grid": (1.5, "For γ = 4 and a round that costs 2.2 your function gives .58. Near, but not near enough: it should be right to .0005. Halve the interval more often."),
    "5.pick: a difference": (0, "On a table where 'model' with γ = 3 reaches 1.76, your function takes ('model', 2), which reaches 1.7. Its texts are [(245, 100), (121, 50)], with d = .27, v = 1.1, o = .02. What is its speed-up by your code?"),
    "5.pick: never anything": (0, "On a table where 'wide' with γ = 4 reaches 2.15, your function takes (None, 0), which reaches 1. Whatever is above 1 beats plain decoding."),
    "5.pick: always one": (2, "On a table where no row reaches 1, your function takes ('half', 2). Where nothing beats plain decoding, give (None, 0)."),
    "6.propose: the whole rest": (0, "For the text [1, 2, 3, 9, 8, 1, 2, 3] and γ = 2 the proposal should be [9, 8]; yours is [9, 8, 1, 2, 3]. Which run matches the end of the text, where does it stand, and what follows it?"),
    "6.improve: two at least, four at most": (2, "Your drafter brings 1.42 tokens per cost, 1.150 times the plain version (1.24); the steps are 1.05, 1.12, 1.18. It is silent in 65% of the rounds. A wrong draft does not spoil the text, it only costs .1: try more often, with fewer tokens where you are less sure."),
    "7.gain: something else": (0, "For T(n) = max(1, n/40), 1 texts, γ = 3 and α = .8 the gain is 2.95; yours is 2. How many tokens does a step write, and what does it cost, with and without?"),
    "7.crossover: always 27": (0, "For T(n) = max(1, n/40), D(n) = .1, γ = 3, α = .8 and at most 26 texts the answer is None; yours is 27. For how many texts do the drafter's passes and the target's wide one cost more than E plain passes for the first time?"),
    "8.whole: something else": (0, "With .5 s to the first token, .02 s for each further one, 201 tokens and ratio 2 the answer is 1.8 times as fast; yours is 1. What is the whole time without drafts, and with?"),
    "8.survival: something else": (1, "For the cards [(200, [.8, .6, .45])] α by place is [.8, .75, .75]; yours is [.5, .5, .5]. Of the rounds that got to a place, on all cards together, how many got past it?"),
    "8.survival: other tokens": (1, "The α's are right. For the cards [(200, [.8, .6, .45])] tokens per pass are 2.85; yours are 2. How many drafts does a round keep on average, and what does the target add?"),
    "8.decide: always unclear": (1, "In a report like “editing” (eagle 1.40 from 1.25 to 1.55; lookup 1.61 from 1.33 to 1.90; 30 prompts) the decision should be 'deploy'; yours is 'unclear'. Are there enough prompts, and where does the interval lie?"),
    "8.decide: other kinds": (2, "In a report like “stories” (lookup .94 from .91 to .97; eagle .88 from .83 to .93; 24 prompts) the list of kinds should be []; yours is ['chat']. For which kinds is the ratio of this drafter below 1?"),
    "9.c2: ratios above 1": (0.67, "About the chances: A chance is at most 1, and one of yours is 3.67. What if p/q is larger than 1?"),
    "10.decide: the first": (0, "With 1 texts, T = {1: 20.0, 2: 20.2, 3: 20.6, 5: 21.8, 9: 24.0, 12: 27.0, 17: … and the shapes ['chain 2', 'chain 4', 'tree 8', 'tree 16'] your function takes 'chain 2'; 'tree 8' is faster. Times plain is E / (d + v), and v is T(texts · (drafts + 1)) / T(texts). Plain decoding is 1."),
    "10.offer: always the first": (0, "With p = [0.5, 0.3, 0.2], q = [0.2, 0.2, 0.6] and two drafts, what comes out is [0.2, 0.2, 0.6], and not p. Test the first with p. Test the second with what the first one left. If both are refused, draw from what the second one left of that."),
    "11.which: always exact": (0, "With p = [0.5, 0.3, 0.2], q = [0.2, 0.2, 0.6] and the counts [4037, 3950, 12013] your function says 'exact'; it was 'likely enough'. You name the same rule each time."),
    "12.paid: something else": (0, "A step of 20 ms, 1.7 times plain before and 2.1 after, 10 minutes of training: your function gives 12; it should be 267750. A token takes step / S milliseconds. What a token saves, and how often that is the time of the training?"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_the_sentence_is_about_this_answer(name):
    part, answer = ANSWERS[name]
    verdict = judged(part, *answer) if isinstance(answer, tuple) else judged(part, answer)
    assert (verdict.points, verdict.message) == TOLD[name]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_worth_what_its_exercise_says(part):
    pieces = [piece for source in SOURCES for piece in source.read_text(encoding="utf-8").split("\n## Part ")[1:]]
    (piece,) = (piece for piece in pieces if part in build.CHECK.findall(piece))
    assert int(piece.partition(" point")[0].split()[-1]) == points(piece)


@pytest.mark.parametrize("machine", [x for x in vars(machines).values() if isinstance(x, machines.Pass)], ids=str)
def test_7_a_machine_costs_what_is_said_of_it(machine):
    formula = machine.formula.replace("·", "*").replace("^", "**").replace("⌈", "math.ceil(").replace("⌉", ")")
    for n in (1, 2, 16, 25, 40, 48, 100, 1000):
        assert machine(n) == pytest.approx(eval(formula, {"n": n, "max": max, "math": math}), rel=0.01)
    assert repr(machine) == f"{machine.name}(n) = {machine.formula}"


# 11.which: the rules are given, and what they do is said in the exercise

P, Q = (0.45, 0.35, 0.15, 0.05), (0.1, 0.0, 0.6, 0.3)


def test_11_which_rules_do_what_they_are_called():
    kept, rest = RULES["exact"](P, Q)
    assert emitted(P, Q, kept, rest) == pytest.approx(P)
    assert sum(b * a for a, b in zip(kept, Q)) == pytest.approx(acceptance(P, Q))
    assert RULES["p again"](P, Q) == (kept, P)
    assert RULES["likely enough"](P, Q) == ([1, 1, 1, 0], P)
    assert RULES["one of the best two"](P, Q) == ([1, 1, 0, 0], residual(P, Q))
    assert all(0 <= chance <= 1 for chance in kept)


@pytest.mark.parametrize("pair", PAIRS)
def test_11_which_rules_can_be_told_apart(pair):
    outputs = [emitted(*pair, *rule(*pair)) for rule in RULES.values()]
    for i, one in enumerate(outputs):
        assert all(sum(abs(a - b) for a, b in zip(one, other)) > 0.1 for other in outputs[:i])
