"""What is asked about: a folder of texts and prompts of one's own, the installed Python, documents for the shipped drafters."""

import sysconfig

import pytest
from prose import LONG, write
from training_text import documents

from specdec_lab.errors import LabError
from specdec_lab.train import own, texts


def test_plain_text_and_code(tmp_path):
    text = f"# A title\n\n{LONG}\n\n- a list\n- of things\n\n```\ncode\n```\n\n" + LONG.replace(". ", ".\n")
    (found,) = documents.plain_text("s", write(tmp_path / "my-notes.md", text))
    assert (found.title, found.text) == ("my notes", f"{LONG}\n\n{LONG}")
    code = 'def f(x):\n    """' + LONG.replace(". ", ".\n    ") + '\n    """\n    y = x\n    z = y\n    return z\n'
    path = write(tmp_path / "a.py", f"import os\n\n{code}")
    function, said = documents.python_code("s", path)
    assert function.text == code.rstrip() and (function.form, function.title) == ("code", "f")
    assert said.text == LONG and (said.form, said.title) == ("prose", "f")
    (said,) = documents.python_code("s", write(tmp_path / "about.py", f'"""{LONG}"""'))
    assert (said.form, said.title, said.text) == ("prose", "about", LONG)
    assert list(documents.python_code("s", write(tmp_path / "b.py", "def torn("))) == []


def test_ones_own_folder(tmp_path):
    with pytest.raises(LabError, match="There is no folder"):
        texts.read_folder(tmp_path / "none")
    write(tmp_path / "table.txt", "1 2 3\n" * 50)
    write(tmp_path / "picture.txt", "").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(LabError, match="Nothing in .* can be asked about"):
        texts.read_folder(tmp_path)
    write(tmp_path / "deep" / "a.txt", LONG)
    write(tmp_path / "b.jsonl", '{"id": "1", "kind": "mine", "prompt": "What is this?"}')
    (mine,), (about,) = texts.read_folder(tmp_path)
    assert (mine.kind, mine.content) == ("mine", "What is this?")
    assert about.kind == "text" and about.content in [r.replace("{text}", LONG) for r in texts.ABOUT_TEXT]
    write(tmp_path / "c.jsonl", '{"id": "1"}')
    with pytest.raises(LabError, match="Line 1 of .* is no prompt"):
        texts.read_folder(tmp_path)


def test_code_is_asked_about_and_so_is_what_its_docstrings_say(tmp_path):
    """A class with all that is inside is one document; f is too short to be asked about, and h too long."""
    said = LONG.replace(". ", ".\n    ")
    inside = f'    """{said}\n    """\n\n    def f(x):\n        return {{}}'
    long = "def h(x):\n" + "    y = x  # and so on, and so forth\n" * 100
    (prompts,) = texts.prompts_about(write(tmp_path / "a.py", f"import os\n\nclass A:\n{inside}\n\n{long}"))
    about_code, about_text = prompts
    assert (about_code.kind, about_text.kind) == ("code", "text") and about_code.id != about_text.id
    assert f"```python\nclass A:\n{inside}\n```" in about_code.content  # a gap in the text stays as it is
    assert LONG in about_text.content


def test_passages_of_the_same_document_are_on_the_same_side(tmp_path):
    """Else what a draft is measured on would stand beside what it has learned."""
    for i in range(8):
        write(tmp_path / f"{i}.txt", "\n\n".join(f"{i}. {LONG}" for _ in range(40)))
    found = texts.read_folder(tmp_path)
    assert len(found) >= 8 and any(len(prompts) > 3 for prompts in found)
    assert all(len(p.content) < texts.PASSAGE + 200 for prompts in found for p in prompts)
    learned, aside = own.put_aside(found)
    ids = [{p.id for prompts in side for p in prompts} for side in (learned, aside)]
    assert ids[0] and ids[1] and not ids[0] & ids[1]


def test_the_sides_of_passages_do_not_meet():
    passages = documents.Passages([d for i in range(200) for d in documents.prose("s", "en", "", [f"{i} {LONG}"])])
    train, held = passages.side(False), passages.side(True)
    assert train and held and not [x for x in held if x in train]
    assert len(train) + len(held) == 200


def test_the_installed_python_gives_code_and_prose(tmp_path, monkeypatch):
    code = "def f(x):\n    y = x\n    z = y\n    w = z\n    return w\n"
    for name in ("lib/a.py", "lib/test/b.py", "lib/site-packages/c.py", "site/packaging/d.py", "site/other/e.py"):
        write(tmp_path / name, f'"""{LONG} {name}."""\n{code}')
    folders = {"stdlib": str(tmp_path / "lib"), "purelib": str(tmp_path / "site")}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: folders)
    found = list(documents.installed_python())
    assert {d.source for d in found} == {documents.PYTHON} and sum(d.form == "code" for d in found) == 2
    assert {d.text.split()[-1] for d in found if d.form == "prose"} == {"lib/a.py.", "site/packaging/d.py."}
    asked = [prompt for prompts in texts.installed_python() for prompt in prompts]
    assert sorted(p.kind for p in asked) == ["code", "code", "text", "text"]
    assert len(texts.installed_python(most=1)) == 2  # the module's docstring, and the function
