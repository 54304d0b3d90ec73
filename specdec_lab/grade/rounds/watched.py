"""Exercise 2: the same, watching what a loop does with them."""

from collections.abc import Iterable, Sequence

from specdec_lab.grade.part import Wrong, listed
from specdec_lab.grade.rounds.one_round import leading, matching
from specdec_lab.grade.rounds.toy import Drafter, ToyTarget, flat, written_alone


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
