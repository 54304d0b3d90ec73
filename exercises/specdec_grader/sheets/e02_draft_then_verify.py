"""Exercise 2: one round, what stays in the cache, both caches after a round, and the loop."""

import random
from collections.abc import Callable
from itertools import product

from specdec_grader.coerce import common_start, listed, shown, whole
from specdec_grader.mistakes import Mistake, Wrong
from specdec_grader.part import part
from specdec_grader.question import Question, pretty, question, results
from specdec_grader.sheets.fixed_answers import hint_for_marks, marks_of_round, read_marks
from specdec_grader.sheets.watched import Watched, matching
from specdec_grader.supplied.toy import ToyTarget, drafter, written_alone

SEEN = "With the drafts {} and the choices {}"
AFTER = "With the text {} and the caches {} and {}"
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
    ([4711, 4712, 4713], [int("4711"), int("4712"), 5000, 5001]),  # equal, but `is` says no
)


def several_results(made: Callable[..., object], what: str, *asks: Question) -> tuple:
    """What the learner's function gives in all cases: what the first question is about, the second, and so on."""
    given = results(made, *asks)
    return tuple(zip(*(listed(values, len(asks), f"What your function returns, {what},") for values in given)))


# 2.round: the tokens, then the marks


def hint_tokens(case: tuple[list[int], list[int]], found: list[int]) -> str | Mistake:
    drafts, choices = case
    a = common_start(drafts, choices)
    if a < len(drafts) and found[: a + 1] == choices[: a + 1]:
        late = TOKENS.mistake("late_drafts")
        agreeing = matching(drafts[a + 1 :], choices[a + 1 :])
        return late if set(found[a + 1 :]) <= set(agreeing) else Mistake(late.said)
    place = f"the first miss is at place {a + 1}" if a < len(drafts) else "there is no miss"
    return f"Here {place}, so {choices[: a + 1]} is written."


def tokens(drafts, choices):
    a = common_start(drafts, choices)
    return [*drafts[:a], choices[a]]


TOKENS = question(tokens, cases=ROUNDS, seen=f"{SEEN} you write {{found}}.", hint=hint_tokens)


ACCEPTED_LATE = "A draft after the first miss is never accepted, even if it agrees."
MARKS = Question(
    ROUNDS,
    marks_of_round,
    seen=f"{SEEN} your tokens are right, and your marks are {{found}}.",
    hint=lambda case, found: hint_for_marks(case[0], case[1], found, ACCEPTED_LATE),
)


@part("2.round", points=3, asks=[TOKENS, MARKS])
def judge_round(made: Callable[[list, list], tuple]) -> None:
    written, found = several_results(made, "the tokens and the marks", TOKENS, MARKS)
    written = [listed(tokens, what="The first result") for tokens in written]
    if any(isinstance(token, str) for tokens in written for token in tokens):
        raise Wrong("The tokens that are written come first, then the marks.")
    written = [[whole(token, "A written token") for token in tokens] for tokens in written]
    try:
        found = [read_marks(marks) for marks in found]
    except Wrong as e:
        TOKENS.compare(written)
        raise Wrong(str(e), 2 / 3) from None
    TOKENS.compare(written, earned=(MARKS.first_wrong(found) is None) / 3)
    MARKS.compare(found, earned=2 / 3)


# 2.cache: the entries that the pass makes, and those that may stay

accepted = common_start  # how many drafts agree before the first that does not


def entries_made(drafts, choices):
    return 1 + len(drafts)


MADE = question(
    entries_made,
    cases=ROUNDS,
    seen=f"{SEEN} your “made” is {{found}}.",
    hint=lambda case, found: (
        f"It should be {entries_made(*case)}: the last token of the text goes through the pass, and all "
        f"{len(case[0])} drafts, right or wrong. Each leaves an entry."
    ),
)


def entries_that_stay(drafts, choices):
    return 1 + accepted(drafts, choices)


STAY = question(
    entries_that_stay,
    cases=ROUNDS,
    seen=f"{SEEN} your “stay” is {{found}}.",
    hint=lambda case, found: (
        f"It should be {entries_that_stay(*case)}. Of what went through the pass, the text has its last token from "
        f"before, and {accepted(*case)} of the drafts."
    ),
)


@part("2.cache", points=2, asks=[MADE, STAY])
def judge_cache(made: Callable[[list, list], tuple]) -> None:
    pairs = [(whole(a, "made"), whole(b, "stay")) for a, b in zip(*several_results(made, "made and stay", MADE, STAY))]
    entries, stays = zip(*pairs)
    if not MADE.first_wrong(stays) and not STAY.first_wrong(entries):
        raise Wrong(
            "The two numbers are exchanged: first the entries that the pass makes, then those that may stay.", 0.5
        )
    MADE.compare(entries, earned=0.5 * (not STAY.first_wrong(stays)))
    STAY.compare(stays, earned=0.5)


# 2.rewind: both caches after a round, each a list of the tokens that have an entry


def rounds_done() -> list[tuple[list[int], list[int], list[int]]]:
    """The text after each round, and the caches of the target and of the draft model at its end."""
    before, last = [17, 23], 5  # the text before the round, without its last token, which goes into both models
    done = []
    for drafts, choices in ROUNDS:
        written = [*before, last, *tokens(drafts, choices)]
        done.append((written, [*before, last, *drafts], [*before, last, *drafts[:-1]]))  # its last draft it never read
    return done


DONE = rounds_done()


def list_question(right: Callable[..., list], which: str) -> Question:
    """About one of the three lists. which: of the results it is."""
    return question(
        right,
        cases=DONE,
        seen=f"{AFTER} your {which} result is {{found}}.",
        hint=lambda case, found: f"It should be {pretty(right(*case))}.",
    )


def target_keeps(text, target, draft):
    return target[: len(text) - 1]


def draft_keeps(text, target, draft):
    return draft[: len(text) - 1]


def draft_reads(text, target, draft):
    return text[min(len(draft), len(text) - 1) :]


KEPT_AND_READ = {
    "The first result": list_question(target_keeps, "first"),
    "The second result": list_question(draft_keeps, "second"),
    "The third result": list_question(draft_reads, "third"),
}


@part("2.rewind", points=3, asks=list(KEPT_AND_READ.values()))
def judge_rewind(made: Callable[[list, list, list], tuple]) -> None:
    """Each of the three lists earns a third, and the first that is wrong is told."""
    columns = several_results(made, "two caches and what the draft model reads", *KEPT_AND_READ.values())
    found = [
        [[whole(token, "A token") for token in listed(tokens, what=what)] for tokens in column]
        for what, column in zip(KEPT_AND_READ, columns)
    ]
    pairs = list(zip(KEPT_AND_READ.values(), found))
    earned = sum(not asked.first_wrong(column) for asked, column in pairs) / len(pairs)
    for asked, column in pairs:
        asked.compare(column, earned)


# 2.loop: runs of every kind, with a target and a drafter that watch the loop

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
    # Two targets write what nobody can have computed beforehand; what is said about the others can be done again.
    unknown = random.randrange(10_000, 2**31)
    return [Watched(*kind) for kind in kinds] + [Watched(*kinds[i], factor=unknown) for i in (0, 3)]


@part("2.loop", points=4)
def judge_loop(made: Callable[..., list]) -> None:
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
        judge_text(run, [whole(token, "A written token") for token in listed(result)])
    except Wrong as e:
        raise Wrong(str(lesser), min(e.earned, lesser.earned), lesser.belief) if lesser else e from None
    if lesser:
        raise lesser
    if prompt != run.prompt:
        raise Wrong("Your function changes the prompt that it is given. Work on a copy: list(prompt).", 0.75)


def judge_text(run: Watched, tokens: list) -> None:
    """The text that came back, and whether it was made with drafts."""
    wanted = run.truth[len(run.prompt) :][: run.n]
    ended = run.end in wanted
    if ended:
        wanted = wanted[: wanted.index(run.end) + 1]
    # A small slip, such as the prompt before the text, earns a share; plain decoding with such a slip does not.
    if wanted and set(wanted) <= set(tokens):
        check_work(run, wanted)
    if tokens != wanted:
        other = Wrong(f"Your text is {shown(tokens)}; without drafts the target writes {shown(wanted)}.")
        raise wrong_length(run, tokens, wanted, ended) or run.wrong_round(run.prompt + tokens) or other


def check_work(run: Watched, wanted: list[int]) -> None:
    """Raises Wrong where the text was not made by the target that the loop was given, or without drafts."""
    if run.is_plain() and len(wanted) > 2:  # the prefill may give the first, and then no draft has room
        never = "Your loop knows the text without its drafts" if run.proposals else "Your loop never asks for drafts"
        raise Wrong(f"{never}: this is plain decoding.")
    if run.valid < len(run.prompt) + len(wanted) - 1:
        said = "The target that your function is given has never computed your text."
        raise Wrong(f"{said} Every token has to come from a pass of this target, behind the tokens before it.")


def wrong_length(run: Watched, tokens: list, wanted: list[int], ended: bool) -> Wrong | None:
    """Why there is more than the wanted text, or only its beginning. ended: it ends with the end marker."""
    if tokens == run.prompt + wanted:
        return Wrong("Your function returns the prompt as well. Return only the new tokens.", 0.75)
    if tokens[: len(wanted)] == wanted:
        if ended:
            said = (
                f"What follows the end marker must not be written: it is {run.end}, and your text is {shown(tokens)}."
            )
            return Wrong(f"{said} It may stand among accepted drafts.", 0.5)
        said = f"Your function returns {len(tokens)} tokens for n = {run.n}: the last round may write too many."
        return Wrong(said, 0.5)
    if tokens != wanted[: len(tokens)]:
        return None
    if ended and tokens == wanted[:-1]:
        return Wrong("The end marker itself is missing: it is the last token that you return.", 0.75)
    early = "Your text stops too early:"
    if run.end in run.prompt:
        return Wrong(f"{early} the end marker in the prompt does not count.", 0.5)
    if not ended and run.end != NO_END:
        return Wrong(f"{early} the end marker {run.end} was among drafts or choices, but not written.", 0.5)
    return Wrong(f"Your text stops after {len(tokens)} tokens, and there should be {len(wanted)}.")
