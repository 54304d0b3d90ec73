"""Exercise 9: reading answers of any form."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.part import StillOpen, Wrong, begun, listed, number, shown

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


def given(made: object) -> object:
    """What the learner's function returned."""
    begun(made)
    return begun(made() if callable(made) else made)


def several(made: object, looks: dict[str, Callable[[object], None]]) -> None:
    """Look at each of the things that were returned; each right one earns its share, and the first wrong one is told."""
    values = listed(given(made), None, "What your function returns")
    if len(values) != len(looks):
        raise Wrong(f"Your function should return {len(looks)} things: {', '.join(looks)}. It returns {len(values)}.")
    if all(v is None or v is Ellipsis for v in values):
        raise StillOpen
    wrong = []
    for (name, look), value in zip(looks.items(), values):
        try:
            look(value)
        except StillOpen:
            wrong.append(Wrong(f"Still missing: {name}."))
        except Wrong as e:
            wrong.append(Wrong(f"About {name}: {e}", misconception=e.misconception))
    if wrong:
        raise Wrong(str(wrong[0]), 1 - len(wrong) / len(looks), wrong[0].misconception)


def row(value: object, length: int, what: str) -> list[float]:
    return [number(x, f"Each item of {what}") for x in listed(value, length, what[0].upper() + what[1:])]


def compared(found: Sequence[float], key: Sequence[float], known: Sequence[Known], fallback: str, room: float) -> None:
    """Raise the known mistake that gives these numbers.

    Args:
        room: how far a number may be off, for rounding; a part of it, where it is above 1.
    """

    def near(numbers: Sequence[float]) -> bool:
        return all(abs(a - b) <= room * max(1.0, abs(b)) for a, b in zip(found, numbers))

    if near(key):
        return
    for numbers, said, misconception in known:
        if near(numbers):
            raise Wrong(said, misconception=misconception)
    raise Wrong(fallback)


def choice(made: object, right: str, wrong: dict[str, tuple[str, int | None]]) -> None:
    """One letter; wrong says for each other letter why it is not the right one."""
    answer = given(made)
    letter = answer.strip(" .()").upper() if isinstance(answer, str) else None
    if letter not in {right, *wrong}:
        raise Wrong(f"Return one letter, “A”, “B”, “C” or “D”; you return {shown(answer)}.")
    if letter != right:
        said, misconception = wrong[letter]
        raise Wrong(said, misconception=misconception)
