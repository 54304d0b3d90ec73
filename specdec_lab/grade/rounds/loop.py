"""Exercise 2: the whole loop."""

from collections.abc import Callable

from specdec_lab.grade.part import Wrong, begun, listed, part, shown
from specdec_lab.grade.rounds.toy import ToyTarget, drafter, written_alone
from specdec_lab.grade.rounds.watched import Watched

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
