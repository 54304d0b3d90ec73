"""What users ask about, out of a folder of texts and prompts, or out of the installed Python."""

import random
import sysconfig
from types import SimpleNamespace

import pytest

from specdec_lab.errors import LabError
from specdec_lab.train import readers, sources

SENTENCES = (
    "The ferry was late again, and the people on the pier began to talk to each other. An old man told a story. "
)
LONG = (SENTENCES * 3).strip()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_plain_text_and_code(tmp_path):
    text = f"# A title\n\n{LONG}\n\n- a list\n- of things\n\n```\ncode\n```\n\n" + LONG.replace(". ", ".\n")
    (found,) = readers.plain_text("s", write(tmp_path / "my-notes.md", text))
    assert (found.title, found.text) == ("my notes", f"{LONG}\n\n{LONG}")
    code = 'def f(x):\n    """' + LONG.replace(". ", ".\n    ") + '\n    """\n    y = x\n    z = y\n    return z\n'
    path = write(tmp_path / "a.py", f"import os\n\n{code}")
    function, said = readers.python_code("s", path)
    assert function.text == code.rstrip() and (function.form, function.title) == ("code", "f")
    assert said.text == LONG and (said.form, said.title) == ("prose", "f")
    (said,) = readers.python_code("s", write(tmp_path / "about.py", f'"""{LONG}"""'))
    assert (said.form, said.title, said.text) == ("prose", "about", LONG)
    assert list(readers.python_code("s", write(tmp_path / "b.py", "def torn("))) == []


def test_a_long_paragraph_is_parted_and_a_long_text_is_many_documents():
    found = list(readers.prose("s", "en", "", [SENTENCES * 100] * 3))
    assert len(SENTENCES * 100) > readers.PARAGRAPH
    assert len(found) > 2 and all(len(d.text) <= readers.LONGEST + 300 for d in found)
    assert all(len(p) < readers.PARAGRAPH + 200 for d in found for p in d.text.split("\n\n"))
    assert sum(d.text.count("ferry") for d in found) == 300


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


def test_the_installed_python_gives_code_and_prose(tmp_path, monkeypatch):
    code = "def f(x):\n    y = x\n    z = y\n    w = z\n    return w\n"
    for name in ("lib/a.py", "lib/test/b.py", "lib/site-packages/c.py", "site/packaging/d.py", "site/other/e.py"):
        write(tmp_path / name, f'"""{LONG} {name}."""\n{code}')
    folders = {"stdlib": str(tmp_path / "lib"), "purelib": str(tmp_path / "site")}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: folders)
    found = list(sources.installed_python())
    assert {d.source for d in found} == {sources.PYTHON} and sum(d.form == "code" for d in found) == 2
    assert {d.text.split()[-1] for d in found if d.form == "prose"} == {"lib/a.py.", "site/packaging/d.py."}
