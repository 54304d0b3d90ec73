"""Answers to exercise 2."""

import itertools

# The round


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


def play_with_itertools(drafts, choices):
    agree = list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(drafts, choices)))
    own = choices[len(agree)]
    marks = ["accepted" for _ in agree]
    if len(agree) < len(drafts):
        marks.append("rejected")
    while len(marks) < len(drafts):
        marks.append("discarded")
    return (*(d for d, _ in agree), own), [*marks, "corrected" if "rejected" in marks else "bonus"]


def kept(drafts, choices):
    return play(drafts, choices)[1].count("accepted")


def agreeing(drafts, choices):
    return [d for d, c in zip(drafts, choices) if d == c]


def writes(way):
    """Wrong tokens and right marks."""
    return lambda drafts, choices: (way(drafts, choices, kept(drafts, choices)), play(drafts, choices)[1])


def marks(way):
    """Right tokens and wrong marks."""
    return lambda d, c: (play(d, c)[0], way(play(d, c)[1], d, c))


def late(d, c, a):
    return agreeing(d[a + 1 :], c[a + 1 :])


# The cache


def entries(drafts, choices):
    return len(choices), kept(drafts, choices) + 1


def entries_by_name(drafts, choices):
    made = ["last", *drafts]
    stay = ["last", *play(drafts, choices)[0][:-1]]
    return [len(made), len(stay)]


def entries_by_index(drafts, choices):
    misses = [i for i, (d, c) in enumerate(zip(drafts, choices)) if d != c]
    return len(drafts) + 1, (misses[0] if misses else len(drafts)) + 1


def made(count):
    return lambda d, c: (count(len(d), kept(d, c)), kept(d, c) + 1)


def stay(count):
    return lambda d, c: (len(d) + 1, count(len(d), kept(d, c), len(agreeing(d, c))))


# The loop


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


RIGHT = {
    "2.round": [play, play_token_by_token, play_with_itertools],
    "2.cache": [entries, entries_by_name, entries_by_index],
    "2.loop": [straight, prefill_writes_the_first_token, Decoder(), loop()],
}
WRONG = {
    "2.round": {
        "counts all that agree": (writes(lambda d, c, a: [*agreeing(d, c), c[a]]), "After the first miss nothing", 1),
        "counts all that agree, last choice": (writes(lambda d, c, a: [*agreeing(d, c), c[-1]]), "nothing counts", 1),
        "only what agrees": (writes(lambda d, c, a: agreeing(d, c)), "own token is missing", 1),
        "goes on after the correction": (
            writes(lambda d, c, a: c if a == len(d) else [*d[:a], c[a], *late(d, c, a)]),
            "After the first miss nothing",
            1,
        ),
        "goes on with all choices": (writes(lambda d, c, a: c), "After the first miss nothing", None),
        "goes on with one agreeing draft": (
            writes(lambda d, c, a: [*d[:a], c[a], *late(d, c, a)[:1]]),
            "After the first miss nothing",
            1,
        ),
        "no own token": (writes(lambda d, c, a: d[:a]), "own token is missing", 6),
        "no bonus": (writes(lambda d, c, a: [*d[:a], *c[a : a + 1]][: len(d)]), "The bonus is missing", 6),
        "no correction": (writes(lambda d, c, a: d[:a] if a < len(d) else c), "The correction is missing", 6),
        "bonus from the drafter": (
            writes(lambda d, c, a: [*d[:a], c[a]] if a < len(d) else [*d, d[-1]]),
            "The bonus is the target's choice",
            10,
        ),
        "the rejected draft": (writes(lambda d, c, a: d[: a + 1]), "The bonus is missing, and the first draft", None),
        "rejected and corrected": (
            writes(lambda d, c, a: [*d[: a + 1], c[a]]),
            "The correction stands in its place",
            None,
        ),
        "all drafts": (writes(lambda d, c, a: d), "all drafts, whatever the target says", None),
        "all drafts and one": (writes(lambda d, c, a: [*d, c[-1]]), "all drafts, whatever", None),
        "last choice": (writes(lambda d, c, a: [*d[:a], c[-1]]), "always take the last choice", None),
        "a place too late": (
            writes(lambda d, c, a: [*d[:a], c[min(a + 1, len(d))]]),
            "comes from one place too late",
            None,
        ),
        "compares with the next choice": (
            writes(lambda d, c, a: play(d, [*c[1:], c[0]])[0] if d[0] != c[1] else c[1:]),
            "each draft with the choice one place later",
            None,
        ),
        "only the own token": (writes(lambda d, c, a: [c[a]]), "accepted drafts are missing", None),
        "writes nothing": (lambda d, c: ([], []), "so [4, 8, 7] is written", None),
        "something else": (writes(lambda d, c, a: [1, 2]), "so [4, 8, 7] is written", None),
        "one list": (lambda d, c: play(d, c)[0], "should return two lists", None),
        "exchanged": (lambda d, c: play(d, c)[::-1], "come first, then the marks", None),
        "text for tokens": (lambda d, c: ("478", []), "should be a list", None),
        "raises": (lambda d, c: play([*d[:-2], c[9]], c), "IndexError", None),
        "own words": (marks(lambda m, d, c: [x.upper() for x in m]), "is no mark", None),
        "agreeing drafts marked accepted": (
            marks(lambda m, d, c: ["accepted" if x == y else z for x, y, z in zip(d, c, m)] + m[-1:]),
            "never accepted, even if it agrees",
            1,
        ),
        "one mark for each place": (
            marks(lambda m, d, c: ["corrected" if x == "rejected" else x for x in m][: len(d)]),
            "are two tokens",
            None,
        ),
        "no mark for the own token": (marks(lambda m, d, c: m[:-1]), "it is the last one", None),
        "a mark for each written token": (
            marks(lambda m, d, c: ["accepted"] * kept(d, c) + m[-1:]),
            "There should be 5 marks",
            None,
        ),
        "always bonus": (marks(lambda m, d, c: [*m[:-1], "bonus"]), "The last mark should be corrected", None),
        "always corrected": (marks(lambda m, d, c: [*m[:-1], "corrected"]), "should be bonus", None),
        "all rejected": (
            marks(lambda m, d, c: ["rejected" if x == "discarded" else x for x in m]),
            "Only one draft is rejected",
            None,
        ),
        "none rejected": (
            marks(lambda m, d, c: ["discarded" if x == "rejected" else x for x in m]),
            "The first miss was compared",
            None,
        ),
        "marks shuffled": (marks(lambda m, d, c: ["rejected", *m[1:]]), "They should be", None),
    },
    "2.cache": {
        "skips accepted drafts": (made(lambda g, a: g + 1 - a), "The target skips nothing", 9),
        "computes what is kept": (made(lambda g, a: a + 1), "finished before anything is compared", None),
        "up to the miss": (made(lambda g, a: min(a + 1, g)), "finished before anything is compared", None),
        "only the drafts": (made(lambda g, a: g), "the last token of the text goes through", None),
        "the own token, too": (made(lambda g, a: g + 2), "chosen, not computed", None),
        "one": (made(lambda g, a: 1), "all at once", None),
        "only the old token stays": (stay(lambda g, a, m: 1), "They are not computed again", 9),
        "nothing stays": (stay(lambda g, a, m: 0), "may stay", None),
        "all stay": (stay(lambda g, a, m: g + 1), "rejected and discarded drafts must go", None),
        "one too few": (stay(lambda g, a, m: a), "One more may stay", None),
        "one too many": (stay(lambda g, a, m: a + 2), "has no entry yet", None),
        "the rejected one": (stay(lambda g, a, m: min(a + 2, g + 1)), "of the rejected draft must go", None),
        "all that agree": (stay(lambda g, a, m: m + 1), "even if they agree", 1),
        "those that go": (stay(lambda g, a, m: g - a), "that must go", None),
        "something else": (stay(lambda g, a, m: 2), "It should be 3", None),
        "exchanged": (lambda d, c: entries(d, c)[::-1], "exchanged", None),
        "one number": (lambda d, c: kept(d, c) + 1, "should be a list", None),
        "three numbers": (lambda d, c: (1, 2, 3), "should return two numbers", None),
        "half": (lambda d, c: (len(c), 0.5), "a whole number", None),
    },
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
        "drafts without the last token": (loop(ask=lambda draft, text, gamma, room: draft(text[:-1], gamma)), "draft() needs the whole text", None),
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
        "goes on": (loop(done=lambda new, n, end: len(new) > n or end in new), "after all 30 tokens were written", None),
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
        "a whole text as one token": (loop(feed=lambda text, drafts: [[text[-1], *drafts]]), "extend takes one list", None),
        "a list for a length": (
            loop(rewind=lambda target, old, text: target.rewind([len(text) - 1])),
            "rewind takes the number of entries",
            None,
        ),
        "catches everything": (swallows, "Rewind after the round", None),
        "returns nothing": (lambda *case: straight(*case) and None, "returns nothing: return the list", None),
        "returns a number": (lambda *case: len(straight(*case)), "should be a list", None),
        "never moves": (never_moves, "a loop that never stops", None),
    },
}  # fmt: skip


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


WRONG["2.loop"] |= {
    "end among drafts": (end_in(lambda drafts, choices: drafts), "but not written", None),
    "end among choices": (end_in(lambda drafts, choices: choices), "but not written", None),
    "end in the prompt": (end_in_the_prompt, "the end marker in the prompt does not count", None),
}
