"""Exercise 2: the toy target and drafter, watching what a loop does with them."""

from collections.abc import Iterable, Sequence

from specdec_grader.coerce import common_start, listed, whole
from specdec_grader.mistakes import Wrong
from specdec_grader.supplied.toy import FACTOR, ToyTarget, checked, drafter, written_alone


def matching(drafts: Sequence[int], choices: Sequence[int]) -> list[int]:
    """The drafts that agree with the target, also those behind a miss."""
    return [x for x, y in zip(drafts, choices) if x == y]


class Watched(ToyTarget):
    """A target and a drafter that see what a loop does with them, and say so at the first mistake.

    What is right follows from the text that the target writes alone: entries that are no beginning
    of it are stale, and a draft that continues it is accepted.
    """

    def __init__(self, prompt: Sequence[int], n: int, gamma: int, rights: Sequence, end: int, factor: int = FACTOR):
        super().__init__(factor)
        self.prompt, self.n, self.gamma, self.end = list(prompt), n, gamma, end
        self.truth = [*prompt, *written_alone(prompt, n + 2 * gamma + 4, factor)]
        self.drafting = drafter(rights, factor)
        # The round
        self.text = list(prompt)  # as the drafter saw it last
        self.drafts: list[int] = []  # the newest proposal
        self.asked = 0  # so many drafts were asked for
        self.given: list[int] | None = None  # drafts that went through the target since, if any did
        self.choices: list[int] = []  # of the newest pass
        self.rewound = False  # since the newest pass
        # The whole run
        self.proposals = self.passes = 0
        self.valid = 0  # the most entries that were a beginning of the truth
        self.by_drafts = self.alone = 0  # new tokens that became known in passes that checked drafts, and in others
        self.late = False  # more than one was known before the first drafts were asked for
        self.ended = False  # the loop has returned
        self.error: Wrong | None = None
        self.lesser: Wrong | None = None  # a mistake that does not spoil the text; nothing more is looked at behind it

    def tell(self, wrong: Wrong | None) -> None:
        """Raise a mistake, if there is one. It is kept as well: the learner's code may catch it.

        One that is worth a share is kept only: whether the text is right in the end decides if the share is earned.
        """
        if wrong is None or self.lesser:
            return
        if wrong.earned and not self.ended:
            self.lesser = wrong
            return
        self.error = self.error or wrong
        raise self.error

    def new(self, text: Sequence[int]) -> list[int]:
        return list(text)[len(self.prompt) :]

    def room(self, text: Sequence[int]) -> int:
        """How many drafts can still be written, with a token of the target's own behind them."""
        return self.n - len(self.new(text)) - 1

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
        self.tell(self.wrong_question(text, most))
        self.tell(self.wrong_round(text))
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
        dropped = self.room(self.text) > 0 and (self.asked < 1 or self.wrong_drafts(self.given or []) is not None)
        is_first_of_round = self.given is not None and given is None
        if is_first_of_round and not dropped:
            self.by_drafts += self.known - known
        else:
            self.alone += self.known - known
        return list(self.choices)

    def rewind(self, length: int) -> None:
        super().rewind(length)
        self.rewound = True

    # What is looked at. Of several mistakes the first one is told, so what is special stands above what is general.

    def wrong_question(self, text: list[int], most: int) -> Wrong | None:
        """What is wrong with asking for so many drafts behind this text."""
        asked = f"Your loop asks for {most} drafts, and γ is {self.gamma}."
        if most == self.gamma + 1:
            return Wrong(f"{asked} The token behind the drafts is the target's own, and no draft.", belief=10)
        if most > self.gamma:
            return Wrong(asked)

        whole_text = "the whole text: the prompt, and all that has been written so far."
        is_checked = self.given is not None
        is_prompt_again = self.proposals and is_checked and text == self.text == self.prompt
        if text[: len(self.prompt)] != self.prompt:
            return Wrong(f"draft() needs {whole_text}")
        if is_prompt_again and self.rewound and self.length >= len(text):
            return Wrong(f"Your loop gives draft() the prompt in each round. It needs {whole_text}")

        if most < 1 and self.room(text) > 0:
            return Wrong(f"{asked} Without a draft each round is plain decoding.")
        if self.proposals and not is_checked and text != self.text:
            return Wrong("Your loop asks for drafts again before the target has checked the first ones.")
        if most < min(self.gamma, self.room(text)):
            if self.given and text == self.text + self.given == self.truth[: len(text)]:
                said = "After a round with only right drafts your loop asks the drafter for one token more."
                return Wrong(f"{said} The bonus is the target's last choice of that pass.", belief=10)
            said = f"Your loop calls draft with {most}, and γ is {self.gamma}:"
            return Wrong(f"{said} draft(text, gamma) gives all drafts of a round at once.", 0.25)
        return None

    def wrong_round(self, text: list[int]) -> Wrong | None:
        """What is wrong with what the round since the newest drafts wrote."""
        if self.given is None:
            return None
        before, drafts = self.text, self.given
        if text == before:
            said = "A round of your loop writes nothing: with no accepted draft there is still the target's own token."
            return Wrong(said, belief=6)
        if text[: len(before)] != before:
            return Wrong("The text is shorter, or another one, after a round. A round only adds to it.")

        rest, written = self.truth[len(before) :], text[len(before) :]
        a = common_start(drafts, rest)
        right, miss = rest[: a + 1], a < len(drafts)
        if written == right or (self.complete(text) and written == right[: len(written)]):
            return None
        agree = f"the first miss is at place {a + 1}" if miss else "all are right"
        seen = f"With the drafts {drafts} ({agree})" if drafts else "Without drafts"
        seen = f"{seen} your loop writes {written}."
        late = matching(drafts[a + 1 :], self.choices[a - len(drafts) :])  # drafts that agree behind the miss

        if miss and written[: len(drafts)] == drafts:
            said = f"{seen} Every draft is written, right or wrong, so the drafter decides the text."
            return Wrong(f"{said} It may only decide how many passes the text takes.", belief=11)
        if written[: a + 1] == right and len(written) > a + 1:
            only_late = miss and set(written[a + 1 :]) <= set(late)
            return Wrong(f"{seen} After the target's own token the round is over.", belief=1 if only_late else None)
        if miss and late and written[:a] == drafts[:a] and written[a : a + 1] == late[:1]:
            return Wrong(f"{seen} A draft after the first miss is not written, even if it agrees.", belief=1)
        if written == right[:-1]:
            own = "correction" if miss else "bonus"
            return Wrong(f"{seen} The {own} is missing: each round ends with a token of the target's own.", belief=6)
        return Wrong(f"{seen} It should be {right}.")

    def check_pass(self, tokens: list[int]) -> None:
        """Whether the cache is right before a pass, the pass begins where the cache ends, and all drafts are in it."""
        if self.is_last_token(tokens):
            self.given = [] if self.given is None else self.given
            return
        self.tell(self.wrong_cache() or self.wrong_beginning(tokens))
        missing = self.text[len(self._entries) :]
        if self.proposals and len(tokens) >= len(missing):
            given = tokens[len(missing) :]
            self.tell(self.wrong_drafts(given))
            self.given = given if given == self.drafts[: len(given)] else []  # drafts of its own are none

    def is_last_token(self, tokens: list[int]) -> bool:
        """Whether this is a pass for the last token alone: with room for no draft, a loop need not ask for one."""
        have = len(self._entries)
        only_one = have + 1 - len(self.prompt) == self.n - 1 and self.proposals > 0
        return only_one and [*self._entries, *tokens] == self.truth[: have + 1]

    def wrong_cache(self) -> Wrong | None:
        """Why no pass, or none over this cache, should come now."""
        entries = self._entries
        if self.passes and not self.proposals and len(entries) < len(self.prompt) - 1:
            said = "Your loop reads the prompt in several passes."
            return Wrong(f"{said} One pass takes any number of tokens: give it all of them at once.")

        right = common_start(entries, self.truth)
        if right < len(entries):
            stale = f"The cache has {len(entries)} entries, and only the first {right} belong to the text"
            if self.rewound:
                return Wrong(f"{stale}: your rewind keeps too many.")
            why = "the drafts that missed are still in it, so the target chooses by words that were never written"
            return Wrong(f"{stale}: {why}. Rewind after the round.")

        if self.proposals and self.complete(self.text):
            if self.end in self.new(self.text):
                said = f"Your loop goes on after the end marker {self.end} was written."
                why = "Look for it in all tokens of a round: it may stand among the accepted drafts."
                return Wrong(f"{said} {why}", 0.5)
            return Wrong(f"Your loop goes on after all {self.n} tokens were written.", 0.5)
        if self.proposals and self.given is not None:
            said = "There are several passes in a round of yours."
            return Wrong(f"{said} One pass, over the last token and all drafts, gives all choices.", 0.25)
        return None

    def wrong_beginning(self, tokens: list[int]) -> Wrong | None:
        """Why the pass should not begin with these tokens: what has no entry yet goes first, and nothing else."""
        entries, text = self._entries, self.text
        missing = text[len(entries) :]
        if missing and tokens[: len(missing)] != missing[: len(tokens)]:
            if entries and tokens[: len(text)] == text:
                said = "Your pass gives the whole text to the target, though most of it has an entry already."
                return Wrong(f"{said} Only what has no entry goes through a pass: the last token, and the drafts.")
            if not self.passes:
                said = "The cache is empty in your first round: the prompt has to go through the target,"
                return Wrong(f"{said} all but its last token before the round.")
            if tokens[0] == missing[-1]:
                lengths = f"the cache has {self.length} entries and the text {len(text)} tokens"
                said = f"Your rewind goes too far: {lengths}. All of the text but its last token must be in the cache"
                if len(missing) > 2:
                    return Wrong(f"{said}, the accepted drafts as well.", belief=9)
                return Wrong(f"{said}.")
            said = f"The cache ends before {missing}, but your pass begins with {tokens[0]}."
            return Wrong(f"{said} All of the text but its last token must be in the cache, and that one goes first.")

        if entries == text and tokens[0] == text[-1] and tokens[1:2] == self.drafts[:1]:
            said = "The last token of the text goes through the target twice: it had an entry already."
            return Wrong(f"{said} Before a round the cache has all of the text but its last token.")
        if len(entries) < self.valid:
            said = (
                f"Your text may be right, but your rewind keeps {len(entries)} entries where {self.valid} were right:"
            )
            return Wrong(f"{said} the pass computes tokens again that had an entry.", 0.5)
        return None

    def wrong_drafts(self, given: list[int]) -> Wrong | None:
        """What is wrong with the drafts that a pass gives to the target."""
        drafts = self.drafts
        seen = f"The drafts were {drafts}, but your loop gives {given or 'none of them'} to the target"
        if given != drafts[: len(given)]:
            return Wrong(f"{seen}.")
        # Those behind the end marker can never be written.
        useful = drafts.index(self.end) + 1 if self.end in drafts else len(drafts)
        if len(given) < min(useful, self.room(self.text)):
            return Wrong(f"{seen}: one pass checks all of them.")
        return None
