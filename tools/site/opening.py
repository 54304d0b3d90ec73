"""The first screen: what the course is, and one recorded race that plays by itself; below it three ways in."""

from html import escape

from specdec_lab.measure.bench import overall
from specdec_lab.measure.results import saved_results

RACE = "summary-hybrid-4-0"  # of the gallery
CARDS = (
    ("Play", "lessons/00_start_here.html", "Find the first miss of a round. Then two guesses, and a real race."),
    (
        "Measure",
        "lessons/08_measure_your_traffic.html",
        "A report on three kinds of prompts, with a decision; and one command for prompts of your own.",
    ),
    ("Decide", "lessons/05_choosing_gamma.html", "Move α, γ and the costs, and see when drafts stop paying off."),
)


def lane(name: str, seconds: list[float], passes: list[list[str]]) -> str:
    """One way of decoding as it ended; opening.js plays the same elements again."""
    at, pieces = 0.0, []
    for i, (more, tokens) in enumerate(zip(seconds, passes)):
        at += more
        odd = ' class="odd"' if i % 2 else ""
        said = escape("".join(t for t in tokens if not t.startswith("<|")))  # no marks of the chat template
        pieces.append(f'<span{odd} data-to="{at:.4f}" data-tokens="{len(tokens)}">{said}</span>')
    tokens = sum(map(len, passes))
    return (
        f'<div class="lane"><p class="counter"><strong>{name}</strong> <b>{tokens}</b> tokens <span>passes: <i>{len(passes)}</i> · '
        f'<i>{1000 * at:.0f}</i> ms</span></p><p class="said">{"".join(pieces)}</p></div>'
    )


def race(found: dict, trace: dict) -> str:
    """Both lanes of a recorded race."""
    written = [
        [d["text"] for d in r["drafted"] if d["status"] == "accepted"]
        + ([r["emitted"]["text"]] if r["emitted"] else [])
        for r in trace["rounds"]
    ]
    plain = lane("Plain decoding", trace["plain"]["seconds"], [[text] for text in trace["plain"]["tokens"]])
    drafts = lane("With drafts", trace["seconds"], written)
    sooner = sum(trace["plain"]["seconds"]) / sum(trace["seconds"])
    won = f"The same text, <b>{sooner:.1f} times</b> as fast: {len(written)} passes in place of {len(trace['plain']['tokens'])}."
    return (
        f'<div class="opening" role="group" aria-label="A race: the same text, plain and with drafts">{drafts}{plain}'
        f'<p class="won">{won}</p>'
        '<p class="under"><button type="button">▶ again</button> The words of one pass have one tint. '
        f"{escape(found['target'])} on {escape(found['hardware'])}, as recorded, slowed down. {usual()}</p></div>"
    )


def usual() -> str:
    """What the drafters bring on texts that are not chosen, in a sentence."""
    rows = overall(saved_results(temperature=0.0, gamma="best", dtype="float32")[0]["rows"], peers=False)
    gains = {arm: row["ratio_to_plain"] for arm, row in rows.items()}
    return f"This text is easy to guess: over prompts of six kinds the draft model brings {gains['model']:.1f}, the best drafter {max(gains.values()):.1f} times."


def front(found: dict, trace: dict, contents: str, minutes: str) -> str:
    """The body of the first page. contents: the list of all pages, as HTML. minutes: of the first lesson."""
    cards = "".join(
        f'<li><a href="{page}"><b>{name}</b><span>{escape(words)}</span></a></li>' for name, page, words in CARDS
    )
    return f"""<div class="hero"><div>
<h1>Speculative decoding, understood by running it</h1>
<p class="lead">A small model guesses the next words, a large model checks them all at once. The text stays exactly the same, and it
is there sooner.</p>
<p><a class="go" href="lessons/00_start_here.html">Play a round</a> <a href="#lessons">All lessons</a></p>
<p class="small">The first round takes one press, the whole lesson {minutes} minutes. No account, nothing to install.</p>
</div>{race(found, trace)}</div>
<ul class="cards">{cards}</ul>
<div class="after lessons" id="lessons">{contents}</div>
<script src="opening.js"></script>"""
