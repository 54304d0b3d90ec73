"""A learner's function may be in another process, where a call takes longer than here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any


class RemoteFunction(ABC):
    """A learner's function, here or there. `many` calls it once for each case, with less to send than so many single calls.

    Attributes:
        stub: it does nothing yet.
    """

    stub: bool

    @abstractmethod
    def __call__(self, *args: Any) -> Any: ...

    @abstractmethod
    def many(self, cases: Sequence[tuple]) -> list[Any]: ...

    def spent(self) -> float:
        """Seconds that its process has spent, where it is another one."""
        return 0.0


def for_each(made: Callable, cases: Sequence[tuple]) -> list[Any]:
    """What the learner's function gives for each case, wherever it is."""
    return made.many(cases) if isinstance(made, RemoteFunction) else [made(*case) for case in cases]
