"""Ways through the page of the glossary: to the lessons that explain a word, and to the words of a letter."""

import re
from collections.abc import Mapping


def with_ways(page: str, named: Mapping[str, str]) -> str:
    """The page, as HTML, with links. named: {what the glossary calls a page: its address from the site's root}."""
    name = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
    names = f"(?:{name})(?:, (?:{name}))*"

    def linked(found: re.Match) -> str:
        links = [f'<a href="../{named[name]}">{name}</a>' for name in found[2].split(", ")]
        return f"{found[1]}{', '.join(links)}{found[3]}"

    page = re.sub(rf"(\()({names})(\)</p>)", linked, page)
    page = re.sub(rf"(<td[^>]*>)({names})(</td>)", linked, page)
    first: dict[str, str] = {}
    for word in re.findall('<h2 id="([^"]+)"', page):
        first.setdefault(word[0].upper(), word)
    letters = " ".join(f'<a href="#{word}">{letter}</a>' for letter, word in sorted(first.items()))
    return re.sub("(?=<p>The symbols:</p>)", f'<p class="letters">{letters}</p>', page, count=1)
