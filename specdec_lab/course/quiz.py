"""The self-check quizzes: what is asked. How an answer is judged, and what is said about it, is in show/quiz.js.

data/quiz/<lesson>.json is a list of items. One with choices: {"id", "question", "choices": [{"text", "reason", "right",
"misconception"}]}. One with numbers has versions, so that a retry asks with other ones: {"id", "unit", "tolerance",
"versions": [{"question", "answer", "how", "mistakes": [{"result", "said", "belief"}]}]}, where "how" is the calculation,
a mistake is the result of a usual slip and what is said to it, and tolerance is a share of the answer, 0 for counts.
"misconception" and "belief" are numbers of MISCONCEPTIONS; they, and "right", may be missing.
"""

import json
from importlib import resources
from random import Random

from specdec_lab.errors import LabError

DATA = resources.files("specdec_lab") / "data"
CONFIDENCE = ("guess", "think so", "sure")
# The beliefs that the course looks for in wrong answers, by number; the numbers are kept in ledgers.
MISCONCEPTIONS = {int(n): said for n, said in json.loads((DATA / "misconceptions.json").read_text("utf-8")).items()}


def lessons() -> list[str]:
    """The lessons that have a quiz, such as "01"."""
    return sorted(f.name.removesuffix(".json") for f in (DATA / "quiz").iterdir() if f.name.endswith(".json"))


def items(lesson: str) -> list[dict]:
    """The items of a lesson in order, as a page asks them: {"id", "versions"}, the same at every call."""
    if lesson not in lessons():
        raise LabError(f"There is no quiz for lesson {lesson!r}: choose one of {', '.join(lessons())}.")
    found = json.loads((DATA / "quiz" / f"{lesson}.json").read_text("utf-8"))
    return [{"id": item["id"], "versions": versions(item)} for item in found]


def versions(item: dict) -> list[dict]:
    """Of an item with numbers all that there are; of one with choices the only one, with its choices shuffled."""
    if "choices" in item:
        shuffled = Random(item["id"]).sample(item["choices"], len(item["choices"]))
        choices = [{"right": False, "misconception": None, **choice} for choice in shuffled]
        return [{"question": item["question"], "choices": choices}]
    return [{**version, "unit": item["unit"], "tolerance": item["tolerance"]} for version in item["versions"]]
