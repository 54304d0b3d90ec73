"""Mistakes as people make them, put into a good text: something to correct."""

import random
import re

CONFUSED = {
    "their": "there", "there": "their", "its": "it's", "it's": "its", "your": "you're", "then": "than", "than": "then", "to": "too",
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "doesn't": "don't", "a": "an", "an": "a",
    "where": "were", "which": "wich", "because": "becuase", "receive": "recieve", "until": "untill", "whether": "weather",
    "lose": "loose", "accept": "except", "affect": "effect", "definitely": "definately", "separate": "seperate", "much": "many",
    "quite": "quiet", "would": "wold", "could": "coud", "people": "peaple", "friend": "freind", "different": "diffrent",
}  # fmt: skip


def add_typos(text: str, draw: random.Random, rate: float = 0.12) -> str:
    """The text with a mistake in about that share of its words, and nearly always in at least one.

    (An exchange of two equal letters changes nothing.)
    """
    words = re.split(r"(\s+)", text)
    places = [i for i in range(0, len(words), 2) if words[i]]
    chosen = [i for i in places if draw.random() < (rate * 4 if words[i].lower() in CONFUSED else rate)]
    for i in chosen or draw.sample(places, min(1, len(places))):
        words[i] = misspelt(words[i], draw)
    return "".join(words)


def misspelt(word: str, draw: random.Random) -> str:
    if word.lower() in CONFUSED:
        other = CONFUSED[word.lower()]
        return other.capitalize() if word[0].isupper() else other
    letters = len(word)
    kind = draw.choice(("swap", "drop", "double", "case", "mark", "ending"))
    if kind == "case" or letters < 4:
        return word.swapcase() if letters == 1 else word[0].swapcase() + word[1:]
    at = draw.randrange(1, letters - 1)
    if kind == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == "drop":
        return word[:at] + word[at + 1 :]
    if kind == "double":
        return word[:at] + word[at] + word[at:]
    if kind == "mark":
        return word.rstrip(".,;:!?") or word
    return word[:-1] if word.endswith("s") else word + "s"
