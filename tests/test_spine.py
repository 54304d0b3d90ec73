"""How long the course is: its two ways, and what a core lesson may ask (tools/spine.py counts it)."""

import re

import pytest
import spine

COUNTS = {path.relative_to(spine.ROOT).with_suffix("").as_posix(): spine.count(path) for path in spine.notebooks()}
CORE = {name: found for name, found in COUNTS.items() if re.match(r"lessons/0[0-8]_", name)}
PATH = spine.path()


@pytest.mark.parametrize("name", CORE)
def test_a_core_lesson_is_one_idea(name):
    found = CORE[name]
    assert found.words <= 1_200 and found.cells <= 10 and found.lines <= 6 and found.brackets == 0
    assert 0 < found.seconds <= 90
    assert found.guesses <= 2 and found.quiz <= 5
    assert found.minutes <= 18


def test_the_ways_are_as_long_as_said():
    assert len(PATH) == 10 and spine.hour() <= spine.HOUR_AIM
    assert sum(found.minutes for found in PATH.values()) <= spine.AIM
    assert sum(found.words for found in CORE.values()) <= 8_000
    assert sum(found.askings for found in CORE.values()) <= 54
    assert sum(found.askings for found in COUNTS.values()) <= 130


def test_what_is_published_is_what_is_counted():
    for page, text in spine.published().items():
        stands = page.read_text(encoding="utf-8")
        assert stands == text, (
            f"{page.name} names other minutes than tools/spine.py counts: python tools/spine.py --write"
        )
