"""The first screen: what the course is, and one recorded race that plays by itself; below it three ways in."""

import json
from html import escape

from specdec_lab.measure.bench import overall
from specdec_lab.measure.results import saved_results

RACE = "summary-hybrid-4-0"  # of the gallery
LAYERS = 30  # of SmolLM2-135M, which wrote it
WRITES = ("accepted", "corrected", "bonus", "plain")  # what a pass adds to the text
CARDS = (
    (
        "Watch",
        "gallery.html",
        "The gallery: a dozen texts, each drafted in many ways. Which are easy?",
    ),
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


def lane(name: str, how: str, small: int, seconds: list[float], passes: list[list[tuple[str, str]]]) -> str:
    """One way of decoding as it ended; opening.js plays the same elements again, and draws the passes.

    Args:
        small: layers of the drafter, as it is drawn beside the large model.
        passes: of each, its rows: a word, and what became of it.
    """
    at, pieces, tokens = 0.0, [], 0
    for i, (more, rows) in enumerate(zip(seconds, passes)):
        at += more
        odd = ' class="odd"' if i % 2 else ""
        new = [text for text, look in rows if look in WRITES]
        tokens += len(new)
        said = escape("".join(t for t in new if not t.startswith("<|")))  # no marks of the chat template
        asked = escape(json.dumps([[text.strip(), look] for text, look in rows], ensure_ascii=False))
        pieces.append(f'<span{odd} data-to="{at:.4f}" data-tokens="{len(new)}" data-rows="{asked}">{said}</span>')
    return (
        f'<div class="lane" data-layers="{LAYERS}" data-small="{small}"><p class="counter"><strong>{name} <small>{how}</small></strong> <b>{1000 * at:.0f}</b> ms <span>'
        f'<i>{tokens}</i> tokens · <i>{len(passes)}</i> passes</span></p><p class="said">{"".join(pieces)}</p></div>'
    )


def race(found: dict, trace: dict) -> str:
    """The prompt, and both lanes of a recorded race."""
    asked = [
        [(d["text"], d["status"]) for d in r["drafted"]]
        + [(r["emitted"]["text"], r["emitted"]["kind"])] * bool(r["emitted"])
        for r in trace["rounds"]
    ]
    plain = lane(
        "Plain decoding",
        "one token per pass",
        0,
        trace["plain"]["seconds"],
        [[(text, "plain")] for text in trace["plain"]["tokens"]],
    )
    drafts = lane("With drafts", "several checked per pass", 2, trace["seconds"], asked)
    sooner = sum(trace["plain"]["seconds"]) / sum(trace["seconds"])
    won = f"<b>{sooner:.1f}×</b><span><strong>as fast on this easy text:</strong> {len(asked)} passes in place of {len(trace['plain']['tokens'])}. <span class='usual'>{usual()}</span> <a href='lessons/00_start_here.html'>Now you: play a round</a></span>"
    return (
        f'<div class="opening" role="group" aria-label="A race: the same text, plain and with drafts">'
        f'<p class="won">{won}</p><p class="asked"><b>The prompt:</b> {escape(found["texts"][RACE.split("-")[0]]["prompt"])}</p>{plain}{drafts}<p class="under"><button type="button">▶ again</button>'
        f"<span>✓ kept, ✗ missed, – thrown away, ↻ or + the large model's own. <i>A shade is one pass. </i>Recorded on {escape(found['hardware'])}, slowed down.</span></p></div>"
    )


def usual() -> str:
    """What this drafter brings on texts that are not chosen, in a sentence."""
    rows = overall(saved_results(temperature=0.0, gamma="best", dtype="float32")[0]["rows"], peers=False)
    sooner = f"{rows[RACE.split('-')[1]]['ratio_to_plain']:.1f}"
    return f'Over six kinds of prompts: <span data-usual="{sooner}">{sooner}×</span>.'


def front(found: dict, trace: dict, contents: str, minutes: str, hour: str) -> str:
    """The body of the first page. contents: the list of all pages, as HTML. minutes: of the first lesson. hour: the way of
    the first hour, as HTML."""
    cards = "".join(
        f'<li><a href="{page}"><b>{name}</b><span>{escape(words)}</span></a></li>' for name, page, words in CARDS
    )
    return f"""<div class="hero"><div>
<h1>Speculative decoding, understood by running it</h1>
<p class="lead">A small model guesses the next words, a large model checks them all at once. Exactly the same text, sooner.</p>
<p><a class="go" href="lessons/00_start_here.html">Play a round</a> <a href="#lessons">All lessons</a></p>
<p class="small">The first round takes one press, the whole lesson {minutes} minutes. No account, nothing to install.</p>
</div>{race(found, trace)}</div>
<ul class="cards">{cards}</ul>
<div class="after lessons" id="lessons"><p>Begin with the first hour: {hour}.</p>{contents}</div>
<script src="opening.js"></script>"""
