"""Exercise 2: one round, what stays in the cache, and the loop."""

from collections.abc import Callable, Iterable, Sequence

from specdec_lab.grade.part import Wrong, begun, listed, part, shown, whole
from specdec_lab.trace import ACCEPTED, BONUS, CORRECTED, DISCARDED, REJECTED

MARKS = (ACCEPTED, REJECTED, DISCARDED, CORRECTED, BONUS)

ROUNDS = (  # (drafts, the target's choices at γ + 1 places)
    ([4, 8, 1, 9], [4, 8, 7, 9, 2]),  # agrees after the miss
    ([4, 8, 1, 9], [4, 8, 1, 9, 2]),  # all right
    ([5, 6, 7], [3, 6, 7, 1]),  # nothing right at the first place, all after it
    ([7, 0, 7, 7, 0], [7, 0, 3, 7, 5, 0]),  # equal tokens, and the token 0
    ([2], [2, 0]),
    ([2], [6, 5]),
    ([1, 2, 3, 4], [1, 2, 3, 5, 6]),  # misses at the end
    ([3, 1, 4, 1], [1, 4, 1, 5, 9]),  # right one place too late
    ([0, 0, 0], [0, 0, 0, 0]),
    ([1, 2, 3, 4, 5, 6], [1, 9, 3, 9, 5, 9, 9]),
)


def leading(a: Sequence[int], b: Sequence[int]) -> int:
    """How many tokens a and b have in common at their beginning."""
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return n


# Part 1


@part("2.round", points=3)
def one_round(made: Callable[[list, list], tuple]) -> None:
    """play(drafts, choices) → (tokens written, marks)."""
    begun(made)
    found = []
    for drafts, choices in ROUNDS:
        pair = listed(made(list(drafts), list(choices)), None, "What your function returns")
        if len(pair) != 2:
            raise Wrong(f"Your function should return two lists, the tokens and the marks; it returned {shown(pair)}.")
        found.append((pair[0], listed(pair[1], None, "The second result")))
    written = [listed(tokens, None, "The first result") for tokens, _ in found]
    if any(isinstance(token, str) for tokens in written for token in tokens):
        raise Wrong("The tokens that are written come first, then the marks.")
    written = [[whole(token, "A written token") for token in tokens] for tokens in written]
    if error := wrongly_written(written):
        raise error
    if error := wrongly_marked([marks for _, marks in found]):
        raise error


def case(drafts: Sequence[int], choices: Sequence[int]) -> str:
    return f"With the drafts {list(drafts)} and the choices {list(choices)}"


def wrongly_written(written: list[list[int]]) -> Wrong | None:
    """What is wrong with the tokens, if anything is; a way to write them is named if it explains all rounds."""
    kept = [leading(drafts, choices) for drafts, choices in ROUNDS]
    right = [[*drafts[:a], choices[a]] for (drafts, choices), a in zip(ROUNDS, kept)]
    if written == right:
        return None
    (drafts, choices), tokens, a, want = next(
        (*found, want) for *found, want in zip(ROUNDS, written, kept, right) if found[1] != want
    )
    seen = f"{case(drafts, choices)} you write {tokens}."

    def is_way(way: Callable[[list[int], list[int], int], list[int]]) -> bool:
        return all(way(d, c, a) == tokens for (d, c), tokens, a in zip(ROUNDS, written, kept))

    for way, said, misconception in WAYS:
        if is_way(way):
            return Wrong(f"{seen} {said}", misconception=misconception)
    if a < len(drafts) and tokens[: a + 1] == want and len(tokens) > a + 1:
        late = matching(drafts[a + 1 :], choices[a + 1 :])
        return Wrong(f"{seen} {AFTER_A_MISS}", misconception=1 if set(tokens[a + 1 :]) <= set(late) else None)
    place = f"the first miss is at place {a + 1}" if a < len(drafts) else "there is no miss"
    return Wrong(f"{seen} Here {place}, so {want} is written.")


def matching(drafts: list[int], choices: list[int]) -> list[int]:
    return [x for x, y in zip(drafts, choices) if x == y]


AFTER_A_MISS = (
    "After the first miss nothing counts: the choices there were computed behind a draft that is not in the text."
)
NO_OWN = "The target's own token is missing"
WAYS = (  # (what is written with γ drafts, the choices and a right ones; what is said; misconception)
    (lambda d, c, a: matching(d, c), f"{AFTER_A_MISS} And {NO_OWN.lower()}.", 1),
    (lambda d, c, a: [*matching(d, c), c[a]], AFTER_A_MISS, 1),
    (lambda d, c, a: [*matching(d, c), c[-1]], AFTER_A_MISS, 1),
    (lambda d, c, a: [*matching(d, c), c[len(matching(d, c))]], AFTER_A_MISS, 1),
    (lambda d, c, a: c if a == len(d) else [*d[:a], c[a], *matching(d[a + 1 :], c[a + 1 :])], AFTER_A_MISS, 1),
    (lambda d, c, a: c, AFTER_A_MISS, None),
    (lambda d, c, a: c[:-1], f"{AFTER_A_MISS} And the bonus is missing.", None),
    (lambda d, c, a: d[:a], f"{NO_OWN}: a correction at the first miss, or a bonus behind the last draft.", 6),
    (
        lambda d, c, a: [*d[:a], *c[a : a + 1]] if a < len(d) else d,
        "The bonus is missing: if all drafts are right, the last choice is written as well.",
        6,
    ),
    (
        lambda d, c, a: d[:a] if a < len(d) else c,
        "The correction is missing: at the first miss the target's own choice is written.",
        6,
    ),
    (
        lambda d, c, a: [*d[:a], c[a]] if a < len(d) else [*d, d[-1]],
        "The bonus is the target's choice behind the last draft, and no draft.",
        10,
    ),
    (
        lambda d, c, a: d[: a + 1],
        "The bonus is missing, and the first draft that misses is not written; the target's choice stands there.",
        None,
    ),
    (
        lambda d, c, a: [*d[: a + 1], c[a]] if a < len(d) else c,
        "You write the rejected draft and its correction. The correction stands in its place.",
        None,
    ),
    (
        lambda d, c, a: d if a < len(d) else c,
        "You write all drafts. Only those before the first miss are written.",
        None,
    ),
    (lambda d, c, a: d, "You write all drafts, whatever the target says about them.", None),
    (lambda d, c, a: [*d, c[-1]], "You write all drafts, whatever the target says about them.", None),
    (
        lambda d, c, a: [*d[:a], c[-1]],
        "You always take the last choice. After a miss it is the choice at the place of the miss.",
        None,
    ),
    (
        lambda d, c, a: [*d[:a], c[min(a + 1, len(d))]],
        "The correction comes from one place too late: it is the choice at the place of the miss.",
        None,
    ),
    (
        lambda d, c, a: [*d[: leading(d, c[1:])], c[leading(d, c[1:])]],
        "You compare each draft with the choice one place later. The first choice is about the first draft.",
        None,
    ),
    (
        lambda d, c, a: [*d[: leading(d, c[1:])], c[leading(d, c[1:]) + 1]] if leading(d, c[1:]) < len(d) else c[1:],
        "You compare each draft with the choice one place later. The first choice is about the first draft.",
        None,
    ),
    (lambda d, c, a: [c[a]], "The accepted drafts are missing: they are written, too.", None),
)


def wrongly_marked(marks: list[list]) -> Wrong | None:
    """What is wrong with the marks, once the tokens are right: most of the points are earned."""
    earned = 2 / 3
    for (drafts, choices), found in zip(ROUNDS, marks):
        a, gamma = leading(drafts, choices), len(drafts)
        missed = [ACCEPTED] * a + [REJECTED] + [DISCARDED] * (gamma - a - 1) + [CORRECTED]
        right = missed if a < gamma else [ACCEPTED] * gamma + [BONUS]
        if found == right:
            continue
        seen = f"{case(drafts, choices)} your tokens are right, and your marks are {shown(found, 120)}."
        agree = [place for place in range(a + 1, gamma) if drafts[place] == choices[place]]
        for mark in found:
            if mark not in MARKS:
                return Wrong(f"{seen} {shown(mark)} is no mark: the words are {', '.join(MARKS)}.", earned)
        if any(found[place : place + 1] == [ACCEPTED] for place in agree):
            return Wrong(f"{seen} A draft after the first miss is never accepted, even if it agrees.", earned, 1)
        if a < gamma and found == [ACCEPTED] * a + [CORRECTED] + [DISCARDED] * (gamma - a - 1):
            return Wrong(
                f"{seen} The rejected draft and its correction are two tokens, with a mark each: rejected stands "
                "in the row of drafts, corrected at the end.",
                earned,
            )
        if found == right[:-1]:
            return Wrong(f"{seen} The mark of the target's own token is missing: it is the last one.", earned)
        if len(found) != gamma + 1:
            return Wrong(
                f"{seen} There should be {gamma + 1} marks: one for each draft, then one for the target's own token.",
                earned,
            )
        if found[-1] != right[-1] and found[:-1] == right[:-1]:
            return Wrong(
                f"{seen} The last mark should be {right[-1]}: the target's own token is a correction after a miss, "
                "and a bonus if there was none.",
                earned,
            )
        if a < gamma and REJECTED in found[a + 1 : gamma]:
            return Wrong(f"{seen} Only one draft is rejected. Those after it are not compared: discarded.", earned)
        if a < gamma and found[a] == DISCARDED:
            return Wrong(f"{seen} The first miss was compared, and is different: rejected.", earned)
        return Wrong(f"{seen} They should be {right}.", earned)
    return None


# Part 2

COUNTS = (  # (entries made, entries that stay) with γ drafts, a right ones, all that agree; what is said; misconception
    ("made", lambda g, a, m: g + 1 - a, "The target skips nothing: accepted drafts go through the pass, too.", 9),
    ("made", lambda g, a, m: g - a, "The target skips nothing: accepted drafts go through the pass, too.", 9),
    (
        "made",
        lambda g, a, m: a + 1,
        "The pass is finished before anything is compared. The drafts that will be rejected go through it, too.",
        None,
    ),
    (
        "made",
        lambda g, a, m: min(a + 1, g),
        "The pass is finished before anything is compared. The drafts that will be rejected go through it, too.",
        None,
    ),
    ("made", lambda g, a, m: g, "Besides the drafts, the last token of the text goes through the pass.", None),
    ("made", lambda g, a, m: g + 2, "You count a token too many: the target's own token is chosen, not computed.", None),
    ("made", lambda g, a, m: 1, "The drafts go through the pass, too: all at once, with an entry for each.", None),
    ("stay", lambda g, a, m: 1, "The accepted drafts are in the text, so their entries stay. They are not computed again.", 9),
    ("stay", lambda g, a, m: 0, "What the pass computed for tokens that are in the text may stay.", None),
    ("stay", lambda g, a, m: g + 1, "The entries of rejected and discarded drafts must go: those are not in the text.", None),
    ("stay", lambda g, a, m: g, "The entries of rejected and discarded drafts must go: those are not in the text.", None),
    ("stay", lambda g, a, m: a, "One more may stay. Which token went through the pass before the drafts?", None),
    (
        "stay",
        lambda g, a, m: a + 2,
        "The target's own token has no entry yet: it was chosen, but no pass has computed it.",
        None,
    ),
    ("stay", lambda g, a, m: min(a + 2, g + 1), "The entry of the rejected draft must go.", None),
    ("stay", lambda g, a, m: m + 1, "The drafts after the first miss are not in the text, even if they agree.", 1),
    ("stay", lambda g, a, m: m, "The drafts after the first miss are not in the text, even if they agree.", 1),
    ("stay", lambda g, a, m: g - a, "These are the entries that must go. The question is which may stay.", None),
)  # fmt: skip


@part("2.cache", points=2)
def cache(made: Callable[[list, list], tuple]) -> None:
    """entries(drafts, choices) → (entries that the pass makes, entries that may stay)."""
    begun(made)
    found = {"made": [], "stay": []}
    for drafts, choices in ROUNDS:
        pair = listed(made(list(drafts), list(choices)), None, "What your function returns")
        if len(pair) != 2:
            raise Wrong(f"Your function should return two numbers, made and stay; it returned {shown(pair)}.")
        for counts, value, what in zip(found.values(), pair, ("made", "stay")):
            counts.append(whole(value, what))
    about = [
        (len(drafts), leading(drafts, choices), len(matching(drafts, choices)), drafts, choices)
        for drafts, choices in ROUNDS
    ]
    right = {"made": [g + 1 for g, *_ in about], "stay": [a + 1 for _, a, *_ in about]}
    if found == right:
        return
    if found["made"] == right["stay"] and found["stay"] == right["made"]:
        raise Wrong("The two numbers are exchanged: first the entries that the pass makes, then those that may stay.")
    what = "made" if found["made"] != right["made"] else "stay"
    earned = 0.5 if found["made"] == right["made"] or found["stay"] == right["stay"] else 0.0
    (*_, drafts, choices), number, want = next(
        found for found in zip(about, found[what], right[what]) if found[1] != found[2]
    )
    seen = f"{case(drafts, choices)} your “{what}” is {number}."
    for which, count, said, misconception in COUNTS:
        if which == what and found[what] == [count(g, a, m) for g, a, m, *_ in about]:
            raise Wrong(f"{seen} {said}", earned, misconception)
    raise Wrong(f"{seen} It should be {want}.", earned)


# Part 3


def flat(tokens: Iterable[int]) -> list[int]:
    tokens = list(tokens)
    for token in tokens:
        if not isinstance(token, int):
            raise TypeError(f"extend takes one list of tokens, like [3, 1, 4]; in yours is {shown(token)}")
    return tokens


class ToyTarget:
    """A target so small that you can look into its cache. Like a real one it chooses by all that is in the cache.

    It has no language: a choice is computed from the tokens in the cache and their order. With one
    wrong token among them, all later choices are different.
    """

    def __init__(self) -> None:
        self._entries: list[int] = []
        self._states = [1]

    @property
    def entries(self) -> list[int]:
        """The tokens that have an entry (a copy: change them with extend and rewind)."""
        return list(self._entries)

    @property
    def length(self) -> int:
        return len(self._entries)

    def extend(self, tokens: Iterable[int]) -> list[int]:
        """One pass: an entry for each of these tokens, and the target's choice of what follows it."""
        choices = []
        for token in flat(tokens):
            self._entries.append(token)
            self._states.append((self._states[-1] * 48271 + 7919 * token) % 2147483647)
            choices.append(10 + self._states[-1] // 1000 % 90)
        return choices

    def rewind(self, length: int) -> None:
        """Forget all entries but the first `length`. A larger length changes nothing."""
        if not isinstance(length, int) or length < 0:
            raise TypeError(f"rewind takes the number of entries that stay, like 3; yours is {shown(length)}")
        del self._entries[length:]
        del self._states[length + 1 :]

    def __repr__(self) -> str:
        return f"ToyTarget(entries={self._entries})"


def written_alone(prompt: Sequence[int], n: int) -> list[int]:
    """What the target writes without drafts: plain decoding, n tokens."""
    target, text = ToyTarget(), list(prompt)
    target.extend(text[:-1])
    for _ in range(n):
        text += target.extend(text[-1:])
    return text[len(prompt) :]


Drafter = Callable[[list[int], int], list[int]]


def drafter(rights: Sequence[int | None]) -> Drafter:
    """Drafts of which the first so many are right, in turn by the length of the text; None: there are no drafts.

    The draft after these is wrong. Those behind it agree with what the target chooses there, as
    drafts do that a belief in agreement after a miss would keep.
    """

    def draft(text: list[int], most: int) -> list[int]:
        right = rights[len(text) % len(rights)]
        target, drafts = ToyTarget(), []
        if right is None or not text:
            return drafts
        choice = target.extend(text)[-1]
        while len(drafts) < most:
            drafts.append(choice if len(drafts) != right else 10 + (choice - 9) % 90)
            choice = target.extend(drafts[-1:])[0]
        return drafts

    return draft


class Watched(ToyTarget):
    """A target and a drafter that see what a loop does with them, and say so at the first mistake.

    What is right follows from the text that the target writes alone: entries that are no beginning
    of it are stale, and a draft that continues it is accepted.
    """

    def __init__(self, prompt: Sequence[int], n: int, gamma: int, draft: Drafter, end: int):
        super().__init__()
        self.prompt, self.n, self.gamma, self.end = list(prompt), n, gamma, end
        self.truth = [*prompt, *written_alone(prompt, n + 2 * gamma + 4)]
        self.drafting = draft
        self.text = list(prompt)  # as the drafter saw it last
        self.drafts: list[int] = []  # the newest proposal
        self.choices: list[int] = []  # of the newest pass
        self.given: list[int] | None = None  # drafts that went through the target since, if any did
        self.proposals = self.passes = self.valid = 0
        self.rewound: int | None = None  # since the newest pass
        self.error: Wrong | None = None

    def wrong(self, message: str, earned: float = 0.0, misconception: int | None = None) -> None:
        if self.error is None:
            self.error = Wrong(message, earned, misconception)
        raise self.error

    def new(self, text: Sequence[int]) -> list[int]:
        return list(text)[len(self.prompt) :]

    # What the loop calls

    def draft(self, text: Sequence[int], most: int) -> list[int]:
        text = listed(text, None, "The text that draft() gets")
        if most > self.gamma:
            said = f"Your loop asks for {most} drafts, and γ is {self.gamma}."
            if most == self.gamma + 1:
                self.wrong(f"{said} The token behind the drafts is the target's own, and no draft.", 0.0, 10)
            self.wrong(said)
        if text[: len(self.prompt)] != self.prompt:
            self.wrong("draft() needs the whole text: the prompt, and all that has been written so far.")
        if self.proposals and self.given is None and text != self.text:
            self.wrong("Your loop asks for drafts again before the target has checked the first ones.")
        if most < min(self.gamma, self.n - len(self.new(text)) - 1):
            if self.given and text == self.text + self.given == self.truth[: len(text)]:
                self.wrong(
                    "After a round with only right drafts your loop asks the drafter for one token more. "
                    "The bonus is the target's last choice of that pass.",
                    0.0,
                    10,
                )
            self.wrong(
                f"Your loop calls draft with {most}, and γ is {self.gamma}: draft(text, gamma) gives all drafts of a "
                "round at once.",
                0.5,
            )
        self.check_round(text)
        self.proposals += 1
        self.text, self.given = text, None
        self.drafts = self.drafting(text, max(0, most))
        return list(self.drafts)

    def extend(self, tokens: Iterable[int]) -> list[int]:
        tokens = flat(tokens)
        if tokens:
            self.check_pass(tokens)
        self.choices = super().extend(tokens)
        if tokens:
            self.passes += 1
            self.valid = max(self.valid, leading(self._entries, self.truth))
            self.rewound = None
        return list(self.choices)

    def rewind(self, length: int) -> None:
        super().rewind(length)
        self.rewound = length

    # What is looked at

    def check_round(self, text: list[int]) -> None:
        """Whether the round since the newest drafts wrote what it should."""
        if self.given is None:
            return
        before, drafts = self.text, self.given
        rest = self.truth[len(before) :]
        a = leading(drafts, rest)
        right, written = rest[: a + 1], text[len(before) :]
        if text[: len(before)] != before or len(written) == 0:
            self.wrong(
                "A round of your loop writes nothing: with no accepted draft there is still the target's own token."
                if text == before
                else "The text is shorter, or another one, after a round. A round only adds to it.",
                0.0,
                6 if text == before else None,
            )
        if written == right or (self.complete(text) and written == right[: len(written)]):
            return
        seen = self.seen(drafts, a, written)
        if a < len(drafts) and written[: len(drafts)] == drafts:
            self.wrong(
                f"{seen} Every draft is written, right or wrong, so the drafter decides the text. "
                "It may only decide how many passes the text takes.",
                0.0,
                11,
            )
        late = matching(drafts[a + 1 :], self.choices[a - len(drafts) :])
        if len(written) > a + 1 and written[: a + 1] == right:
            belief = 1 if a < len(drafts) and set(written[a + 1 :]) <= set(late) else None
            self.wrong(f"{seen} After the target's own token the round is over.", 0.0, belief)
        if a < len(drafts) and late and written[:a] == drafts[:a] and written[a : a + 1] == late[:1]:
            self.wrong(f"{seen} A draft after the first miss is not written, even if it agrees.", 0.0, 1)
        if a < len(drafts) and written[: a + 1] == drafts[: a + 1]:
            self.wrong(f"{seen} The draft that misses is not written: the target's choice stands in its place.")
        if written == right[:-1]:
            own = "bonus" if a == len(drafts) else "correction"
            self.wrong(f"{seen} The {own} is missing: each round ends with a token of the target's own.", 0.0, 6)
        if a == len(drafts) and written[:-1] == drafts:
            self.wrong(f"{seen} The bonus is the target's last choice, and no draft.", 0.0, 10 if drafts else None)
        if written == right[: len(written)]:
            self.wrong(f"{seen} More drafts were right: all before the first miss are written.")
        self.wrong(f"{seen} It should be {right}.")

    def seen(self, drafts: list[int], a: int, written: list[int]) -> str:
        misses = f"the first miss is at place {a + 1}" if a < len(drafts) else "all are right"
        given = f"With the drafts {drafts} ({misses})" if drafts else "Without drafts"
        return f"{given} your loop writes {written}."

    def check_pass(self, tokens: list[int]) -> None:
        """Whether the cache is right before a pass, and the pass begins where the cache ends."""
        entries, text = self._entries, self.text
        self.check_cache(entries)
        if self.proposals and self.complete(text):
            self.wrong(
                f"Your loop goes on after the end marker {self.end} was written. Look for it in all tokens of a round: it "
                "may stand among the accepted drafts."
                if self.end in self.new(text)
                else f"Your loop goes on after all {self.n} tokens were written.",
                0.5,
            )
        if self.proposals and self.given is not None:
            self.wrong(
                "There are several passes in a round of yours. One pass, over the last token and all drafts, "
                "gives all choices.",
                0.25,
            )
        missing = text[len(entries) :]
        if missing and tokens[: len(missing)] != missing[: len(tokens)]:
            self.gap(tokens, missing)
        if entries == text and tokens[0] == text[-1] and tokens[1:2] == self.drafts[:1]:
            self.wrong(
                "The last token of the text goes through the target twice: it had an entry already. "
                "Before a round the cache has all of the text but its last token."
            )
        if len(entries) < self.valid:
            self.wrong(
                f"Your text may be right, but your rewind keeps {len(entries)} entries where {self.valid} were right: "
                "the pass computes tokens again that had an entry.",
                0.5,
            )
        given = tokens[len(missing) :]
        if self.proposals and (len(tokens) >= len(missing)):
            room = self.n - len(self.new(text)) - 1
            if given != self.drafts[: len(given)]:
                self.wrong(f"The drafts were {self.drafts}, but your loop gives {given} to the target.")
            if len(given) < min(len(self.drafts), room):
                self.wrong(
                    f"The drafts were {self.drafts}, but your loop gives {given or 'none of them'} to the target: "
                    "one pass checks all of them."
                )
            self.given = given

    def complete(self, text: Sequence[int]) -> bool:
        return len(self.new(text)) >= self.n or self.end in self.new(text)

    def check_cache(self, entries: list[int]) -> None:
        right = leading(entries, self.truth)
        if right == len(entries):
            return
        stale = f"The cache has {len(entries)} entries, and only the first {right} belong to the text"
        if self.rewound is None:
            self.wrong(
                f"{stale}: the drafts that missed are still in it, so the target chooses by words that were never "
                "written. Rewind after the round."
            )
        if len(entries) == right + 1:
            self.wrong(
                f"{stale}: your rewind keeps one too many. The target's own token has no entry yet, so in its place is "
                "the rejected draft."
            )
        self.wrong(f"{stale}: your rewind keeps too many.")

    def gap(self, tokens: list[int], missing: list[int]) -> None:
        if self.length and tokens[: len(self.text)] == self.text:
            self.wrong(
                "Your pass gives the whole text to the target, though most of it has an entry already. "
                "Only what has no entry goes through a pass: the last token, and the drafts."
            )
        if not self.passes:
            self.wrong(
                "The cache is empty in your first round: the prompt has to go through the target, "
                "all but its last token before the round."
            )
        if self.drafts and tokens[0] == self.drafts[0]:
            self.wrong("Your pass begins with the drafts. The last token of the text goes first: it has no entry yet.")
        if tokens[0] == missing[-1]:
            self.wrong(
                f"Your rewind goes too far: the cache has {self.length} entries and the text {len(self.text)} tokens. "
                "All of the text but its last token must be in the cache"
                + (", the accepted drafts as well." if len(missing) > 2 else "."),
                0.0,
                9 if len(missing) > 2 else None,
            )
        self.wrong(f"The cache ends before {missing}, but your pass begins with {tokens[0]}.")


PROMPT = [17, 23, 5, 42]


def prompt_with_end() -> tuple[list[int], int]:
    """A prompt in which the end marker occurs, and that marker; it is written as token 6."""
    for first in range(10, 100):
        for second in range(10, 100):
            prompt = [first, second, 33, 8]
            text = written_alone(prompt, 12)
            if text[6] == first and first not in text[:6]:
                return prompt, first
    raise AssertionError


def runs() -> list[Watched]:
    """Every kind of round; then an end marker and a limit at every place of a round."""
    mixed, right, wrong = [2, 4, 0, 3, 1, None, 4], [9], [0]
    kinds = [
        (PROMPT, 30, 4, drafter([2]), -1),  # two right ones in every round
        (PROMPT, 23, 4, drafter(right), -1),
        (PROMPT, 9, 3, drafter(wrong), -1),
        ([61], 31, 5, drafter(mixed), -1),
        (PROMPT[::-1], 30, 1, drafter([0, 1, 1]), -1),
        (PROMPT, 8, 4, drafter([None]), -1),
        *((PROMPT, n, 4, drafter(right), -1) for n in (1, 2, 4, 5, 6, 8)),
        *((PROMPT, n, 4, drafter([2]), -1) for n in (1, 2, 3, 5)),
    ]
    alone = written_alone(PROMPT, 16)
    kinds += [(PROMPT, 16, 4, drafter(right), token) for i, token in enumerate(alone) if token not in alone[:i]]
    kinds += [(PROMPT, 16, 4, drafter([2]), token) for i, token in enumerate(alone[:7]) if token not in alone[:i]]
    drafts = drafter([2])(PROMPT, 4)
    behind = ToyTarget().extend([*PROMPT, *drafts])[-1]
    kinds += [(PROMPT, 14, 4, drafter([2]), token) for token in (drafts[2], drafts[3], behind)]  # never written
    prompt, end = prompt_with_end()
    kinds += [(prompt, 12, 4, drafter(kind), end) for kind in (right, wrong)]
    return [Watched(*kind) for kind in kinds]


@part("2.loop", points=4)
def loop(made: Callable[..., list]) -> None:
    """speculate(prompt, n, target, draft, gamma, end) → the new tokens."""
    begun(made)
    for watched in runs():
        prompt = list(watched.prompt)
        try:
            result = made(prompt, watched.n, watched, watched.draft, watched.gamma, watched.end)
        except Exception:
            if watched.error is not None:
                raise watched.error from None
            raise
        if watched.error is not None:  # caught by the learner's code
            raise watched.error
        if result is None and watched.passes + watched.proposals:
            raise Wrong("Your function returns nothing: return the list of new tokens.")
        tokens = listed(result, None, "What your function returns")
        judge_text(watched, tokens)
        if prompt != watched.prompt:
            raise Wrong("Your function changes the prompt that it is given. Work on a copy: list(prompt).", 0.75)


def judge_text(run: Watched, tokens: list) -> None:
    """The text that came back, and whether it was made with drafts."""
    wanted = run.truth[len(run.prompt) :][: run.n]
    if run.end in wanted:
        wanted = wanted[: wanted.index(run.end) + 1]
    if tokens == wanted:
        if not run.proposals and len(wanted) > 1:  # the prefill may give the first token
            raise Wrong("The text is right, but your loop never asks for drafts: this is plain decoding.")
        return
    if tokens == run.prompt + wanted:
        raise Wrong("Your function returns the prompt as well. Return only the new tokens.", 0.75)
    if tokens[: len(wanted)] == wanted:
        if run.end in wanted:
            raise Wrong(
                f"What follows the end marker must not be written: it is {run.end}, and your text is "
                f"{shown(tokens)}. It may stand among accepted drafts.",
                0.5,
            )
        raise Wrong(
            f"Your function returns {len(tokens)} tokens for n = {run.n}: the last round may write too many.", 0.5
        )
    if tokens == wanted[: len(tokens)]:
        if tokens == wanted[:-1] and run.end in wanted:
            raise Wrong("The end marker itself is missing: it is the last token that you return.", 0.75)
        if run.end in run.prompt:
            raise Wrong("Your text stops too early: the end marker in the prompt does not count.", 0.5)
        if run.end not in wanted and run.end >= 0:
            raise Wrong(
                f"Your text stops too early: the end marker {run.end} was among drafts or choices, but not written.",
                0.5,
            )
        raise Wrong(f"Your text stops after {len(tokens)} tokens, and there should be {len(wanted)}.", 0.25)
    run.check_round(run.prompt + tokens)
    raise Wrong(f"Your text is {shown(tokens)}; without drafts the target writes {shown(wanted)}.")
