"""Exercise 12: put_aside(customers) → the numbers of the prompts that are only measured on."""

from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, Wrong, listed, part, whole

CASES = (
    (["A", "B", "C", "D", "E", "F"],), (["A", "A", "B", "C", "A", "D", "E", "E", "B"],), (["kim", "ada", "kim", "bob", "eve", "ada", "dan", "bob", "kim"],),
    (["Z", "Y", "X", "W", "V", "U", "Z", "V", "T", "S", "S"],), (["ann", "bo", "anna", "cy", "ann", "di", "anna"],), (["one"],), ([],),
)  # fmt: skip


def chosen(customers: Sequence[str], first: int = 0) -> set[str]:
    """Every fourth customer in the order in which they come."""
    return set(list(dict.fromkeys(customers))[first::4])


def prompts_of(some: set[str], customers: Sequence[str]) -> list[int]:
    return [i for i, customer in enumerate(customers) if customer in some]


def read(value: object) -> list[int]:
    items = listed(value, ordered=False)
    if items and all(isinstance(item, bool) for item in items):
        raise Wrong("Your list has True and False; give the numbers of the prompts that are put aside.")
    numbers = sorted(whole(item, "Each item of your list") for item in items)
    if len(set(numbers)) < len(numbers):
        raise Wrong(f"Your list has a prompt twice: {numbers}.")
    return numbers


ASIDE = Question(
    cases=CASES, right=lambda customers: prompts_of(chosen(customers), customers), read=read,
    seen="For the customers {0} your function puts aside the prompts {found}; it should be {right}.",
    hint="List the customers in the order in which they first come. The first, the fifth, the ninth … of them are put aside, with all of their prompts.",
    mistakes=[
        Mistake("You put every fourth prompt aside. Then prompts of the same customer are on both sides, and the draft has seen half of the test.",
                lambda customers: list(range(len(customers)))[::4]),
        Mistake("Only the first prompt of each such customer is put aside. Put all of them aside.",
                lambda customers: [customers.index(c) for c in list(dict.fromkeys(customers))[::4]]),
        Mistake("Take the customers in the order in which they first come, not in that of the alphabet.",
                lambda customers: prompts_of(set(sorted(set(customers))[::4]), customers)),
        Mistake("You begin with the fourth customer. Begin with the first; then come the fifth, the ninth, and so on.",
                lambda customers: prompts_of(chosen(customers, 3), customers)),
        Mistake("These are the prompts to learn from. Give those that are put aside.",
                lambda customers: prompts_of(set(customers) - chosen(customers), customers))])  # fmt: skip


@part("12.aside", points=3, asks=[ASIDE])
def put_aside(made: Callable[[Sequence[str]], object]) -> None:
    ASIDE.judge(made)
