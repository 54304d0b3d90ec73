"""What is asked: prompts of a wanted length, of passages and of instructions as people write them (requests.json)."""

import json
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from specdec_lab.measure.prompts import read_prompts
from specdec_lab.train.write import Request
from training_text.documents import Library, cut
from training_text.typos import add_typos
from training_text.word_problems import word_problem

SAME = 8  # words in a row that a request may not share with the built-in prompts: drafts are measured on those
WITHOUT = {"arithmetic": 9, "ask": 12, "chat": 9, "list": 6, "compose": 9, "program": 3}  # need no passage
WITH = {
    "summary": 12, "question": 10, "retrieval": 13, "translate": 15, "correct": 6, "rewrite": 8, "extract": 6,
    "code": 8, "complete": 2,
}  # fmt: skip
PLAIN = "Tell me something."  # where no request of the length was found
SHORT = 105  # tokens; longer prompts hold a passage
LONGEST = 1_500  # tokens of a prompt
LENGTHS = ((0.24, 28, 110), (0.46, 110, 220), (0.73, 220, 400), (0.91, 400, 650), (0.975, 650, 1000), (1.0, 1000, 1500))
LISTS = (  # in requests.json; every fifth entry of each is held out
    "plural", "task", "event", "subject", "how", "why", "pair", "person", "topic", "matter", "situation", "role", "job",
)  # fmt: skip


@cache
def wording() -> dict:
    """What requests.json holds: templates of requests by kind, and lists of words that fill their gaps."""
    return json.loads(Path(__file__).with_name("requests.json").read_text(encoding="utf-8"))


def runs(text: str, n: int = SAME) -> set[tuple[str, ...]]:
    """All runs of n words in a row."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


@cache
def measured() -> set[tuple[str, ...]]:
    """The runs of words of the built-in prompts, users' and assistants'."""
    return {run for prompt in read_prompts() for message in prompt.messages for run in runs(message["content"])}


def lengths(at: float, longest: int = LONGEST) -> tuple[int, int]:
    """The least and most tokens of a prompt, by a number drawn from 0 … 1.

    Args:
        longest: tokens that no prompt may exceed.
    """
    below = max((share for share, *_ in LENGTHS if share <= at), default=0.0)
    share, low, high = next(p for p in LENGTHS if at < p[0])
    if low < 100:
        return min(low, longest), min(high, longest)
    most = min(longest, round(low * (high / low) ** ((at - below) / (share - below))))
    return int(most * 0.82), most


class Requests:
    """Draws requests of one side: to train on, or held out (other documents, other subjects, other word problems).

    Args:
        longest: tokens that no prompt may exceed.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, library: Library, held_out: bool = False, longest: int = LONGEST
    ):
        self.tokenizer, self.library = tokenizer, library
        self.held_out, self.longest = held_out, longest
        self.words = wording() | {name: self.side(wording()[name]) for name in LISTS}
        self.special = [t for t in tokenizer.all_special_tokens if t.strip()]
        self.overhead = len(self.render([{"role": "user", "content": ""}]))

    def side(self, choices: Sequence[str]) -> list[str]:
        """Those of the choices that belong to this side: every fifth is held out."""
        return [c for i, c in enumerate(choices) if (i % 5 == 4) == self.held_out]

    def count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False).input_ids)

    def render(self, messages: list[dict]) -> list[int]:
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def draw(self, draw: random.Random) -> Request:
        """A request of any length and kind."""
        return self.of_length(draw, *lengths(draw.random(), self.longest))

    def of_length(self, draw: random.Random, low: int, high: int) -> Request:
        """A request of low … high tokens; of fewer where no passage fits."""
        shares = dict(WITHOUT) if low < SHORT or not self.library else {}
        if self.library:  # in short prompts there is little room for passages
            shares |= {k: w / 3 if low < SHORT else w for k, w in WITH.items() if self.library.has(*self.needs(k))}
        kind = ""
        for attempt in range(60):
            if attempt % 12 == 0:  # keep to a kind, or those that are hard to fit would be rare
                kind = draw.choices(list(shares), list(shares.values()))[0]
            text = self.text(kind, draw, draw.randint(max(low, min(high, self.overhead + 40)), high) - self.overhead)
            if not text or any(mark in text for mark in self.special) or runs(text) & measured():
                continue
            tokens = self.render([{"role": "user", "content": text}])
            if (low <= len(tokens) or kind in WITHOUT) and len(tokens) <= high:
                return Request(kind, tokens)
        return Request("chat", self.render([{"role": "user", "content": PLAIN}]))

    @staticmethod
    def needs(kind: str) -> tuple[str, str | None]:
        """(form, language) of the passages in requests of this kind; language None: any."""
        return ("code", "python") if kind in ("code", "complete") else ("prose", None if kind == "translate" else "en")

    def text(self, kind: str, draw: random.Random, most: int) -> str | None:
        """A user's words, of at most about `most` tokens."""
        if kind == "arithmetic":
            return word_problem(draw, self.held_out)
        if kind == "program":
            return self.fill(draw.choice(self.words["task_code"]), draw)
        if kind in WITHOUT:
            return self.fill(draw.choice(self.words[kind]), draw)
        if kind == "retrieval":
            return self.retrieval(draw, most)
        if kind == "translate":
            return self.translation(draw, most)
        template = draw.choice(self.words[kind])
        room = most - self.count(template)
        found = self.library.passage(draw, *self.needs(kind), room, self.count)
        if not found:
            return None
        document, passage = found
        if kind == "complete":
            lines = passage.splitlines()
            passage = "\n".join(lines[: max(2, len(lines) // 2)])
        if kind == "correct":
            passage = add_typos(passage, draw, draw.choice((0.06, 0.12, 0.2)))
        return self.fill(template, draw, {"text": passage, "code": passage, "title": document.title}, passage)

    def translation(self, draw: random.Random, most: int) -> str | None:
        """A passage to be translated, into English or out of it."""
        others = self.library.languages()
        names = self.words["languages"]
        if others and draw.random() < 0.6:
            language = draw.choice(others)
            template, found = draw.choice(self.words["from"]), ("prose", language)
            said = {"language": names.get(language, "foreign")}
        else:
            template, found, said = draw.choice(self.words["into"]), ("prose", "en"), {}
        if not self.library.has(*found):
            return None
        passage = self.library.passage(draw, *found, most - self.count(template), self.count)
        return passage and self.fill(template, draw, said | {"text": passage[1]})

    def retrieval(self, draw: random.Random, most: int) -> str | None:
        """Several passages, of one source so that they are related, and a question about one of them."""
        template, ask, head = (draw.choice(self.words[k]) for k in ("retrieval_lead", "retrieval_ask", "source_heads"))
        n = draw.randint(2, max(2, min(6, most // 70)))
        room = (most - self.count(template + ask)) // n - self.count(head) - 8
        first = self.library.passage(draw, "prose", "en", room, self.count) if room > 15 else None
        if not first:
            return None
        found, related = [first], self.library.groups["prose", "en"][first[0].source]
        left = room * (n - 1)
        for _ in range(20):
            if left < 25 or len(found) == 8:
                break
            document = first[0] if draw.random() < 0.4 else draw.choice(related)
            text = cut(document, draw, min(left, 2 * room), self.count)
            if text and all(text[:60] != other[:60] for _, other in found):
                found.append((document, text))
                left -= self.count(text) + self.count(head) + 4
        draw.shuffle(found)
        parts = [
            head.format(n=i + 1, letter="ABCDEFGH"[i], title=d.title or f"Text {i + 1}") + text
            for i, (d, text) in enumerate(found)
        ]
        about = draw.choice(found)[1]
        return self.fill(template, draw, {"sources": "\n\n".join(parts), "ask": self.fill(ask, draw, {}, about)}, about)

    def fill(self, template: str, draw: random.Random, said: dict[str, str] | None = None, about: str = "") -> str:
        """A template with its gaps filled: from `said`, from terms of `about`, and from this side's lists."""
        said = dict(said or {})
        if "{term" in template:
            said["term"], said["term2"] = terms(about, draw)
        if "{few}" in template:
            said["few"] = draw.choice(("two", "three", "four"))
        if "{n}" in template:
            said["n"] = str(draw.randint(3, 60))
        if "{language}" in template and "language" not in said:
            said["language"] = draw.choice(sorted(self.words["languages"].values()))
        for name in (*LISTS, "form"):
            if "{" + name + "}" in template:
                said[name] = draw.choice(self.words[name])
        text = re.sub(r"\{(\w+)\}", lambda gap: said.get(gap[1], gap[0]), template)
        text = re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text) if not about and "text" not in said else text
        return text[0].upper() + text[1:] if template.startswith("{") and "text" not in said else text


def terms(text: str, draw: random.Random) -> tuple[str, str]:
    """Two things that a text speaks of: names inside its sentences, or nouns behind an article."""
    names = re.findall(r"(?<=[a-z,;] )(?:[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)*)", text)
    nouns = re.findall(r"\b(the [a-z]{5,})(?=,|\.| of\b| is\b| was\b| and\b| in\b| to\b| that\b| are\b| were\b)", text)
    found = sorted(set(names)) * 2 + sorted(set(nouns))
    two = [draw.choice(found) if found else "the first sentence" for _ in range(2)]
    return two[0], two[1] if two[1] != two[0] else "the author"
