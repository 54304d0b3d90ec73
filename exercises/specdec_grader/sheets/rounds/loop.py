"""Exercise 2: speculate(prompt, n, target, draft, gamma, end) → the new tokens."""

from collections.abc import Callable
from itertools import product

from specdec_grader.kit import Wrong, listed, part, shown
from specdec_grader.sheets.rounds.watched import Watched
from specdec_lab.course.given.toy import ToyTarget, drafter, written_alone

PROMPT = [17, 23, 5, 42]
NO_END = -1  # an end marker that never comes


def prompt_with_end() -> tuple[list[int], int]:
    """A prompt in which the end marker occurs, and that marker; it is written as token 6."""
    for end, second in product(range(10, 100), repeat=2):
        prompt = [end, second, 33, 8]
        text = written_alone(prompt, 12)
        if text[6] == end and end not in text[:6]:
            return prompt, end
    raise AssertionError


def runs() -> list[Watched]:
    """Every kind of round; then a limit and an end marker at every place of a round."""
    two, right, wrong = [2], [9], [0]  # how many drafts of a round are right
    alone = written_alone(PROMPT, 16)
    firsts = [token for i, token in enumerate(alone) if token not in alone[:i]]
    drafts = drafter(two)(PROMPT, 4)
    behind = ToyTarget().extend([*PROMPT, *drafts])[-1]
    with_end, end = prompt_with_end()
    kinds = [
        (PROMPT, 30, 4, two, NO_END),
        (PROMPT, 23, 4, right, NO_END),
        (PROMPT, 9, 3, wrong, NO_END),
        ([61], 31, 5, [1, 0, 2, 3, 5, None, 4], NO_END),  # here all of these come
        (PROMPT[::-1], 30, 1, [0, 1, 1], NO_END),
        (PROMPT, 8, 4, [None], NO_END),
        *((PROMPT, n, 4, right, NO_END) for n in (1, 2, 4, 5, 6, 8)),
        *((PROMPT, n, 4, two, NO_END) for n in (1, 2, 3, 5)),
        *((PROMPT, 16, 4, right, token) for token in firsts),
        *((PROMPT, 16, 4, two, token) for token in firsts if token in alone[:7]),
        *((PROMPT, 14, 4, two, token) for token in (drafts[2], drafts[3], behind)),  # never written
        *((with_end, 12, 4, kind, end) for kind in (right, wrong)),
    ]
    return [Watched(prompt, n, gamma, drafter(kind), end) for prompt, n, gamma, kind, end in kinds]


@part("2.loop", points=4)
def loop(made: Callable[..., list]) -> None:
    """The first mistake is told. Its share is given only if no run shows one that is worth less."""
    told, earned = None, 1.0
    for run in runs():
        try:
            judge_run(made, run)
        except Wrong as e:
            told, earned = told or e, min(earned, e.earned)
            if not earned:
                break
    if told:
        raise Wrong(str(told), earned, told.belief)


def judge_run(made: Callable[..., list], run: Watched) -> None:
    prompt = list(run.prompt)
    try:
        result = made(prompt, run.n, run, run.draft, run.gamma, run.end)
    except Exception:
        if run.error is None:
            raise
    if run.error is not None:  # also where the learner's code caught it
        raise run.error
    if result is None and run.passes + run.proposals:
        raise Wrong("Your function returns nothing: return the list of new tokens.")
    lesser, run.lesser, run.ended = run.lesser, None, True
    try:
        judge_text(run, listed(result))
    except Wrong as e:
        raise Wrong(str(lesser), min(e.earned, lesser.earned), lesser.belief) if lesser else e from None
    if lesser:
        raise lesser
    if prompt != run.prompt:
        raise Wrong("Your function changes the prompt that it is given. Work on a copy: list(prompt).", 0.75)


def check_work(run: Watched, wanted: list[int]) -> None:
    """Raises Wrong where the text was not made by the target that the loop was given, or without drafts."""
    if not run.proposals and len(wanted) > 1:  # the prefill may give the first token
        raise Wrong("Your loop never asks for drafts: this is plain decoding.")
    if run.valid < len(run.prompt) + len(wanted) - 1:
        said = "The target that your function is given has never computed your text."
        raise Wrong(f"{said} Every token has to come from a pass of this target, behind the tokens before it.")


def judge_text(run: Watched, tokens: list) -> None:
    """The text that came back, and whether it was made with drafts."""
    wanted = run.truth[len(run.prompt) :][: run.n]
    ended = run.end in wanted
    if ended:
        wanted = wanted[: wanted.index(run.end) + 1]
    if tokens == wanted:
        check_work(run, wanted)
        return
    # A small slip, such as the prompt before the text, earns a share; plain decoding with such a slip does not.
    if wanted and set(wanted) <= set(tokens):
        check_work(run, wanted)
    longer, shorter = tokens[: len(wanted)] == wanted, tokens == wanted[: len(tokens)]
    run.wrong_if(
        (tokens == run.prompt + wanted, Wrong("Your function returns the prompt as well. Return only the new tokens.", 0.75)),
        (longer and ended, Wrong(f"What follows the end marker must not be written: it is {run.end}, and your text is {shown(tokens)}. "
                                 "It may stand among accepted drafts.", 0.5)),
        (longer, Wrong(f"Your function returns {len(tokens)} tokens for n = {run.n}: the last round may write too many.", 0.5)),
        (tokens == wanted[:-1] and ended, Wrong("The end marker itself is missing: it is the last token that you return.", 0.75)),
        (shorter and run.end in run.prompt, Wrong("Your text stops too early: the end marker in the prompt does not count.", 0.5)),
        (shorter and not ended and run.end != NO_END,
         Wrong(f"Your text stops too early: the end marker {run.end} was among drafts or choices, but not written.", 0.5)),
        (shorter, Wrong(f"Your text stops after {len(tokens)} tokens, and there should be {len(wanted)}.")),
    )  # fmt: skip
    run.check_round(run.prompt + tokens)
    raise Wrong(f"Your text is {shown(tokens)}; without drafts the target writes {shown(wanted)}.")
