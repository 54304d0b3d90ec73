"""The first screen: what the course is, and one recorded race that plays by itself; below it three ways in."""

import json
from itertools import accumulate

from specdec_lab.measure.bench import overall
from specdec_lab.measure.results import saved_results

RACE = "summary-hybrid-4-0"  # of the gallery
LAYERS = 30  # of SmolLM2-135M, which wrote it
WRITES = ("accepted", "corrected", "bonus", "plain")  # what a pass adds to the text
WAYS = (("Plain decoding", "one token per pass", 0), ("With drafts", "several checked per pass", 2))
CARDS = (
    ("Watch", "gallery.html", "The gallery: a dozen texts, each drafted in many ways. Which are easy?"),
    (
        "Measure",
        "lessons/08_measure_your_traffic.html",
        "Lesson 08: three reports, a decision, and one command for prompts of your own.",
    ),
    (
        "Decide",
        "lessons/05_choosing_gamma.html",
        "Lesson 05: how many drafts, how good, at what cost? See when they stop paying off.",
    ),
)


def lane(name: str, how: str, small: int, seconds: list[float], passes: list[list[tuple[str, str]]]) -> dict:
    """One way of decoding as it ended; opening.js plays the same elements again, and draws the passes.

    Args:
        small: layers of the drafter, as it is drawn beside the large model.
        passes: of each, its rows: a word, and what became of it.
    """
    shown, tokens = [], 0
    for at, rows in zip(accumulate(seconds), passes):
        new = [text for text, look in rows if look in WRITES]
        tokens += len(new)
        said = "".join(text for text in new if not text.startswith("<|"))  # no marks of the chat template
        asked = [[text.strip(), look] for text, look in rows]
        drawn = json.dumps({"to": round(at, 4), "tokens": len(new), "rows": asked}, ensure_ascii=False)
        shown.append({"pass": drawn, "said": said})
    ended = f"{1000 * sum(seconds):.0f}"
    return {"name": name, "how": how, "small": small, "milliseconds": ended, "tokens": tokens, "passes": shown}


def race(found: dict, trace: dict) -> dict:
    """What the first page says of a recorded race: the prompt, and both lanes."""
    asked = [
        [(d["text"], d["status"]) for d in r["drafted"]]
        + [(r["emitted"]["text"], r["emitted"]["kind"])] * bool(r["emitted"])
        for r in trace["rounds"]
    ]
    plain = trace["plain"]
    return {
        "layers": LAYERS,
        "sooner": f"{sum(plain['seconds']) / sum(trace['seconds']):.1f}",
        "usual": usual(),
        "prompt": found["texts"][RACE.split("-")[0]]["prompt"],
        "plain": lane(*WAYS[0], plain["seconds"], [[(t, "plain")] for t in plain["tokens"]]),
        "drafts": lane(*WAYS[1], trace["seconds"], asked),
        "hardware": found["hardware"],
    }


# until a sentence is typed
NONE = {"layers": LAYERS, "prompt": "", "plain": lane(*WAYS[0], [], []), "drafts": lane(*WAYS[1], [], [])}


def usual() -> str:
    """What this drafter brings on texts that are not chosen: times as fast as plain."""
    rows = overall(saved_results(temperature=0.0, gamma="best", dtype="float32")[0]["rows"], peers=False)
    return f"{rows[RACE.split('-')[1]]['ratio_to_plain']:.1f}"
