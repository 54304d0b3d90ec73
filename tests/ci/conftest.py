"""Text that a tiny target has written, for its students to learn from."""

import shutil

import pytest


@pytest.fixture(scope="session")
def first_written(writer, tmp_path_factory):
    """(target, tokenizer, folder with some of its answers, and some to measure on)"""
    from models_on_disk import SMALL
    from training_text.conversations import write_conversations

    from specdec_lab.models.load import load_model

    target, tokenizer = load_model(writer, "cpu")
    text = tmp_path_factory.mktemp("text")
    write_conversations(target, tokenizer, {0}, text, tokens=4_000, longest=SMALL, say=lambda line: None)
    return target, tokenizer, text


@pytest.fixture(scope="module")
def written(first_written, tmp_path_factory):
    """The same with a copy of the folder: tests leave checkpoints there, too."""
    target, tokenizer, text = first_written
    return target, tokenizer, shutil.copytree(text, tmp_path_factory.mktemp("text") / "copy")
