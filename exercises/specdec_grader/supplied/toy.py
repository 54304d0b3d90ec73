"""Exercise 2: a target and a drafter small enough to look into."""

from collections.abc import Callable, Iterable, Sequence

from specdec_grader.coerce import shown

FACTOR = 48271  # of the target that a learner can look into


def checked(tokens: Iterable[int]) -> list[int]:
    """The tokens as a list. Raises TypeError for anything else than whole numbers."""
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

    LENT = ("extend", "rewind", "entries", "length")  # all that a learner's code in another process may ask for

    def __init__(self, factor: int = FACTOR) -> None:
        self._factor = factor  # another one makes a target that writes another text
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
        for token in checked(tokens):
            self._entries.append(token)
            self._states.append((self._states[-1] * self._factor + 7919 * token) % 2147483647)
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


def written_alone(prompt: Sequence[int], n: int, factor: int = FACTOR) -> list[int]:
    """What the target writes without drafts: plain decoding, n tokens."""
    target, text = ToyTarget(factor), list(prompt)
    target.extend(text[:-1])
    for _ in range(n):
        text += target.extend(text[-1:])
    return text[len(prompt) :]


Drafter = Callable[[list[int], int], list[int]]


def drafter(rights: Sequence[int | None], factor: int = FACTOR) -> Drafter:
    """A drafter of which it is known how many of its drafts are right.

    The next draft is wrong. Those behind it agree with the target again, so that a loop which keeps
    drafts that agree after a miss is found out.

    Args:
        rights: how many drafts of a round are right; the length of the text says which of these numbers
            holds. None: there are no drafts.
    """

    def draft(text: list[int], most: int) -> list[int]:
        right = rights[len(text) % len(rights)]
        target, drafts = ToyTarget(factor), []
        if right is None or not text:
            return drafts
        choice = target.extend(text)[-1]
        while len(drafts) < most:
            drafts.append(choice if len(drafts) != right else 10 + (choice - 9) % 90)
            choice = target.extend(drafts[-1:])[0]
        return drafts

    return draft
