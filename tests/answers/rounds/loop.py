"""Answers to 2.loop."""

import itertools

from answers.rounds.one_round import agreeing, kept, late, play


def loop(
    begin=lambda target, prompt: target.extend(prompt[:-1]),
    ask=lambda draft, text, gamma, room: draft(text, gamma),
    feed=lambda text, drafts: [text[-1], *drafts],
    written=lambda drafts, choices: play(drafts, choices)[0] if drafts else choices,
    rewind=lambda target, old, text: target.rewind(len(text) - 1),
    done=lambda new, n, end: len(new) >= n or end in new,
    cut=lambda new, n, end: new[: new.index(end) + 1][:n] if end in new else new[:n],
    copy=list,
):
    """The loop, one of whose steps can be replaced by another, right or wrong."""

    def made(prompt, n, target, draft, gamma, end):
        start = len(prompt)
        text = copy(prompt)
        begin(target, text)
        while not done(text[start:], n, end):
            old = list(text)
            drafts = ask(draft, text, gamma, n - len(text) + start)
            fed = feed(text, drafts)
            choices = target.extend(fed)[len(fed) - len(drafts) - 1 :]
            text += written(drafts, choices)
            rewind(target, old, text)
        return cut(text[start:], n, end)

    return made


def straight(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while True:
        drafts = draft(text, gamma)
        choices = target.extend([text[-1], *drafts])
        for draft_token, choice in itertools.zip_longest(drafts, choices):
            text.append(choice)
            if choice == end or len(text) - len(prompt) == n:
                return text[len(prompt) :]
            if choice != draft_token:
                break
        target.rewind(len(text) - 1)


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


class Decoder:
    """The first pass takes the whole prompt with the first drafts; a rewind only after a miss."""

    def __call__(self, prompt, n, target, draft, gamma, end):
        text, proposals = tuple(prompt), draft(prompt, gamma)
        while True:
            given = [*text[target.length :], *proposals]
            choices = target.extend(given)[len(given) - len(proposals) - 1 :]
            tokens = [choices[0]]
            for proposal, choice in zip(proposals, choices[1:]):
                if proposal != tokens[-1]:
                    target.rewind(len(text) + len(tokens) - 1)
                    break
                tokens.append(choice)
            text += tuple(tokens)
            new = list(text[len(prompt) :])[:n]
            if end in new:
                return new[: new.index(end) + 1]
            if len(new) == n:
                return new
            proposals = draft(text, gamma)


def plain(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while len(text) < len(prompt) + n and end not in text[len(prompt) :]:
        text += target.extend(text[-1:])
    return text[len(prompt) :]


def one_by_one(prompt, n, target, draft, gamma, end):
    text = list(prompt)
    target.extend(text[:-1])
    while len(text) < len(prompt) + n:
        for proposal in [*draft(text, gamma), None]:
            (choice,) = target.extend(text[-1:])
            text.append(choice)
            if choice == end or choice != proposal:
                break
    return text[len(prompt) :]


def drafts_past_the_end(prompt, n, target, draft, gamma, end):
    """Only the last token of a round is compared with the end marker."""
    return loop(done=lambda new, n, end: len(new) >= n or new[-1:] == [end])(prompt, n, target, draft, gamma, end)


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


def one_more_draft(prompt, n, target, draft, gamma, end):
    return loop(ask=lambda draft, text, gamma, room: draft(text, gamma + 1))(prompt, n, target, draft, gamma, end)


def corrects_at_once(prompt, n, target, draft, gamma, end):
    """Right text; the correction goes through a pass of its own."""
    text = list(prompt)
    choice = target.extend(text)[-1]
    text.append(choice)
    while len(text) < len(prompt) + n:
        drafts = draft(text, gamma)
        choices = target.extend([text[-1]]) + target.extend(drafts)
        text += play(drafts, choices)[0] if drafts else choices
        target.rewind(len(text) - 1)
    return text[len(prompt) : len(prompt) + n]


def swallows(prompt, n, target, draft, gamma, end):
    """A mistake, and a bare except around it."""
    try:
        return loop(rewind=lambda target, old, text: None)(prompt, n, target, draft, gamma, end)
    except Exception:
        return []


def never_moves(prompt, n, target, draft, gamma, end):
    new = []
    while len(new) < n:
        draft(prompt + new, gamma)
    return new


def counts_behind_a_miss(drafts, choices):
    return [*agreeing(drafts, choices), choices[kept(drafts, choices)]]


def end_in(where):
    """Stops when the end marker is among drafts or choices, written or not."""

    def made(prompt, n, target, draft, gamma, end):
        text = list(prompt)
        target.extend(text[:-1])
        while True:
            drafts = draft(text, gamma)
            choices = target.extend([text[-1], *drafts])
            tokens = play(drafts, choices)[0] if drafts else choices
            for token in tokens:
                text.append(token)
                if token == end or len(text) == len(prompt) + n:
                    return text[len(prompt) :]
            if end in where(drafts, choices):
                return text[len(prompt) :]
            target.rewind(len(text) - 1)

    return made


def end_in_the_prompt(prompt, n, target, draft, gamma, end):
    return [] if end in prompt else straight(prompt, n, target, draft, gamma, end)


RIGHT = {"2.loop": [straight, prefill_writes_the_first_token, Decoder(), loop()]}
WRONG = {
    "2.loop": {
        "never rewinds": (loop(rewind=lambda target, old, text: None), "Rewind after the round", None),
        "rewinds one too little": (
            loop(rewind=lambda target, old, text: target.rewind(len(text))),
            "keeps one too many",
            None,
        ),
        "rewinds two too little": (
            loop(rewind=lambda target, old, text: target.rewind(len(text) + 1)),
            "your rewind keeps too many",
            None,
        ),
        "rewinds one too far": (
            loop(rewind=lambda target, old, text: target.rewind(len(text) - 2)),
            "goes too far",
            None,
        ),
        "drops accepted drafts": (
            loop(rewind=lambda target, old, text: target.rewind(len(old))),
            "the accepted drafts as well",
            9,
        ),
        "rewinds by the old text": (
            loop(rewind=lambda target, old, text: target.rewind(len(old) - 1)),
            "the accepted drafts as well",
            9,
        ),
        "computes all of it again": (
            loop(
                feed=lambda text, drafts: [*text, *drafts],
                begin=lambda target, prompt: None,
                rewind=lambda target, old, text: target.rewind(0),
            ),
            "computes tokens again",
            None,
        ),
        "gives the whole text": (loop(feed=lambda text, drafts: [*text, *drafts]), "Only what has no entry", None),
        "no prefill": (loop(begin=lambda target, prompt: None), "The cache is empty in your first round", None),
        "prefill of all": (loop(begin=lambda target, prompt: target.extend(prompt)), "it had an entry already", None),
        "counts behind a miss": (loop(written=counts_behind_a_miss), "even if it agrees", 1),
        "goes on behind the correction": (
            loop(written=lambda d, c: [*d[: kept(d, c)], c[kept(d, c)], *late(d, c, kept(d, c))]),
            "the round is over",
            1,
        ),
        "accepts every draft": (loop(written=lambda d, c: [*d, c[-1]]), "the drafter decides the text", 11),
        "the rejected draft": (
            loop(written=lambda d, c: [*d[: kept(d, c) + 1], *c[len(d) :]][: kept(d, c) + 1]),
            "The draft that misses is not written",
            None,
        ),
        "no own token": (loop(written=lambda d, c: d[: kept(d, c)]), "The correction is missing", 6),
        "no bonus": (loop(written=lambda d, c: play(d, c)[0][: len(d)] if d else c), "The bonus is missing", 6),
        "bonus from the drafter": (
            loop(written=lambda d, c: play(d, c)[0] if kept(d, c) < len(d) or not d else [*d, d[-1]]),
            "The bonus is the target's last choice, and no draft",
            10,
        ),
        "asks again for the bonus": (asks_again_for_the_bonus, "asks the drafter for one token more", 10),
        "one draft more": (one_more_draft, "is the target's own, and no draft", 10),
        "one draft": (
            loop(ask=lambda draft, text, gamma, room: draft(text, 1)),
            "gives all drafts of a round at once",
            None,
        ),
        "drafts without the last token": (
            loop(ask=lambda draft, text, gamma, room: draft(text[:-1], gamma)),
            "draft() needs the whole text",
            None,
        ),
        "drafts for the new tokens": (
            loop(ask=lambda draft, text, gamma, room: draft(text[4:], gamma)),
            "draft() needs the whole text",
            None,
        ),
        "the correction twice": (
            loop(written=lambda d, c: [*play(d, c)[0], c[kept(d, c)]] if d else c),
            "the round is over",
            None,
        ),
        "the wrong choice": (loop(written=lambda d, c: [*d[: kept(d, c)], c[-1]]), "It should be [", None),
        "keeps one draft": (loop(written=lambda d, c: play(d, c)[0][:1]), "More drafts were right", None),
        "without the last token": (
            loop(feed=lambda text, drafts: drafts or text[-1:]),
            "Your pass begins with the drafts",
            None,
        ),
        "some drafts": (loop(feed=lambda text, drafts: [text[-1], *drafts[:1]]), "one pass checks all of them", None),
        "drafts turned round": (loop(feed=lambda text, drafts: [text[-1], *drafts[::-1]]), "but your loop gives", None),
        "plain decoding": (plain, "this is plain decoding", None),
        "draft by draft": (one_by_one, "one pass checks all of them", None),
        "two passes a round": (corrects_at_once, "one pass checks all of them", None),
        "more than n": (loop(cut=lambda new, n, end: new), "the last round may write too many", None),
        "one too few": (loop(cut=lambda new, n, end: new[: n - 1]), "Your text stops after 29 tokens", None),
        "ends one too early": (loop(done=lambda new, n, end: len(new) >= n - 1 or end in new), "stops after", None),
        "goes on": (
            loop(done=lambda new, n, end: len(new) > n or end in new),
            "after all 30 tokens were written",
            None,
        ),
        "end only as the last token": (drafts_past_the_end, "may stand among the accepted drafts", None),
        "no end at all": (
            loop(done=lambda new, n, end: len(new) >= n, cut=lambda new, n, end: new[:n]),
            "goes on after the end marker",
            None,
        ),
        "text behind the end": (loop(cut=lambda new, n, end: new[:n]), "What follows the end marker", None),
        "end left out": (
            loop(cut=lambda new, n, end: new[: new.index(end)] if end in new else new[:n]),
            "The end marker itself is missing",
            None,
        ),
        "with the prompt": (
            lambda prompt, n, *rest: prompt + straight(prompt, n, *rest),
            "Return only the new tokens",
            None,
        ),
        "changes the prompt": (loop(copy=lambda prompt: prompt), "Work on a copy", None),
        "a whole text as one token": (
            loop(feed=lambda text, drafts: [[text[-1], *drafts]]),
            "extend takes one list",
            None,
        ),
        "a list for a length": (
            loop(rewind=lambda target, old, text: target.rewind([len(text) - 1])),
            "rewind takes the number of entries",
            None,
        ),
        "catches everything": (swallows, "Rewind after the round", None),
        "returns nothing": (lambda *case: straight(*case) and None, "returns nothing: return the list", None),
        "returns a number": (lambda *case: len(straight(*case)), "should be a list", None),
        "never moves": (never_moves, "a loop that never stops", None),
        "end among drafts": (end_in(lambda drafts, choices: drafts), "but not written", None),
        "end among choices": (end_in(lambda drafts, choices: choices), "but not written", None),
        "end in the prompt": (end_in_the_prompt, "the end marker in the prompt does not count", None),
    }
}
