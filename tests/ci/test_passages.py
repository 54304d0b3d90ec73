"""tools/passages.py: texts out of packages, as tools/write_training_text.py takes them; nothing is fetched here."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import passages as tool
import pytest
from prose import LONG, write
from training_text.documents import LIST, PYTHON, Document, prose, read_documents, read_passages
from training_text.package_texts import help_page, page, web_page


def test_a_web_page_gives_its_paragraphs_by_section(tmp_path):
    html = f"""<head><title>no</title></head><nav><p>{LONG}</p></nav><h1>1.2. On ferries</h1>
    <p>{LONG.replace("ferry", "<em>ferry</em>")}</p><table><tr><td><p>{LONG}</p></td></tr></table>
    <h2>More</h2><div class="para">{LONG}</div><pre>code {LONG}</pre><p>Next</p>"""
    found = list(page("s", web_page, write(tmp_path / "a.html", html)))
    assert [(d.title, d.text, d.form) for d in found] == [("On ferries", LONG, "prose"), ("More", LONG, "prose")]
    assert list(page("s", web_page, tmp_path / "a.html", "de", english=tmp_path / "a.html")) == []


def test_a_help_page_is_read_without_its_credits(tmp_path):
    xml = f"""<page xmlns="http://projectmallard.org/1.0/"><info><credit><p>{LONG}</p></credit></info>
    <title>On  ferries</title><section><p>{LONG}</p></section></page>"""
    (found,) = page("s", help_page, write(tmp_path / "a.page", xml))
    assert (found.title, found.text) == ("On ferries", LONG)


def test_documents_are_kept_as_they_were(tmp_path):
    documents = list(prose("s", "de", "Überschrift", [LONG + " Schöne Grüße …", LONG]))
    documents.append(Document("s", "code", "python", "f", "a = '\u2028\x85'\nb"))  # which also part lines
    tool.write_documents(documents, tmp_path / "a.jsonl")
    assert read_documents(tmp_path / "a.jsonl") == documents
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def client(fails=()):
    """apt-get and dpkg-deb; a package holds one help page."""

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
    source = tool.Source("gnome-help", "apt", ("old|new",), "pages", "CC-BY-SA-3.0", tool.gnome_help, 3)
    monkeypatch.setattr(tool, "SOURCES", (source,))
    monkeypatch.setattr(tool, "installed_python", lambda: [Document(PYTHON, "code", "python", "f", "pass")])
    monkeypatch.setattr(shutil, "which", lambda name: name)


def test_a_source_is_fetched_once(tmp_path, monkeypatch, one_source):
    monkeypatch.setattr(subprocess, "run", client(fails=("old",)))
    said = []
    tool.write_passages(tmp_path, said.append)
    made = read_passages(tmp_path)
    assert [(d.source, d.text) for d in made.documents] == [("gnome-help", LONG), (PYTHON, "pass")]
    assert any("CC-BY-SA-3.0" in line for line in said)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("fetched twice"))
    tool.write_passages(tmp_path, said.append)
    assert read_passages(tmp_path) == made
    packages_are_not_kept = {LIST, "gnome-help.jsonl", f"{PYTHON}.jsonl"}
    assert {p.name for p in tmp_path.iterdir()} == packages_are_not_kept


def test_every_source_names_its_client_and_its_licence():
    """They have learned from these texts: whoever ships them says under which terms the texts are."""
    card = (Path(__file__).parents[2] / "specdec_lab" / "weights" / "README.md").read_text(encoding="utf-8")
    for source in tool.SOURCES:
        assert source.client in ("apt", "npm") and source.packages and source.weight > 0, source.name
        assert source.licence and f"{source.name} ({source.licence})" in card, source.name
    assert len({source.name for source in tool.SOURCES}) == len(tool.SOURCES)  # each is a file's name


def test_what_cannot_be_fetched_is_left_out(tmp_path, monkeypatch, one_source):
    for which, says in (
        (lambda name: None, "no apt-get"),
        (lambda name: name, "could not fetch old|new"),
    ):
        said = []
        monkeypatch.setattr(shutil, "which", which)
        monkeypatch.setattr(subprocess, "run", client(fails=("old", "new")))
        tool.write_passages(tmp_path, said.append)
        assert {d.source for d in read_passages(tmp_path).documents} == {PYTHON}
        assert any("“gnome-help” is left out" in line and says in line for line in said)
