"""Exercise 9: the checkpoint. Its six cases are fixed, so what is judged are answers, and not programs."""

import re
from collections.abc import Callable, Sequence

from specdec_lab.grade.part import StillOpen, Wrong, begun, listed, number, part, same, shown, whole

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


# C1: who does what

SYMBOLS = {"✓": "accepted", "✗": "rejected", "↻": "corrected", "–": "discarded", "-": "discarded", "+": "bonus"}
SYMBOLS |= {"✔": "accepted", "x": "rejected", "×": "rejected", "—": "discarded"}  # what is easier to type
BAD_MARK = "A mark is accepted, rejected, discarded, corrected or bonus (or its symbol); one of yours is {}."


def words(value: object, what: str) -> list[str]:
    """Tokens, as a list of them or as one text; spaces around them do not count."""
    items = value.replace(",", " ").split() if isinstance(value, str) else listed(value, None, what)
    return [str(x).strip() for x in items]


def marks(value: object) -> list[str]:
    """Marks by their names, however they were written."""
    if isinstance(value, str):
        value = re.findall(r"[a-z]+|[^\sa-z,]", value.lower())
    found = [str(x).strip().lower() for x in listed(value, None, "The list of marks")]
    found = [SYMBOLS.get(x, x) for x in found]
    for x in found:
        if x not in SYMBOLS.values():
            raise Wrong(BAD_MARK.format(shown(x)))
    return found


WRITTEN = {
    "the cat sat by a": (
        "The last draft agrees with the target, but it stands after the miss: its row is about a text with `on`.",
        1,
    ),
    "the cat sat a": ("The `a` stands after the miss, and the place of the miss itself is not left empty.", 1),
    "the cat sat by a .": ("The target's column is not one sentence: below the miss it is about a text with `on`.", 1),
    "the cat sat": ("In the place of the miss the round writes one more token, the target's own.", 6),
    "the cat sat on": ("`on` was rejected, so it is not written. What stands in its place?", None),
    "the cat sat on a": ("These are the drafts. What did the target say in the fourth row?", None),
    "the cat sat on a .": ("Not all drafts agree with the target: look at the fourth row.", None),
    "by": ("The drafts that were accepted are written too, and not only the target's token.", None),
}


def written(value: object) -> None:
    found = " ".join(words(value, "The list of written tokens"))
    if found == "the cat sat by":
        return
    said, misconception = WRITTEN.get(
        found, ("Written are the accepted drafts, from left to right, and then one token of the target.", None)
    )
    raise Wrong(f"You say that the round writes “{found}”. {said}" if found else said, misconception=misconception)


def marked(value: object) -> None:
    found = marks(value)
    if len(found) != 6:
        raise Wrong(f"There are six marks, one for each of the five drafts and one at the end; you give {len(found)}.")
    drafts, own = found[:5], found[5]
    if drafts == ["accepted"] * 5:
        raise Wrong("You accept every draft. Compare the fourth one with what the target says there.")
    if drafts[:3] != ["accepted"] * 3:
        raise Wrong("The first three drafts are what the target says: what is the mark for that?")
    if drafts[3] == "corrected":
        raise Wrong("The fourth mark is the draft's, `on`. The mark of what replaces it comes at the end.")
    if drafts[3] != "rejected":
        raise Wrong("The fourth draft was compared, and it is not what the target says: what is the mark for that?")
    if drafts[4] == "accepted":
        raise Wrong("The last draft agrees with the target, but the round had ended before it.", misconception=1)
    if drafts[4] == "rejected":
        raise Wrong("The last draft was never compared with anything, so it was not rejected.")
    if drafts[4] != "discarded":
        raise Wrong("What is the mark of a draft that stands after the miss?")
    if own == "bonus":
        raise Wrong("The target's token is a bonus only where all drafts were kept.")
    if own != "corrected":
        raise Wrong("What is the mark of the token that stands in the place of a miss?")


KEPT = {
    (1, 2, 3, 4, 6): ("Row 6 was computed at the last draft, and that one is not in the text, whatever it says.", 1),
    (2, 3, 4): ("Where was row 1 computed? That token is in the text, too.", None),
    (1, 2, 3): ("Where was row 4 computed? That token is in the text.", None),
    (1, 2, 3, 4, 5): ("Row 5 was computed at `on`, which is not in the text; no row was computed at `by`.", None),
    (1, 2, 3, 4, 5, 6): ("Two of the six rows were computed at tokens that are not in the text.", None),
    (0, 1, 2, 3): ("The rows are numbered from 1 to 6.", None),
}


def kept(value: object) -> None:
    items = listed(value, None, "The list of rows")
    found = tuple(sorted(whole(x, "Each number of a row") for x in items))
    if found == (1, 2, 3, 4):
        return
    said, misconception = KEPT.get(found, ("An entry stays if the token at which its row was computed is kept.", None))
    raise Wrong(said, misconception=misconception)


@part("9.c1", points=1)
def c1(made: Callable[[], object]) -> None:
    """c1() → tokens written, marks, rows whose entries stay."""
    several(made, {"the tokens written": written, "the marks": marked, "the rows that stay": kept})


@part("9.c1.why", points=1)
def c1_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "C",
        {
            "A": ("The target said so about a text with `on` in it, and `on` is not there.", 1),
            "B": ("The pass is finished before anything is compared: six rows were computed, one for this draft.", 9),
            "D": ("There is a bonus only where all drafts were kept, and it is the target's.", 10),
        },
    )


# C2: why identical


def chances(value: object) -> None:
    found = row(value, 3, "the list of chances to be accepted")
    if max(found) > 1.001:
        raise Wrong(f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?")
    known = (
        ((0.5, 0.3, 0.2), "You accept a token with chance p: that waits for the target to draw the same token.", 3),
        ((0.35, 0.03, 0.04), "p · q is the chance that both draw this token.", 3),
        ((1, 0, 0), "You keep the target's favourite and nothing else; p and q are distributions, and all counts.", 4),
        ((1, 1 / 3, 1), "These are the chances min(1, q/p): p and q have changed places.", None),
        ((0.5, 0.1, 0.2), "min(p, q) is the chance that a token is drafted and accepted; here it is drafted.", None),
        ((0.8, 0.8, 0.8), "α is a mean over the tokens that q draws. Each token has a chance of its own.", None),
        ((1, 1, 1), "If every draft is accepted, the first token comes out with chance .7, which is too often.", None),
    )
    said = "A token that q says too often, compared with p, must be kept less often; what about the others?"
    compared(found, (5 / 7, 1, 1), known, said, 0.005)


def rest(value: object) -> None:
    found = row(value, 3, "the residual")
    known = (
        ((0.5, 0.3, 0.2), "This is p. Accepted drafts have already written a part of it; only the rest is missing.", 2),
        ((0.7, 0.1, 0.2), "This is q. What replaces a draft must not come from q.", None),
        ((0, 0.2, 0), "This is what is missing. To draw from it, it must add up to 1: divide it by its sum.", None),
        ((-0.2, 0.2, 0), "No probability is below 0: cut p − q off there, and divide by the sum.", None),
        ((1, 0, 0), "This is where q is larger than p. What is missing is where p is larger than q.", None),
        ((0.2, 0, 0), "This is where q is larger than p. What is missing is where p is larger than q.", None),
        ((0, 0.6, 0.4), "This is p without the rejected token. How much of the third token is still missing?", None),
    )
    compared(found, (0, 1, 0), known, "The residual is max(0, p − q), divided by its sum.", 0.005)


def second(value: object) -> None:
    known = (
        ((0.16,), "The chance .16 comes from drawing from p after a rejection.", 2),
        ((0.12,), "The chance .12 comes from drawing from q after a rejection.", None),
        ((0.22,), "The chance .22 comes from drawing from p without the rejected token.", None),
        ((0.1,), "This is the chance that it is drafted and kept. It can also come in after a rejection.", None),
        ((0.2,), "This is the chance that it comes in after a rejection. It can also be drafted and kept.", None),
        ((0.03,), "p · q is the chance that both draw this token.", 3),
        ((1.0,), "With chance 1 it comes out after a rejection; there are two ways, and each has its chance.", None),
    )
    said = "Add two chances: that the second token is drafted and kept, and that it replaces a rejected draft."
    compared([number(value, "The chance of the second token")], (0.3,), known, said, 0.003)


@part("9.c2", points=1)
def c2(made: Callable[[], object]) -> None:
    """c2() → chances of acceptance, residual, chance that the second token is written."""
    several(made, {"the chances": chances, "the residual": rest, "the chance of the second token": second})


@part("9.c2.why", points=1)
def c2_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "A",
        {
            "B": (
                "With p = (.5, .3, .2) such a rule writes (.5, .3, .2): it is exact, and only keeps fewer drafts.",
                3,
            ),
            "C": ("Such a rule never keeps the third token when it is drafted, and writes (.7, .3, 0).", 4),
            "D": ("With a right rule no q changes what comes out, so (.60, .16, .24) shows a bug.", 11),
        },
    )


# C3: acceptance


def measured(value: object) -> None:
    found = number(value, "α")
    if found > 1:
        raise Wrong("A rate is at most 1: write .5 for 50 %.")
    known = (
        ((27 / 40,), ".675 is 27/40. Drafts behind the first miss were not examined, and do not count.", 5),
        ((27 / 37,), "You divide by the tokens that were written. Which drafts were examined?", None),
        (
            (0.6,),
            ".6 is the share of the rounds without a miss. How many drafts were examined, and how many kept?",
            None,
        ),
        ((0.8,), ".8 counts only the first draft of each round. Later drafts were examined, too.", None),
        (
            ((0 + 0.5 + 2 / 3 + 6) / 10,),
            "This is a mean of ten ratios. Divide the sums: all kept by all examined.",
            None,
        ),
        (
            (0.74,),
            "3.7/5 is the share of the places in a round that were filled, the target's own token included.",
            None,
        ),
    )
    said = "Add up over the ten rounds: how many drafts were examined, the misses included, and how many were kept?"
    compared([found], (27 / 31,), known, said, 0.004)


def per_pass(value: object) -> None:
    known = (
        ((2.7,), "2.7 are the accepted drafts. Each round writes one more token, the target's own.", 6),
        ((3.1,), "3.1 is the number of drafts examined in a round, not of the tokens written.", None),
        ((37.0,), "37 tokens are all that were written: divide them by the number of passes.", None),
        ((3.87,), "This is what a formula expects. The log says how many tokens there were: count them.", None),
        ((2.65,), "This is the formula with .675, which is not α. And the log says how many tokens there were.", 5),
        ((4.0,), "A round proposes 4 drafts; not all of them were kept.", None),
        ((5.0,), "5 would be all drafts kept in every round, and the bonus.", None),
    )
    said = "Divide all tokens that were written by the number of rounds."
    compared([number(value, "The number of tokens per pass")], (3.7,), known, said, 0.01)


def sampled(value: object) -> None:
    known = (
        ((0.42, 0.39), "Σ p · q is the chance that two samples match. A draft is kept with chance min(1, p/q).", 3),
        ((1, 1), "The favourites are equal, but at T = 1 the whole distributions count.", 4),
        ((0.8, 1), "In pair B the favourites are equal, but at T = 1 the whole distributions count.", 4),
        ((0.2, 0.5), "These are the chances that a draft is rejected.", None),
        ((0.5, 0.8), "The two numbers have changed places: A comes first.", None),
        ((0.905, 0.815), "Take the mean over what q draws: a token with a large q counts more.", None),
        ((0.5, 0.4), "These are the target's chances for its favourite. What do the other tokens add?", None),
    )
    said = "At T = 1, α is the chance that a token drawn from q is kept; add up, token by token, what can be kept."
    compared(row(value, 2, "the list for T = 1"), (0.8, 0.5), known, said, 0.004)


def greedy(value: object) -> None:
    known = (
        ((0.8, 0.5), "At T = 0 nothing is drawn: each player says its favourite token.", None),
        ((0, 0), "At T = 0 each player says its favourite token. Are they the same here?", None),
        ((0.5, 0.4), "At T = 0 the target says its favourite with certainty.", None),
        ((1, 0), "At T = 0 how far p and q differ makes no difference, as long as they have one favourite.", None),
    )
    said = "At T = 0 p and q put all their chance on their favourites: is the draft what the target says?"
    compared(row(value, 2, "the list for T = 0"), (1, 1), known, said, 0.004)


@part("9.c3", points=1)
def c3(made: Callable[[], object]) -> None:
    """c3() → α of the log, tokens per pass, α of A and B at T = 1, and at T = 0."""
    looks = {"α": measured, "tokens per pass": per_pass, "α at T = 1": sampled, "α at T = 0": greedy}
    several(made, looks)


@part("9.c3.why", points=1)
def c3_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "D",
        {
            "A": ("Whether two samples are equal is another question, and it happens less often.", 3),
            "B": ("Behind a miss drafts were proposed and not examined. They say nothing about α.", 5),
            "C": ("The text is what the target alone would write, with any α.", 11),
        },
    )


# C4: load


def gains(value: object) -> None:
    known = (
        ((3.05,) * 3, "3.05 tokens a pass are a gain of 3.05 only while a pass costs what it did. Count the rows.", 7),
        ((3.05, 1.525, 0.7625), "You count γ rows for each text. The target computes one more, so γ + 1.", None),
        ((3.05, 3.05, 2.71), "Each text brings its own drafts: all of them make B · (γ + 1) rows.", None),
        ((0.61,) * 3, "You divide by 5 everywhere. Up to 32 rows a pass costs 1, whatever is in it.", None),
        ((3.05, 19.52, 19.52), "This is tokens per unit of time. The gain compares it with the plain pass.", None),
        ((0.328, 0.82, 1.64), "The gain is upside down: 2 should mean twice as fast.", None),
        ((2.05, 0.82, 0.41), "E already counts the target's own token, so nothing is taken away from it.", 6),
        ((3.05, 0.19, 0.095), "You divide by B. Each of the B texts gets its E tokens from the pass.", None),
    )
    said = "The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts)."
    compared(row(value, 3, "the list of gains"), (3.05, 1.22, 0.61), known, said, 0.006)


def crossover(value: object) -> None:
    found = number(value, "The crossover")
    if 19 <= found <= 20:
        return
    known = (
        ((24.4,), "You count γ rows for each text. The target computes one more, so γ + 1.", None),
        ((6.4,), "From 6.4 texts on a row costs something. It is a loss only when all of E is used up.", None),
        ((8.0,), "You count γ rows for each text, not γ + 1; and where a row begins to cost is not yet a loss.", None),
        ((32.0,), "At 32 the plain pass becomes dearer. The pass with drafts has done so before.", None),
        ((97.6,), "This is a number of rows. How many texts have so many rows?", None),
        ((100.0,), "This is a number of rows. How many texts have so many rows?", None),
    )
    said = "At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one."
    compared([found], (19.52,), known, said, 0.02)


@part("9.c4", points=1)
def c4(made: Callable[[], object]) -> None:
    """c4() → gains at B = 1, 16, 32, and the crossover."""
    several(made, {"the gains": gains, "the crossover": crossover})


@part("9.c4.why", points=1)
def c4_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "B",
        {
            "A": (
                "More drafts are more rows, and here every row costs; of the late drafts fewer and fewer are kept.",
                8,
            ),
            "C": ("α belongs to the pair and the text. It does not know how many other texts are decoded.", 13),
            "D": ("You computed the gain at B = 32: the tokens are there, but the pass costs more than they save.", 7),
        },
    )


# Q1: why several positions cost about one


def passes(value: object) -> None:
    found = row(value, 3, "the list of times")
    if all(same(1000 * a, b, 0.006) for a, b in zip(found, (2.7, 2.7, 5.4))):
        raise Wrong("These are seconds. Give milliseconds.", 0.5)
    known = (
        (
            (2.7, 13.5, 540),
            "You read the weights once for each token. A pass reads them once for all its tokens.",
            None,
        ),
        ((2.7, 13.5, 5.4), "How often are the weights read in a pass over 5 tokens?", None),
        ((2.7, 2.7, 540), "With 200 tokens the weights are still read once. How long is the arithmetic?", None),
        ((2.7, 2.7, 2.7), "You only count the reading. How long does the arithmetic of 200 tokens take?", None),
        (
            (2.727, 2.835, 8.1),
            "You add reading and computing. They go on at the same time: the longer one counts.",
            None,
        ),
        ((0.027, 0.135, 5.4), "You only count the arithmetic. The weights have to be read, too.", None),
        ((0.027, 0.135, 2.7), "A pass lasts until both reading and computing are done: the longer one counts.", None),
    )
    said = "Reading takes the bytes divided by bytes a second, once; computing takes .27 GFLOP for each token."
    compared(found, (2.7, 2.7, 5.4), known, said, 0.005)


@part("9.q1", points=1)
def q1(made: Callable[[], object]) -> None:
    """q1() → T(1), T(5), T(200) in milliseconds."""
    passes(given(made))


@part("9.q1.why", points=1)
def q1_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "D",
        {
            "A": (
                "The check uses the whole target, all its layers and weights; else it would say something else.",
                None,
            ),
            "B": ("Every draft goes through all of the target's layers: a pass with γ drafts has γ + 1 rows.", 9),
            "C": (
                "Look at your T(200): rows are free only as long as their arithmetic takes less than the reading.",
                8,
            ),
        },
    )


# Q2: why throughput can fall

CHANGED = {
    "v": "v",
    "cost": "v",
    "the cost of a pass": "v",
    "alpha": "alpha",
    "α": "alpha",
    "e": "e",
    "nothing": "nothing",
    "quality": "quality",
}


def changed(value: object) -> None:
    name = CHANGED.get(value.strip().lower()) if isinstance(value, str) else None
    if name is None:
        raise Wrong(f"What changed? Write “alpha”, “E” or “v”; you write {shown(value)}.")
    if name == "alpha":
        raise Wrong("Look at the column of α: it is the same in both lines.", misconception=13)
    if name == "e":
        raise Wrong("E follows from α and γ. Has one of them changed?")
    if name == "nothing":
        raise Wrong("α and E are as before, but the speed does not follow from them alone.", misconception=7)
    if name == "quality":
        raise Wrong("The text is the target's, at any load.", misconception=11)


def ratio(value: object) -> None:
    known = (
        ((3.05,), "α and E have not changed, so you expect the same gain. What does a pass cost now?", 7),
        ((0.41,), "You left out the target's own token: with α = .75 and γ = 4 a pass writes more than 2.05.", 6),
        ((0.6,), "α · γ = 3 treats α as a share of the proposed drafts; behind a miss none is kept.", 5),
        ((0.8,), "1 + α · γ = 4 treats α as a share of the proposed drafts; behind a miss none is kept.", 5),
        ((0.15,), "α is not the number of tokens a pass. First compute E from α and γ.", None),
        ((0.2,), "The pass costs 5 plain ones, but it also writes more than one token.", None),
        ((1.64,), "The gain is upside down: 2 should mean twice as fast.", None),
        ((15.25,), "A dearer pass makes the gain smaller, and not larger.", None),
        ((1.0,), "A gain of 1 would mean that nothing is won or lost. Divide the tokens by the cost.", None),
        ((0.66,), "This is with 3.3 tokens per pass, which belongs to γ = 5.", None),
    )
    said = "Compute the tokens per pass from α and γ, and divide by what the pass costs."
    compared([number(value, "The new gain")], (3.05 / 5,), known, said, 0.004)


@part("9.q2", points=1)
def q2(made: Callable[[], object]) -> None:
    """q2() → what changed, and the new gain."""
    several(made, {"what changed": changed, "the new gain": ratio})


@part("9.q2.why", points=1)
def q2_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "B",
        {
            "A": ("No draft changes what is written, good or bad, at any load.", 11),
            "C": ("The log says that α is .75 with 64 texts as with one.", 13),
            "D": ("The same number of tokens from a pass that takes five times as long is no gain.", 7),
        },
    )
