"""Exercise 2: the toy target and drafter, watching what a loop does with them."""

from collections.abc import Iterable, Sequence

from specdec_grader.coerce import common_start, listed, whole
from specdec_grader.mistakes import Wrong
from specdec_grader.supplied.toy import Drafter, ToyTarget, checked, written_alone


def matching(drafts: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The drafts that agree with the target, also those behind a miss."""
    return [x for x, y in zip(drafts, choices) if x == y]


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
        self.proposals = self.passes = self.asked = 0
        self.by_drafts = self.alone = 0  # new tokens that became known in passes that checked drafts, and in others
        self.late = False  # more than one was known before the first drafts were asked for
        self.valid = 0  # the most entries that were a beginning of the truth
        self.rewound = False  # since the newest pass
        self.error: Wrong | None = None
        self.ended = False  # the loop has returned
        self.lesser: Wrong | None = None  # a mistake that does not spoil the text; nothing more is looked at behind it

    def wrong_if(self, *mistakes: tuple[object, Wrong]) -> None:
        """Raise the first mistake that was made. It is kept as well: the learner's code may catch it.

        One that is worth a share is kept only: whether the text is right in the end decides if the share is earned.
        """
        if self.lesser:
            return
        for is_so, wrong in mistakes:
            if is_so and wrong.earned and not self.ended:
                self.lesser = wrong
                return
            if is_so:
                self.error = self.error or wrong
                raise self.error

    def new(self, text: Sequence[int]) -> list[int]:
        return list(text)[len(self.prompt) :]

    def room(self, text: Sequence[int]) -> int:
        """How many drafts can still be written, with a token of the target's own behind them."""
        return self.n - len(self.new(text)) - 1

    def behind_end(self) -> int:
        """How many drafts there are up to the end marker: those behind it can never be written."""
        return self.drafts.index(self.end) + 1 if self.end in self.drafts else len(self.drafts)

    def complete(self, text: Sequence[int]) -> bool:
        return len(self.new(text)) >= self.n or self.end in self.new(text)

    @property
    def known(self) -> int:
        """How many new tokens the target has told."""
        return max(0, self.valid + 1 - len(self.prompt))

    def is_plain(self) -> bool:
        """Whether the text was known without the drafts: each token came from a pass of its own, or most of them did.

        The prefill may tell the first token. A round that needs a second pass for the target's own token is a loop with
        drafts all the same.
        """
        return not self.proposals or self.late or self.alone > self.by_drafts + 1

    # What the loop calls

    def draft(self, text: Sequence[int], most: int) -> list[int]:
        text = listed(text, what="The text that draft() gets")
        most = whole(most, "The number of drafts that your loop asks for")
        again = self.proposals and self.given is not None and text == self.text == self.prompt
        asked = f"Your loop asks for {most} drafts, and γ is {self.gamma}."
        too_few = most < min(self.gamma, self.room(text))
        all_right = self.given and text == self.text + self.given == self.truth[: len(text)]
        self.wrong_if(
            (most == self.gamma + 1, Wrong(f"{asked} The token behind the drafts is the target's own, and no draft.", belief=10)),
            (most > self.gamma, Wrong(asked)),
            (text[: len(self.prompt)] != self.prompt, Wrong("draft() needs the whole text: the prompt, and all that has been written so far.")),
            (again and self.rewound and self.length >= len(text),
             Wrong("Your loop gives draft() the prompt in each round. It needs the whole text: the prompt, and all that has been written so far.")),
            (most < 1 and self.room(text) > 0, Wrong(f"{asked} Without a draft each round is plain decoding.")),
            (self.proposals and self.given is None and text != self.text,
             Wrong("Your loop asks for drafts again before the target has checked the first ones.")),
            (too_few and all_right, Wrong("After a round with only right drafts your loop asks the drafter for one token more. "
                                          "The bonus is the target's last choice of that pass.", belief=10)),
            (too_few, Wrong(f"Your loop calls draft with {most}, and γ is {self.gamma}: draft(text, gamma) gives all drafts of a round at once.", 0.25)),
        )  # fmt: skip
        self.check_round(text)
        self.late = self.late or (not self.proposals and self.known > 1)
        self.proposals += 1
        self.text, self.given, self.asked = text, None, most
        self.drafts = self.drafting(text, max(0, min(most, self.gamma)))
        return list(self.drafts)

    def extend(self, tokens: Iterable[int]) -> list[int]:
        tokens, given, known = checked(tokens), self.given, self.known
        if tokens:
            self.check_pass(tokens)
            self.passes += 1
            self.rewound = False
        self.choices = super().extend(tokens)
        self.valid = max(self.valid, common_start(self._entries, self.truth))
        dropped = self.room(self.text) > 0 and (self.asked < 1 or bool(self.drafts and not self.given))
        if self.given is not None and given is None and not dropped:  # the first pass since drafts were asked for
            self.by_drafts += self.known - known
        else:
            self.alone += self.known - known
        return list(self.choices)

    def rewind(self, length: int) -> None:
        super().rewind(length)
        self.rewound = True

    # What is looked at

    def check_round(self, text: list[int]) -> None:
        """Whether the round since the newest drafts wrote what it should."""
        if self.given is None:
            return
        before, drafts = self.text, self.given
        self.wrong_if(
            (text == before, Wrong("A round of your loop writes nothing: with no accepted draft there is still the target's own token.", belief=6)),
            (text[: len(before)] != before, Wrong("The text is shorter, or another one, after a round. A round only adds to it.")),
        )  # fmt: skip
        rest, written = self.truth[len(before) :], text[len(before) :]
        a = common_start(drafts, rest)
        right, miss = rest[: a + 1], a < len(drafts)
        if written == right or (self.complete(text) and written == right[: len(written)]):
            return
        agree = f"the first miss is at place {a + 1}" if miss else "all are right"
        seen = f"With the drafts {drafts} ({agree})" if drafts else "Without drafts"
        seen = f"{seen} your loop writes {written}."
        late = matching(drafts[a + 1 :], self.choices[a - len(drafts) :])
        only_late = miss and all(token in late for token in written[a + 1 :])
        self.wrong_if(
            (miss and written[: len(drafts)] == drafts,
             Wrong(f"{seen} Every draft is written, right or wrong, so the drafter decides the text. "
                   "It may only decide how many passes the text takes.", belief=11)),
            (written[: a + 1] == right and len(written) > a + 1,
             Wrong(f"{seen} After the target's own token the round is over.", belief=1 if only_late else None)),
            (miss and late and written[:a] == drafts[:a] and written[a : a + 1] == late[:1],
             Wrong(f"{seen} A draft after the first miss is not written, even if it agrees.", belief=1)),
            (written == right[:-1],
             Wrong(f"{seen} The {'correction' if miss else 'bonus'} is missing: each round ends with a token of the target's own.", belief=6)),
            (True, Wrong(f"{seen} It should be {right}.")),
        )  # fmt: skip

    def is_last_token(self, tokens: list[int]) -> bool:
        """Whether this is a pass for the last token alone: with room for no draft, a loop need not ask for one."""
        have = len(self._entries)
        only_one = have + 1 - len(self.prompt) == self.n - 1 and self.proposals > 0
        return only_one and [*self._entries, *tokens] == self.truth[: have + 1]

    def check_pass(self, tokens: list[int]) -> None:
        """Whether the cache is right before a pass, the pass begins where the cache ends, and all drafts are in it."""
        entries, text = self._entries, self.text
        if self.is_last_token(tokens):
            self.given = [] if self.given is None else self.given
            return
        right = common_start(entries, self.truth)
        stale = f"The cache has {len(entries)} entries, and only the first {right} belong to the text"
        done = self.proposals and self.complete(text)
        missing = text[len(entries) :]
        gap = missing and tokens[: len(missing)] != missing[: len(tokens)]
        lengths = f"the cache has {self.length} entries and the text {len(text)} tokens"
        too_far = f"Your rewind goes too far: {lengths}. All of the text but its last token must be in the cache"
        self.wrong_if(
            (self.passes and not self.proposals and len(entries) < len(self.prompt) - 1,
             Wrong("Your loop reads the prompt in several passes. One pass takes any number of tokens: give it all of them at once.")),
            (right < len(entries) and not self.rewound,
             Wrong(f"{stale}: the drafts that missed are still in it, so the target chooses by words that were never written. Rewind after the round.")),
            (right < len(entries), Wrong(f"{stale}: your rewind keeps too many.")),
            (done and self.end in self.new(text),
             Wrong(f"Your loop goes on after the end marker {self.end} was written. Look for it in all tokens of a round: "
                   "it may stand among the accepted drafts.", 0.5)),
            (done, Wrong(f"Your loop goes on after all {self.n} tokens were written.", 0.5)),
            (self.proposals and self.given is not None,
             Wrong("There are several passes in a round of yours. One pass, over the last token and all drafts, gives all choices.", 0.25)),
            (gap and entries and tokens[: len(text)] == text,
             Wrong("Your pass gives the whole text to the target, though most of it has an entry already. "
                   "Only what has no entry goes through a pass: the last token, and the drafts.")),
            (gap and not self.passes,
             Wrong("The cache is empty in your first round: the prompt has to go through the target, all but its last token before the round.")),
            (gap and tokens[0] == missing[-1] and len(missing) > 2, Wrong(f"{too_far}, the accepted drafts as well.", belief=9)),
            (gap and tokens[0] == missing[-1], Wrong(f"{too_far}.")),
            (gap, Wrong(f"The cache ends before {missing}, but your pass begins with {tokens[0]}. All of the text but its last token "
                         "must be in the cache, and that one goes first.")),
            (entries == text and tokens[0] == text[-1] and tokens[1:2] == self.drafts[:1],
             Wrong("The last token of the text goes through the target twice: it had an entry already. "
                   "Before a round the cache has all of the text but its last token.")),
            (len(entries) < self.valid,
             Wrong(f"Your text may be right, but your rewind keeps {len(entries)} entries where {self.valid} were right: "
                   "the pass computes tokens again that had an entry.", 0.5)),
        )  # fmt: skip
        if self.proposals and len(tokens) >= len(missing):
            given = tokens[len(missing) :]
            seen = f"The drafts were {self.drafts}, but your loop gives {given or 'none of them'} to the target"
            self.wrong_if(
                (given != self.drafts[: len(given)], Wrong(f"{seen}.")),
                (
                    len(given) < min(len(self.drafts), self.room(text), self.behind_end()),
                    Wrong(f"{seen}: one pass checks all of them."),
                ),
            )
            self.given = given if given == self.drafts[: len(given)] else []  # drafts of its own are none
