"""Answers to exercise 2."""

import contextlib
import itertools
import operator

from specdec_grader.supplied.toy import written_alone


def play(drafts, choices):
    a = 0
    while a < len(drafts) and drafts[a] == choices[a]:
        a += 1
    if a == len(drafts):
        return [*drafts, choices[a]], ["accepted"] * a + ["bonus"]
    marks = ["accepted"] * a + ["rejected"] + ["discarded"] * (len(drafts) - a - 1) + ["corrected"]
    return [*drafts[:a], choices[a]], marks


def play_with_signs(drafts, choices):
    """The marks in one text, by the signs that the lessons use."""
    signs = {"accepted": "✓", "rejected": "✗", "discarded": "–", "corrected": "↻", "bonus": "+"}
    written, marks = play(drafts, choices)
    return written, " ".join(signs[mark] for mark in marks)


def kept(drafts, choices):
    return play(drafts, choices)[1].count("accepted")


def loop(
    begin=lambda target, prompt: target.extend(prompt[:-1]),
    ask=lambda draft, text, gamma: draft(text, gamma),
    feed=lambda text, drafts: [text[-1], *drafts],
    written=lambda drafts, choices: play(drafts, choices)[0] if drafts else choices,
    stay=lambda old, text: len(text) - 1,
    cut=lambda new, n, end: new[: new.index(end) + 1][:n] if end in new else new[:n],
):
    """The loop, one of whose steps can be replaced by another, right or wrong. stay: entries after the rewind, or None."""

    def made(prompt, n, target, draft, gamma, end):
        start, text = len(prompt), list(prompt)
        begin(target, text)
        while len(text) - start < n and end not in text[start:]:
            old = list(text)
            drafts = ask(draft, text, gamma)
            fed = feed(text, drafts)
            choices = target.extend(fed)[len(fed) - len(drafts) - 1 :]
            text += written(drafts, choices)
            if (length := stay(old, text)) is not None:
                target.rewind(length)
        return cut(text[start:], n, end)

    return made


def prefill_writes_the_first_token(prompt, n, target, draft, gamma, end):
    new = target.extend(prompt)[-1:]
    while len(new) < n and end not in new:
        drafts = draft(prompt + new, min(gamma, n - len(new) - 1))
        before = target.length
        choices = target.extend(new[-1:] + drafts)
        a = 0
        while a < len(drafts) and drafts[a] == choices[a]:
            a += 1
        new.extend(drafts[:a] + choices[a : a + 1])
        target.rewind(before + 1 + a)
    return new[: new.index(end) + 1] if end in new else new


def asks_only_where_a_draft_has_room(prompt, n, target, draft, gamma, end):
    """And the prefill writes the first token, so that of two tokens none can be a draft."""

    def asked(text, most):
        return draft(text, most) if most > 0 else []

    return prefill_writes_the_first_token(prompt, n, target, asked, gamma, end)


def first_pass_takes_the_prompt(prompt, n, target, draft, gamma, end):
    """And a rewind comes only after a miss."""
    new = []
    while len(new) < n and end not in new:
        text = (*prompt, *new)
        drafts = draft(text, gamma)
        given = [*text[target.length :], *drafts]
        choices = target.extend(given)[len(given) - len(drafts) - 1 :]
        new.append(choices[0])
        for proposal, choice in zip(drafts, choices[1:]):
            if proposal != new[-1]:
                target.rewind(len(prompt) + len(new) - 1)
                break
            new.append(choice)
    return new[: new.index(end) + 1][:n] if end in new else new[:n]


def one_round_then_alone(prompt, n, target, draft, gamma, end):
    """The rest comes from another target."""
    target.extend(prompt[:-1])
    drafts = draft(prompt, gamma)
    target.extend([prompt[-1], *drafts])
    new = written_alone(prompt, n)
    return new[: new.index(end) + 1] if end in new else new


def gives_what_it_knows_as_a_draft(prompt, n, target, draft, gamma, end):
    def known(draft, text, gamma):
        (token,) = target.extend(text[-1:])
        target.rewind(len(text) - 1)
        draft(text, gamma)
        return [token]

    return loop(ask=known)(prompt, n, target, draft, gamma, end)


def shows_rounds_when_all_is_known(prompt, n, target, *more):
    loop(ask=lambda *_: [])(prompt, n, target, *more)
    target.rewind(len(prompt) - 1)
    return loop(begin=lambda *_: None)(prompt, n, target, *more)


def knows_the_text(prompt, n, *more):
    known = iter(written_alone(prompt, n))
    return loop(written=lambda d, c: list(itertools.islice(known, len(play(d, c)[0] if d else c))))(prompt, n, *more)


def rewind_both(text, target, draft):
    stay = len(text) - 1
    return target[:stay], draft[:stay], text[min(stay, len(draft)) :]


def swallows(*case):
    """A mistake, and an except around it."""
    with contextlib.suppress(Exception):
        return loop(stay=lambda old, text: None)(*case)


RIGHT = {
    "2.round": [play_with_signs],
    "2.cache": [lambda d, c: (len(d) + 1, [*map(operator.ne, d, c), True].index(True) + 1)],
    "2.rewind": [rewind_both],
    "2.loop": [loop(), prefill_writes_the_first_token, asks_only_where_a_draft_has_room, first_pass_takes_the_prompt],
}  # fmt: skip
WRONG = {
    "2.round": {
        "something else": (lambda d, c: ([1, 2], play(d, c)[1]), "so [4, 8, 7] is written"),
        "all that agree": (lambda d, c: (play(d, c)[0], ["accepted" if x == y else mark for x, y, mark in zip(d, c, play(d, c)[1])] + play(d, c)[1][-1:]), "never accepted, even", 1),
    },
    "2.cache": {
        "something else": (lambda d, c: (len(c), 2), "your “stay” is 2. It should be 3"),
        "exchanged": (lambda d, c: (kept(d, c) + 1, len(c)), "exchanged"),
    },
    "2.rewind": {
        "something else": (lambda text, target, draft: (target[:1], *rewind_both(text, target, draft)[1:]), "your first result is [17]. It should be [17, 23, 5, 4, 8]"),
    },
    "2.loop": {
        "never rewinds": (loop(stay=lambda old, text: None), "Rewind after the round"),
        "all of it again": (loop(feed=lambda text, drafts: text + drafts, begin=lambda *_: None, stay=lambda *_: 0), "computes tokens again", None, 2),
        "without the last token": (loop(feed=lambda text, drafts: drafts or text[-1:]), "that one goes first"),
        "drafts turned round": (loop(feed=lambda text, drafts: [text[-1], *drafts[::-1]]), "but your loop gives"),
        "accepts every draft": (loop(written=lambda d, c: [*d, c[-1]]), "the drafter decides the text", 11),
        "no bonus": (loop(written=lambda d, c: play(d, c)[0][: len(d)] if d else c), "The bonus is missing", 6),
        "one draft more": (loop(ask=lambda draft, text, gamma: draft(text, gamma + 1)), "is the target's own, and no draft", 10),
        "one draft": (loop(ask=lambda draft, text, gamma: draft(text, 1)), "gives all drafts of a round at once", None, 1),
        "the prompt in each round": (lambda prompt, *more: loop(ask=lambda draft, text, gamma: draft(prompt, gamma))(prompt, *more), "gives draft() the prompt in each round"),
        "one round, then alone": (one_round_then_alone, "has never computed your text", None, 0),
        # Each writes the right text, and most tokens come from a pass of their own, or from none: it earns nothing.
        "drops its drafts": (loop(ask=lambda draft, text, gamma: draft(text, gamma)[:0]), "gives none of them to the target", None, 0),
        "gives what it knows as a draft": (gives_what_it_knows_as_a_draft, "keeps 3 entries where 4 were right", None, 0),
        "shows rounds when all is known": (shows_rounds_when_all_is_known, "keeps 3 entries where 33 were right", None, 0),
        "knows the text": (knows_the_text, "your loop writes", None, 0),
        "one draft behind a slip": (loop(begin=lambda target, p: target.extend(p[:-2]), ask=lambda draft, text, gamma: draft(text, gamma)[: 1 if len(text) > 4 else 9], feed=lambda text, d: [*text[-2:], *d], stay=lambda old, text: len(text) - 2), "your rewind keeps", None, 0),
        "end left out": (loop(cut=lambda new, n, end: new[: new.index(end)] if end in new else new[:n]), "The end marker itself is missing", None, 3),
        "the prompt, too": (lambda prompt, *more: prompt + loop()(prompt, *more), "returns the prompt as well", None, 3),
        "catches everything": (swallows, "Rewind after the round"),
    },
}  # fmt: skip
