"""Record the rounds of the site's gallery: a dozen texts, every shipped drafter, and plain decoding beside them.

    python tools/record_rounds.py [RUNS]        or: make rounds

Writes tools/site/rounds.json.xz. What is recorded is written below: EAGLE with each γ at both temperatures, the other
drafters with γ = 4 at temperature 0. Of a text all arms take turns in one process; with more than one of RUNS each
round's time is their median. Run it again when weights have changed, on a machine that does nothing else: it takes
minutes, most of them on the clock of the race.
"""

import json
import lzma
import statistics
import sys
from pathlib import Path

import specdec_lab as sd
from specdec_lab.formats import rounded
from specdec_lab.show.explorer import explorer_data

TO = Path(__file__).parent / "site" / "rounds.json.xz"
TOKENS, GAMMAS = 32, (1, 2, 4, 8)
TEXTS = {  # short, our own, each of another kind
    "chat": "I moved into a new flat and would like to invite my neighbours for coffee. What could I write on a card?",
    "translation": "Translate into English: Le petit marché ouvre à sept heures, et à midi tout est déjà rangé.",
    "summary": (
        "Sum up in one sentence: The footbridge over the Alm is closed until May. Its planks are being replaced, since "
        "frost has split them. Walkers can use the road bridge, two hundred metres upstream."
    ),
    "question": "Why does a metal spoon feel colder than a wooden one?",
    "arithmetic": "A box holds 24 pencils. How many are in 7 boxes, if 5 pencils are missing? Show each step.",
    "retrieval": (
        "[1] Clean the lamp with a dry cloth. [2] The lamp has a guarantee of three years. [3] The lamp needs a bulb of at "
        "most 9 watts. Which bulb does the lamp need? Quote the note."
    ),
    "code": "Write a Python function that counts the vowels in a text.",
    "list": "List the months of the year, one on each line.",
    "copying": (
        "Repeat this text, but with Ben instead of Ada: Ada opened the door. Ada put the letter on the table. "
        "Ada closed the door."
    ),
    "letter": "Write a formal letter that cancels a magazine subscription.",
    "story": "Begin a story about a lighthouse keeper who collects clocks.",
    "data": "Write this as JSON: name Ines, age 34, town Faro, languages Portuguese and English.",
}
ARMS = {  # temperature: (drafter, γ), …
    0: [(name, 4) for name in ("lookup", "model", "medusa", "early-exit", "hybrid")]
    + [("eagle", gamma) for gamma in GAMMAS],
    1: [("eagle", gamma) for gamma in GAMMAS],
}


def timed(runs: list[sd.Trace]) -> list[float]:
    """Seconds of each round, the median of all runs."""
    return [statistics.median(times) for times in zip(*(trace.times for trace in runs), strict=True)]


def record(lab: sd.Lab, prompt: str, temperature: float, runs: int) -> dict:
    """Plain decoding and all arms on one text: tokens, rounds and seconds."""
    ids, how = lab.encode(prompt), {"temperature": temperature, "max_new_tokens": TOKENS}
    plain, arms = [], {arm: [] for arm in ARMS[temperature]}
    for _ in range(runs):
        plain.append(lab.plain(ids, **how))
        for name, gamma in arms:
            arms[name, gamma].append(lab.speculative(ids, name, gamma=gamma, keep=sd.Keep(), **how))
    traces = {}
    for (name, gamma), clocked in arms.items():
        # Once more for what the explorer shows of each token. It takes time to look up, and none of it is in the race.
        trace = lab.speculative(ids, name, gamma=gamma, **how)
        trace.check()
        assert all(run.tokens == trace.tokens for run in clocked), f"{name}, γ = {gamma}: two runs, two texts"
        assert temperature or trace.tokens == plain[0].tokens, f"{name}, γ = {gamma}: not plain decoding's text"
        data = explorer_data(trace, lab.text, f"{name}, γ = {gamma}, temperature {temperature}")
        traces[f"{name}-{gamma}"] = {**data, "seconds": timed(clocked)}
    tokens = [lab.text([token]) for token in plain[0].tokens]
    return {"plain": {"tokens": tokens, "seconds": timed(plain)}, "traces": traces}


def main(runs: int) -> None:
    lab = sd.load()
    record(lab, "Warm up.", 0, 1)  # loads the drafters' weights
    texts = {}
    for name, prompt in TEXTS.items():
        by_temperature = {str(t): record(lab, prompt, t, runs) for t in ARMS}
        texts[name] = {"prompt": prompt, "temperatures": by_temperature}
        print(f"{len(texts)} of {len(TEXTS)}: {name}", flush=True)
    found = {"target": lab.target.name, "hardware": lab.hardware, "tokens": TOKENS, "runs": runs, "texts": texts}
    TO.write_bytes(
        lzma.compress(json.dumps(rounded(found, 3), ensure_ascii=False, separators=(",", ":")).encode(), preset=9)
    )
    print(f"{TO.stat().st_size / 1e3:.0f} KB in {TO}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
