"""The glossary: its links lead to pages that have the word."""

import re

import words

TEXT = words.GLOSSARY.read_text(encoding="utf-8")
ENTRIES = words.entries(TEXT)


def test_each_link_leads_to_a_page_that_has_the_word():
    assert words.wrong(TEXT) == []


def test_all_entries_and_rows_are_looked_at():
    found = {entry.word for entry in ENTRIES}
    assert set(re.findall(r"(?m)^## (.*)$", TEXT)) < found
    assert {"u", "B", "plain decoding", "target"} < found
    assert {"00", "12", "bridge", "engines", "deeper 03", "measuring"} < set(words.pages())
