"""Exercise 6: prompt lookup, and a better one."""

import functools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources

from specdec_lab.grade.cases import Mistake, answers, explained, named
from specdec_lab.grade.part import Wrong, begun, listed, part, shown, whole
from specdec_lab.numbers import bare

Propose = Callable[[list[int], int], Sequence[int]]

# Part 1: the plain version


def place(text: Sequence[int], lengths: Sequence[int], ends: Callable[[int, int], Sequence[int]] | None = None):
    """(length, end) of the first match with the end of the text, in this order of lengths and places; or None."""
    size = len(text)
    for n in lengths:
        for end in range(size - 1, n - 1, -1) if ends is None else ends(n, size):
            if 0 < n <= end and list(text[end - n : end]) == list(text[size - n :]):
                return n, end
    return None


def onwards(text: Sequence[int], begin: int, gamma: int) -> list[int]:
    """gamma tokens from the place `begin`; where the text ends, the copy goes on with itself."""
    out = list(text)
    for i in range(begin, begin + gamma):
        out.append(out[i])
    return out[len(text) :]


def lookup(text: Sequence[int], gamma: int, longest: int = 3) -> list[int]:
    found = place(text, range(longest, 0, -1))
    return onwards(text, found[1], gamma) if found else []


def _other(lengths: Sequence[int] = (3, 2, 1), ends=None, begin=lambda n, end: end, copy=onwards) -> Propose:
    """Lookup with something changed: the lengths, the places, where the copy begins, or how it is made."""

    def made(text: Sequence[int], gamma: int) -> list[int]:
        found = place(text, lengths, ends)
        return copy(text, begin(*found), gamma) if found else []

    return made


def _one_by_one(text: Sequence[int], gamma: int) -> list[int]:
    out: list[int] = []
    for _ in range(gamma):
        out += lookup([*text, *out], 1)
    return out


CASES: tuple[tuple[list[int], int], ...] = (
    ([1, 2, 3, 9, 8, 1, 2, 3], 2),
    ([4, 5, 6, 7, 2, 6, 8, 4, 5, 6], 3),  # the longest run, though a shorter one stands nearer
    ([1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3], 4),  # twice: the later one
    ([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 2),  # a run of two stands nearer, and goes on differently
    ([1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 1, 2, 3], 2),  # what was copied stands nearer, too
    ([3, 7, 1, 9, 6, 4, 3, 5, 2, 1, 9], 4),  # a run of two
    ([6, 1, 4, 2, 5, 8, 4], 3),  # a run of one
    ([1, 2, 3, 4, 5], 3),  # nothing
    ([7, 7], 3),  # right before the end, and the copy goes on with itself
    ([1, 2, 1, 2], 5),
    ([3, 5, 5, 5], 4),
    ([1, 2, 1, 9, 1, 2, 1, 2, 1], 3),  # the match and the end of the text share a token
    ([9, 4, 4, 1, 8, 2, 4, 4, 1, 8, 3, 7, 2, 4, 1, 8], 3),  # three match in both; four in neither
    ([7, 1, 2, 3, 4, 5, 1, 2, 3, 9, 7, 1, 2, 3], 2),  # a run of four, longer than it may be, stands further back
    ([8, 6, 8], 6),
    ([5], 4),
    ([], 4),
    ([1, 2, 1, 2], 0),
)
BEGINS_LATE = "A run may also stand at the very beginning of the text; you begin your search one place too late."
MISTAKES = (
    Mistake(
        "Did you find the end of the text itself? It always matches, and nothing follows it: look only for places that something follows.",
        lambda text, gamma: [],
    ),
    Mistake(
        "You propose all that follows, and not at most γ tokens: each draft is a row that the target must compute.",
        lambda text, gamma: (
            onwards(text, found[1], max(gamma, len(text) - found[1])) if (found := place(text, (3, 2, 1))) else []
        ),
        8,
    ),
    Mistake("You take the earliest place; take the most recent one.", _other(ends=lambda n, size: range(n, size))),
    Mistake("You copy the tokens that match; copy those that follow them.", _other(begin=lambda n, end: end - n)),
    Mistake(
        "Your copy begins one token too late: it must begin right behind the match.",
        _other(
            begin=lambda n, end: end + 1,
            copy=lambda text, begin, gamma: onwards(text, begin, gamma) if begin < len(text) else [],
        ),
    ),
    Mistake(
        "Your copy begins one token too late: it must begin right behind the match.",
        _other(begin=lambda n, end: end + 1, copy=lambda text, begin, gamma: list(text[begin : begin + gamma])),
    ),
    Mistake(
        "Your copy stops where the text ends. Let it go on with what it has copied itself.",
        _other(copy=lambda text, begin, gamma: list(text[begin : begin + gamma])),
    ),
    Mistake(
        "You give up when no run of three is found; then look for two, and then for one. A wrong draft does no harm: it is refused.",
        _other((3,)),
    ),
    Mistake("You look at the last token first, or only at it; begin with a run of three, then two.", _other((1,))),
    Mistake("You look for runs of two at most; begin with three.", _other((2, 1))),
    Mistake("You stop before runs of one token; the last token alone counts, too.", _other((3, 2))),
    Mistake(
        "You also look for runs of four or more tokens; three is the most here.", lambda t, g: lookup(t, g, len(t))
    ),
    Mistake("You also look for runs of four tokens; three is the most here.", lambda t, g: lookup(t, g, 4)),
    Mistake(
        "A match may also end one token before the end of the text: in 7 7 the first 7 is a place.",
        _other(ends=lambda n, size: range(size - 2, n - 1, -1)),
    ),
    Mistake(
        "A match may share tokens with the end of the text: in 1 2 1 2 1 the run 1 2 1 stands twice.",
        _other(ends=lambda n, size: range(size - n, n - 1, -1)),
    ),
    Mistake(BEGINS_LATE, _other(ends=lambda n, size: range(size - 1, n, -1))),
    Mistake(
        "You look for a new place after each copied token. Find one place, and copy all tokens from there.", _one_by_one
    ),
    Mistake(
        "With γ = 0 there is nothing to propose; your function proposes a token.",
        lambda text, gamma: lookup(text, gamma or 1),
    ),
)


def drafts(value: object) -> list[int]:
    """What a drafter returned, as a list of whole numbers."""
    return [whole(token, "A proposed token") for token in listed(value, None, "What your function returns")]


@part("6.propose", points=3)
def propose(made: Propose) -> None:
    """propose(text, gamma) → at most gamma token ids."""
    found = [drafts(value) for value in answers(made, CASES)]
    given = list(CASES[1][0])
    made(given, 3)
    if given != CASES[1][0]:
        raise Wrong("Your function changes the text that it is given. Work on a copy: the target still needs it.")
    for (text, gamma), proposed in zip(CASES, found):
        if proposed != (right := lookup(text, gamma)):
            before = (
                f"For the text {text} and γ = {gamma} the proposal should be {right}; yours is {shown(proposed, 60)}."
            )
            mistake = explained(MISTAKES, CASES, found, lambda a, b: a == b)
            raise named(
                mistake, before, "Which run matches the end of the text, where does it stand, and what follows it?"
            )


# Part 2: a better one

PRICE = 0.1  # plain passes that each draft costs, right or wrong
GAMMA = 8
STEPS = (1.05, 1.12, 1.18)  # times the plain version; two different ideas were tried that reach the last one
KNOWS = 1.55  # times the plain version, when of all matches the best is known beforehand, and its length
VOCABULARY = 49_152


@dataclass(frozen=True)
class Text:
    """A prompt and the answer that the course's target gives greedily, as token ids."""

    id: str
    kind: str
    prompt: list[int]
    answer: list[int]


@dataclass(frozen=True)
class Replayed:
    """What a drafter brought on some texts. silent: rounds without a draft."""

    tokens: int
    passes: int
    drafted: int
    silent: int

    @property
    def per_pass(self) -> float:
        return self.tokens / self.passes

    @property
    def per_cost(self) -> float:
        """Tokens for each plain pass of cost: a round costs one, and PRICE for each draft."""
        return self.tokens / (self.passes + PRICE * self.drafted)

    def __add__(self, other: "Replayed") -> "Replayed":
        return Replayed(
            self.tokens + other.tokens,
            self.passes + other.passes,
            self.drafted + other.drafted,
            self.silent + other.silent,
        )


@functools.cache
def stored() -> dict:
    file = resources.files("specdec_lab").joinpath("data/exercises/copying.json")
    return json.loads(file.read_text(encoding="utf-8"))


def texts() -> list[Text]:
    """The recorded texts of the exercise."""
    return [Text(t["id"], t["kind"], list(t["prompt"]), list(t["answer"])) for t in stored()["texts"]]


def written(ids: Sequence[int]) -> str:
    """Token ids of these texts as text."""
    return "".join(stored()["words"].get(str(i), "?") for i in ids)


def replay(made: Propose, text: Text, gamma: int = GAMMA) -> Replayed:
    """Write the answer in rounds: the drafter sees the text so far, and what agrees with the answer is accepted."""
    done = passes = drafted = silent = 0
    while done < len(text.answer):
        so_far = text.prompt + text.answer[:done]
        proposed = drafts(made(list(so_far), gamma))
        if len(proposed) > gamma:
            raise Wrong(
                f"Your drafter proposed {len(proposed)} tokens where γ = {gamma} is the most: longer drafts are refused.",
                misconception=8,
            )
        known, accepted = set(so_far), 0
        for draft, token in zip(proposed, text.answer[done:]):
            if draft != token:
                break
            if token not in known:
                raise Wrong(
                    "A draft of yours was right, though its token had not stood in the text so far: "
                    "whoever copies cannot know it. Use `text` only, and nothing that knows the answer."
                )
            accepted += 1
        done = min(len(text.answer), done + accepted + 1)
        passes, drafted, silent = passes + 1, drafted + len(proposed), silent + (not proposed)
    return Replayed(len(text.answer), passes, drafted, silent)


def together(made: Propose, some: Sequence[Text], gamma: int = GAMMA) -> Replayed:
    return sum((replay(made, text, gamma) for text in some), Replayed(0, 0, 0, 0))


def compare(made: Propose) -> None:
    """Print what a drafter brings on each text, beside the plain version."""
    if made([1, 2, 1], GAMMA) is None:
        print("Nothing to compare yet: your drafter returns nothing.")
        return
    print(f"{'':18}   tokens per pass      tokens per cost\n{'':18}   plain     yours      plain     yours")
    try:
        rows = [(t.id, replay(lookup, t), replay(made, t)) for t in texts()]
    except Wrong as e:
        print(e)
        return
    rows.append(("all", together(lookup, texts()), together(made, texts())))
    for name, plain, yours in rows:
        print(f"{name:18}{plain.per_pass:8.2f}{yours.per_pass:10.2f}{plain.per_cost:11.2f}{yours.per_cost:10.2f}")


def renamed(text: Text, seed: int) -> Text:
    """The same text with other numbers for its tokens: what follows what stays, and no number can be known."""
    ids = sorted({*text.prompt, *text.answer})
    other = dict(zip(ids, random.Random(seed).sample(range(VOCABULARY), len(ids))))
    return Text(text.id, text.kind, [other[i] for i in text.prompt], [other[i] for i in text.answer])


@functools.cache
def plain() -> Replayed:
    return together(lookup, texts())


@part("6.improve", points=3, seconds=60)
def improve(made: Propose) -> None:
    """better(text, gamma) → at most gamma token ids; judged by tokens per cost."""
    begun(made)
    begun(made([5, 6, 7, 5, 6], GAMMA))
    yours, base = together(made, [renamed(t, seed) for seed, t in enumerate(texts())]), plain()
    times = yours.per_cost / base.per_cost
    if times > KNOWS:
        raise Wrong(
            f"Your drafter brings {times:.2f} times the plain version. Whoever knew at each place which match is right, "
            f"and for how long, would reach {KNOWS}: these drafts come from the answer. Use `text` only."
        )
    reached = sum(times >= step for step in STEPS)
    if reached < len(STEPS):
        said = bare(
            f"Your drafter brings {yours.per_cost:.2f} tokens per cost, {times:.3f} times the plain version "
            f"({base.per_cost:.2f}); the steps are {', '.join(map(str, STEPS))}."
        )
        advice, misconception = advised(yours, base, times)
        raise Wrong(f"{said} {advice}", reached / len(STEPS), misconception)


def advised(yours: Replayed, base: Replayed, times: float) -> tuple[str, int | None]:
    """What to think about next, and the belief that a bad result shows."""
    silent, most = yours.silent / yours.passes, yours.drafted / yours.passes
    if silent > 0.6:
        risk = f"A wrong draft does not spoil the text, it only costs {bare(str(PRICE))}"
        return (
            f"It is silent in {silent:.0%} of the rounds. {risk}: try more often, with fewer tokens where you are less sure.",
            11 if times < 1 else None,
        )
    if times < 1 and yours.per_pass > base.per_pass:
        return (
            f"It has more tokens per pass ({yours.per_pass:.2f} against {base.per_pass:.2f}), but it drafts {most:.1f} tokens in a round, and each one costs.",
            7,
        )
    if abs(times - 1) < 0.02 and most > 4:
        return (
            f"It drafts {most:.1f} tokens in a round, and most of them stand behind a miss: when is it worth copying fewer?",
            8,
        )
    if times < 1:
        return "Where are its drafts wrong, and where does it miss what the plain version finds?", None
    return "After how long a match is a copy mostly right? Let that decide how many tokens you copy.", None
