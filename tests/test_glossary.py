"""The glossary: its links lead to pages that have the word, and its entries are short."""

import re

import pytest
import words

TEXT = words.GLOSSARY.read_text(encoding="utf-8")
ENTRIES = words.entries(TEXT)


def test_each_link_leads_to_a_page_that_has_the_word():
    assert words.wrong(TEXT) == []


def test_an_entry_is_short():
    assert {entry.word: n for entry in ENTRIES if (n := len(entry.text.split())) > 70} == {}


def test_all_entries_and_rows_are_looked_at():
    found = {entry.word for entry in ENTRIES}
    assert set(re.findall(r"(?m)^## (.*)$", TEXT)) < found
    assert {"u", "B", "plain decoding", "target"} < found
    assert {"00", "12", "bridge", "engines", "deeper 03", "measuring"} < set(words.pages())


PAGES = {
    "01": "A **chain** has drafts. \n```python\nsibling = 1\n```\n[more](parents.ipynb)",
    "02": "Two chains, and their α. A p-value, entropies. Top k, and *min-p*.",
    "deeper 02": "The *chain*.",
}


@pytest.fixture
def other_pages(monkeypatch):
    monkeypatch.setattr(words, "pages", lambda: PAGES)
    monkeypatch.setattr(words, "prose", lambda name, read=words.readable: read(PAGES[name]))


@pytest.mark.parametrize(
    ("word", "where"),
    [
        ("chain", ["01", "02", "deeper 02"]),  # also in the plural
        ("alpha", ["02"]),  # by its sign
        ("top-k, min-p", ["02"]),  # with or without a hyphen
        ("entropy, H", []),  # another word
        ("sibling", []),  # a name in code
        ("parent", []),  # an address
        ("P", []),  # another letter
    ],
)
def test_a_word_stands_where_a_reader_reads_it(other_pages, word, where):
    assert [name for name in PAGES if words.times(word, name)] == where


def test_what_is_wrong_is_said(other_pages):
    links = {"chain": "(01, 03)", "alpha": "(01)", "parent": "(01)", "min-p": "(02, deeper 02)", "dial": "It turns."}
    glossary = "# Glossary\n\n| chain | x | 02, 05 |\n" + "".join(
        f"\n## {w}\n\nIt (a word). {at}\n" for w, at in links.items()
    )
    assert words.wrong(glossary) == [
        "chain: does not stand in 05 (it stands most often in 01)",
        "chain: does not stand in 03 (it stands most often in 01)",
        "alpha: does not stand in 01 (it stands most often in 02)",
        "parent: does not stand in 01 (no page has it)",
        "min-p: does not stand in deeper 02 (it stands most often in 02)",
        "dial: no page is named for it (no page has it)",
    ]
