"""Running prose, and files that hold it."""

SENTENCES = (
    "The ferry was late again, and the people on the pier began to talk to each other. An old man told a story. "
)
LONG = (SENTENCES * 3).strip()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
