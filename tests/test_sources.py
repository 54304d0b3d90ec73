"""Texts out of files, as packages and users have them; nothing is fetched here."""

import gettext
import json
import random
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from specdec_lab.errors import LabError
from specdec_lab.train import readers, sources
from specdec_lab.train.passages import read_documents, write_documents

SENTENCES = (
    "The ferry was late again, and the people on the pier began to talk to each other. An old man told a story. "
)
LONG = (SENTENCES * 3).strip()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_web_page_gives_its_paragraphs_by_section(tmp_path):
    page = f"""<head><title>no</title></head><nav><p>{LONG}</p></nav><h1>1.2. On ferries</h1>
    <p>{LONG.replace("ferry", "<em>ferry</em>")}</p><table><tr><td><p>{LONG}</p></td></tr></table>
    <h2>More</h2><div class="para">{LONG}</div><pre>code {LONG}</pre><p>Next</p>"""
    found = list(readers.web_page("s", write(tmp_path / "a.html", page), "en"))
    assert [(d.title, d.text, d.form) for d in found] == [("On ferries", LONG, "prose"), ("More", LONG, "prose")]
    assert list(readers.web_page("s", tmp_path / "a.html", "de", english=tmp_path / "a.html")) == []


def test_a_help_page_is_read_without_its_credits(tmp_path):
    page = f"""<page xmlns="http://projectmallard.org/1.0/"><info><credit><p>{LONG}</p></credit></info>
    <title>On  ferries</title><section><p>{LONG}</p></section></page>"""
    (found,) = readers.help_page("s", write(tmp_path / "a.page", page), "en")
    assert (found.title, found.text) == ("On ferries", LONG)


def test_a_campaign_is_read_in_english_and_in_its_translations(tmp_path):
    said = [f"{LONG} {i}." for i in range(3)]
    text = "\n".join(
        f'[message]\nspeaker=x\nmessage= _ "{s.replace("old", chr(34) * 2 + "old" + chr(34) * 2)}"' for s in said
    )
    path = write(tmp_path / "03a_The_Ferry.cfg", text)
    german = gettext.NullTranslations()
    german.gettext = lambda s: s.replace("ferry", "Fähre")
    english, other = readers.campaign("s", path, {"de": german})
    assert english.title == other.title == "The Ferry"
    assert 'An "old" man' in english.text and english.language == "en"
    assert "Fähre" in other.text and other.language == "de"


def test_missions_and_things(tmp_path):
    mission = f'mission "The Ferry"\n\ton offer\n\t\tconversation\n\t\t\t`{LONG}`\n\t\t\t`Dear <first>, {LONG}`\n\t\t\tchoice\n'
    (found,) = readers.missions("s", write(tmp_path / "a.txt", mission))
    assert (found.title, found.text) == ("The Ferry", LONG)
    entries = [{"description": LONG}, {"description": {"str": LONG}}, {"description": "short"}, {"name": "x"}]
    (found,) = readers.descriptions("s", write(tmp_path / "a.json", json.dumps(entries)))
    assert found.text == f"{LONG}\n\n{LONG}"
    assert list(readers.descriptions("s", write(tmp_path / "b.json", "{torn"))) == []


def test_plain_text_and_code(tmp_path):
    text = f"# A title\n\n{LONG}\n\n- a list\n- of things\n\n```\ncode\n```\n\n" + LONG.replace(". ", ".\n")
    (found,) = readers.plain_text("s", write(tmp_path / "my-notes.md", text))
    assert (found.title, found.text) == ("my notes", f"{LONG}\n\n{LONG}")
    code = 'def f(x):\n    """' + LONG.replace(". ", ".\n    ") + '\n    """\n    y = x\n    z = y\n    return z\n'
    path = write(tmp_path / "a.py", f"import os\n\n{code}")
    (function,) = readers.python_code("s", path)
    assert function.text == code.rstrip() and (function.form, function.title) == ("code", "f")
    (said,) = readers.docstrings("s", path)
    assert said.text == LONG
    assert list(readers.python_code("s", write(tmp_path / "b.py", "def torn("))) == []


def test_a_long_paragraph_is_parted_and_a_long_text_is_many_documents():
    found = list(readers.prose("s", "en", "", [SENTENCES * 100] * 3))
    assert len(SENTENCES * 100) > readers.PARAGRAPH
    assert len(found) > 2 and all(len(d.text) <= readers.LONGEST + 300 for d in found)
    assert all(len(p) < readers.PARAGRAPH + 200 for d in found for p in d.text.split("\n\n"))
    assert sum(d.text.count("ferry") for d in found) == 300


def test_documents_are_kept_as_they_were(tmp_path):
    documents = list(readers.prose("s", "de", "Überschrift", [LONG + " Schöne Grüße …", LONG]))
    write_documents(documents, tmp_path / "a.jsonl")
    assert read_documents(tmp_path / "a.jsonl") == documents
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def fake_client(fails=()):
    """apt-get and dpkg-deb: every package that can be fetched holds one help page."""

    def run(command, cwd=None, **_):
        if command[0] == "apt-get":
            if command[-1] in fails:
                return SimpleNamespace(returncode=100)
            (cwd / f"{command[-1]}.deb").touch()
        else:
            page = f'<page xmlns="http://projectmallard.org/1.0/"><p>{LONG}</p></page>'
            write(Path(command[-1]) / "help" / "C" / "gnome-help" / "a.page", page)
        return SimpleNamespace(returncode=0)

    return run


@pytest.fixture
def one_source(monkeypatch):
    source = sources.Source("gnome-help", "apt", ("old|new",), "pages", "CC-BY-SA-3.0", sources.gnome_help)
    monkeypatch.setattr(sources, "SOURCES", (source,))
    monkeypatch.setattr(sources, "python", lambda: iter(()))


def test_a_source_is_fetched_once_and_the_first_package_that_exists_is_taken(one_source, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", fake_client(fails=("old",)))
    said = []
    (found,) = sources.default_documents(tmp_path, said.append)
    assert found.text == LONG and any("CC-BY-SA-3.0" in line for line in said)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("fetched twice"))
    assert sources.default_documents(tmp_path, said.append) == [found]
    assert {p.suffix for p in tmp_path.iterdir()} == {".jsonl"}  # packages are not kept


def test_what_cannot_be_fetched_is_left_out_with_a_sentence(one_source, tmp_path, monkeypatch):
    for which, fails, says in (
        (lambda name: None, (), "“gnome-help” is left out: this machine has no apt-get."),
        (lambda name: name, ("old", "new"), "“gnome-help” is left out: apt could not fetch old|new."),
    ):
        said = []
        monkeypatch.setattr(shutil, "which", which)
        monkeypatch.setattr(subprocess, "run", fake_client(fails))
        assert sources.default_documents(tmp_path, said.append) == []
        assert says in said


def test_every_source_names_its_licence_and_can_be_drawn_from():
    for source in sources.SOURCES:
        assert source.client in ("apt", "npm") and source.packages and source.licence and source.taken
        assert source.weight > 0
    assert len({s.name for s in sources.SOURCES}) == len(sources.SOURCES)


def test_ones_own_folder(tmp_path):
    with pytest.raises(LabError, match="There is no folder"):
        sources.own_passages(tmp_path / "none")
    write(tmp_path / "table.txt", "1 2 3\n" * 50)
    write(tmp_path / "picture.txt", "").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(LabError, match="Nothing in .* can be asked about"):
        sources.own_passages(tmp_path)
    write(tmp_path / "deep" / "a.txt", LONG)
    write(tmp_path / "b.jsonl", '{"id": "1", "kind": "mine", "prompt": "What is this?"}')
    passages = sources.own_passages(tmp_path)
    assert [d.text for d in passages.documents] == [LONG] and [p.kind for p in passages.own_prompts] == ["mine"]
    write(tmp_path / "c.jsonl", '{"id": "1"}')
    with pytest.raises(LabError, match="Line 1 of .* is no prompt"):
        sources.own_passages(tmp_path)


def test_the_sides_of_passages_and_prompts_do_not_meet():
    documents = [d for i in range(200) for d in readers.prose("s", "en", "", [f"{i} {LONG}"])]
    prompts = [SimpleNamespace(id=i) for i in range(20)]
    passages = sources.Passages(documents, prompts)
    for side in (passages.side, passages.prompts):
        train, held = side(False), side(True)
        assert train and held and not [x for x in held if x in train]
        assert len(train) + len(held) == (200 if side == passages.side else 20)
    assert random.Random(0).choice(documents).text.endswith(LONG)
