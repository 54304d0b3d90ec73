"""Ways through the page of the glossary: to the lessons that explain a word, and to the words of a letter."""

import re
from collections.abc import Mapping

BESIDE = {"bridge": "lessons/bridge.html", "engines": "lessons/engines.html"}  # pages that it names in words


def with_ways(page: str, lessons: Mapping[str, str]) -> str:
    """The page, as HTML, with links. lessons: {number: address from the site's root}."""
    named = {**lessons, **BESIDE}

    def linked(found: re.Match) -> str:
        links = [f'<a href="../{named[name]}">{name}</a>' if name in named else name for name in found[2].split(", ")]
        return f"{found[1]}{', '.join(links)}{found[3]}"

    page = re.sub(r"(\()((?:bridge|engines|\d\d)(?:, \w+)*)(\)</p>)", linked, page)
    page = re.sub(r"(<td[^>]*>)((?:bridge|\d\d)(?:, \d\d)*)(</td>)", linked, page)
    first: dict[str, str] = {}
    for word in re.findall('<h2 id="([^"]+)"', page):
        first.setdefault(word[0].upper(), word)
    letters = " ".join(f'<a href="#{word}">{letter}</a>' for letter, word in sorted(first.items()))
    return re.sub("(?=<p>The symbols:</p>)", f'<p class="letters">{letters}</p>', page, count=1)
