"""Answers to exercise 2."""

import contextlib
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


def play_token_by_token(drafts, choices):
    written, marks, open_ = [], [], True
    for draft, choice in zip(drafts, choices):
        if not open_:
            marks.append("discarded")
            continue
        written.append(choice)
        open_ = draft == choice
        marks.append("accepted" if open_ else "rejected")
    if open_:
        written.append(choices[-1])
    return written, [*marks, "bonus" if open_ else "corrected"]


def play_with_signs(drafts, choices):
    """The marks in one text, by the signs that the lessons use."""
    signs = {"accepted": "✓", "rejected": "✗", "discarded": "–", "corrected": "↻", "bonus": "+"}
    written, marks = play(drafts, choices)
    return written, " ".join(signs[mark] for mark in marks)


def play_with_signs_of_each(drafts, choices):
    written, marks = play_with_signs(drafts, choices)
    return written, marks.split()


def kept(drafts, choices):
    return play(drafts, choices)[1].count("accepted")


def agreeing(drafts, choices):
    return [d for d, c in zip(drafts, choices) if d == c]


def late(drafts, choices):
    """Drafts that agree after the first miss."""
    a = kept(drafts, choices)
    return agreeing(drafts[a + 1 :], choices[a + 1 :])


def marks(way):
    """Right tokens and wrong marks."""
    return lambda d, c: (play(d, c)[0], way(play(d, c)[1], d, c))


def instead(of, mark):
    return marks(lambda m, d, c: [mark if x == of else x for x in m])


def loop(
    begin=lambda target, prompt: target.extend(prompt[:-1]),
    ask=lambda draft, text, gamma: draft(text, gamma),
    feed=lambda text, drafts: [text[-1], *drafts],
    written=lambda drafts, choices: play(drafts, choices)[0] if drafts else choices,
    stay=lambda old, text: len(text) - 1,
    done=lambda new, n, end, *round: len(new) >= n or end in new,
    cut=lambda new, n, end: new[: new.index(end) + 1][:n] if end in new else new[:n],
    copy=list,
):
    """The loop, one of whose steps can be replaced by another, right or wrong. stay: entries after the rewind, or None."""

    def made(prompt, n, target, draft, gamma, end):
        start = len(prompt)
        text = copy(prompt)
        begin(target, text)
        drafts = choices = []
        while not done(text[start:], n, end, drafts, choices):
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


def asks_again_for_the_bonus(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while len(text) < len(prompt) + n:
        drafts = draft(text, gamma)
        choices = target.extend([text[-1], *drafts])
        a = kept(drafts, choices)
        text += drafts[:a]
        text += [choices[a]] if a < len(drafts) else draft(text, 1)
        target.rewind(len(text) - 1)
    return text[len(prompt) : len(prompt) + n]


def in_two_passes(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    drafts = draft(text, gamma)
    target.extend([text[-1], *drafts])
    target.rewind(len(text) - 1)
    return target.extend([text[-1], *drafts])


def drafts_twice(prompt, n, target, draft, gamma, end):
    first = draft(prompt, gamma)
    return draft(prompt + first, gamma)


def one_round_then_alone(prompt, n, target, draft, gamma, end):
    """The rest comes from another target."""
    target.extend(prompt[:-1])
    drafts = draft(prompt, gamma)
    target.extend([prompt[-1], *drafts])
    new = written_alone(prompt, n)
    return new[: new.index(end) + 1] if end in new else new


def rewind_both(text, target, draft):
    stay = len(text) - 1
    return target[:stay], draft[:stay], text[min(stay, len(draft)) :]


def rewind_by_what_is_equal(text, target, draft):
    """Cuts where a cache and the text part."""
    caches = [list(target), list(draft)]
    for cache in caches:
        while cache != text[: len(cache)]:
            cache.pop()
    return (*caches, text[len(caches[1]) :])


def asks_when_all_is_written(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while len(text) < len(prompt) + n and end not in text[len(prompt) :]:
        text += target.extend(text[-1:])
    draft(text, gamma)
    return text[len(prompt) :]


def swallows(*case):
    """A mistake, and an except around it."""
    with contextlib.suppress(Exception):
        return loop(stay=lambda old, text: None)(*case)


RIGHT = {
    "2.round": [play, play_token_by_token, play_with_signs, play_with_signs_of_each],
    "2.cache": [lambda d, c: (len(c), kept(d, c) + 1), lambda d, c: [len(c), len(play(d, c)[0])], lambda d, c: (len(d) + 1, [*map(operator.ne, d, c), True].index(True) + 1)],
    "2.rewind": [rewind_both, rewind_by_what_is_equal],
    "2.loop": [loop(), prefill_writes_the_first_token, asks_only_where_a_draft_has_room, first_pass_takes_the_prompt],
}  # fmt: skip
WRONG = {
    "2.round": {
        "something else": (lambda d, c: ([1, 2], play(d, c)[1]), "so [4, 8, 7] is written"),
        "one token behind the bonus": (lambda d, c: ([*c, 7] if kept(d, c) == len(d) else play(d, c)[0], play(d, c)[1]), "Here there is no miss, so [4, 8, 1, 9, 2] is written"),
        "one list": (lambda d, c: play(d, c)[0], "should return two lists"),
        "exchanged": (lambda d, c: play(d, c)[::-1], "come first, then the marks"),
        "own words": (marks(lambda m, d, c: ["wrong" if x == "rejected" else x for x in m]), "one of yours is 'wrong'"),
        "beyond the end": (lambda d, c: ([*d[: kept(d, c)], c[kept(d, c) + 1]], play(d, c)[1]), "With the drafts [4, 8, 1, 9] and the choices [4, 8, 1, 9, 2]: Your code raised IndexError"),
        "all that agree": (marks(lambda m, d, c: ["accepted" if x == y else z for x, y, z in zip(d, c, m)] + m[-1:]), "never accepted, even", 1),
        "one mark for each place": (lambda d, c: (play(d, c)[0], instead("rejected", "corrected")(d, c)[1][: len(d)]), "you give 4"),
        "always bonus": (instead("corrected", "bonus"), "The last mark is that of"),
        "all rejected": (instead("discarded", "rejected"), "Mark 4, “rejected”, is wrong"),
    },
    "2.cache": {
        "something else": (lambda d, c: (len(c), 2), "your “stay” is 2. It should be 3"),
        "exchanged": (lambda d, c: (kept(d, c) + 1, len(c)), "exchanged"),
        "three numbers": (lambda d, c: (1, 2, 3), "should return two numbers"),
        "half": (lambda d, c: (len(c), 0.5), "a whole number"),
        "four entries": (lambda d, c: (4, kept(d, c) + 1), "It should be 5: the last token of the text goes through the pass, and all 4 drafts"),
    },
    "2.rewind": {
        "something else": (lambda text, target, draft: (target[:1], *rewind_both(text, target, draft)[1:]), "your first result is [17]. It should be [17, 23, 5, 4, 8]"),
        "the draft's too short": (lambda text, target, draft: (target[: len(text) - 1], draft[:1], text[1:]), "your second result is [17]"),
        "reads its cache": (lambda text, target, draft: (*rewind_both(text, target, draft)[:2], draft), "your third result is [17, 23, 5, 4, 8, 1]"),
        "two lists": (lambda text, target, draft: (target, draft), "should return three lists"),
        "lengths": (lambda text, target, draft: (len(text) - 1, draft, text), "The first result should be a list"),
        "beyond the end": (lambda text, target, draft: (target[: len(text) - 1], draft[: len(text) - 1], [draft[len(text) - 1], text[-1]]), ": Your code raised IndexError"),
    },
    "2.loop": {
        "never rewinds": (loop(stay=lambda old, text: None), "Rewind after the round"),
        "rewinds one too little": (loop(stay=lambda old, text: len(text)), "your rewind keeps too many"),
        "rewinds one too far": (loop(stay=lambda old, text: len(text) - 2), "goes too far: the cache has 5 entries and the text 7 tokens"),
        "drops accepted drafts": (loop(stay=lambda old, text: len(old)), "the accepted drafts as well", 9),
        "a list for a length": (loop(stay=lambda old, text: [len(text) - 1]), "rewind takes the number of entries"),
        "all of it again": (loop(feed=lambda text, drafts: text + drafts, begin=lambda *_: None, stay=lambda *_: 0), "computes tokens again"),
        "gives the whole text": (loop(feed=lambda text, drafts: text + drafts), "Only what has no entry"),
        "without the last token": (loop(feed=lambda text, drafts: drafts or text[-1:]), "that one goes first"),
        "no drafts": (loop(feed=lambda text, drafts: text[-1:]), "gives none of them to the target: one pass checks all of them"),
        "drafts turned round": (loop(feed=lambda text, drafts: [text[-1], *drafts[::-1]]), "but your loop gives"),
        "a whole text as one token": (loop(feed=lambda text, drafts: [[text[-1], *drafts]]), "extend takes one list"),
        "no prefill": (loop(begin=lambda target, prompt: None), "The cache is empty in your first round"),
        "prefill of all": (loop(begin=lambda target, prompt: target.extend(prompt)), "it had an entry already"),
        "counts behind a miss": (loop(written=lambda d, c: [*agreeing(d, c), c[kept(d, c)]]), "even if it agrees", 1),
        "goes on behind the correction": (loop(written=lambda d, c: [*d[: kept(d, c)], c[kept(d, c)], *late(d, c)]), "the round is over", 1),
        "accepts every draft": (loop(written=lambda d, c: [*d, c[-1]]), "the drafter decides the text", 11),
        "no own token": (loop(written=lambda d, c: d[: kept(d, c)]), "The correction is missing", 6),
        "no bonus": (loop(written=lambda d, c: play(d, c)[0][: len(d)] if d else c), "The bonus is missing", 6),
        "the wrong choice": (loop(written=lambda d, c: [*d[: kept(d, c)], c[-1]]), "at place 3) your loop writes [38, 63, 47]. It should be [38, 63, 75]"),
        "writes nothing": (loop(written=lambda d, c: []), "A round of your loop writes nothing", 6),
        "two passes": (in_two_passes, "There are several passes in a round"),
        "drafts twice": (drafts_twice, "before the target has checked the first ones"),
        "asks again for the bonus": (asks_again_for_the_bonus, "asks the drafter for one token more", 10),
        "one draft more": (loop(ask=lambda draft, text, gamma: draft(text, gamma + 1)), "is the target's own, and no draft", 10),
        "one draft": (loop(ask=lambda draft, text, gamma: draft(text, 1)), "gives all drafts of a round at once"),
        "no draft in each round": (loop(ask=lambda draft, text, gamma: draft(text, 0)), "Without a draft each round is plain decoding"),
        "the prompt in each round": (lambda prompt, *more: loop(ask=lambda draft, text, gamma: draft(prompt, gamma))(prompt, *more), "gives draft() the prompt in each round"),
        "asks when all is written": (asks_when_all_is_written, "knows the text without its drafts"),
        "drafts without the last token": (loop(ask=lambda draft, text, gamma: draft(text[:-1], gamma)), "draft() needs the whole text"),
        "one round, then alone": (one_round_then_alone, "has never computed your text"),
        "plain decoding": (loop(ask=lambda draft, text, gamma: []), "this is plain decoding"),
        "more than n": (loop(cut=lambda new, n, end: new), "the last round may write too many"),
        "text behind the end": (loop(cut=lambda new, n, end: new[:n]), "What follows the end marker"),
        "end left out": (loop(cut=lambda new, n, end: new[: new.index(end)] if end in new else new[:n]), "The end marker itself is missing"),
        "ends one too early": (loop(done=lambda new, n, end, *round: len(new) >= n - 1 or end in new), "stops after"),
        "goes on": (loop(done=lambda new, n, end, *round: len(new) > n or end in new), "after all 30 tokens were written"),
        "end as the last token": (loop(done=lambda new, n, end, *round: len(new) >= n or new[-1:] == [end]), "may stand among the accepted drafts"),
        "end among drafts": (loop(done=lambda new, n, end, d, c: len(new) >= n or end in new + d), "but not written"),
        "end in the prompt": (lambda prompt, *rest: [] if rest[-1] in prompt else loop()(prompt, *rest), "the end marker in the prompt does not count"),
        "with the prompt": (lambda prompt, *rest: prompt + loop()(prompt, *rest), "Return only the new tokens"),
        "changes the prompt": (loop(copy=lambda prompt: prompt), "Work on a copy"),
        "catches everything": (swallows, "Rewind after the round"),
        "returns nothing": (lambda *case: loop()(*case) and None, "returns nothing: return the list"),
        "never moves": (lambda prompt, n, target, draft, gamma, end: [0 for _ in iter(lambda: draft(prompt, gamma), 1)], "a loop that never stops"),
    },
}  # fmt: skip
