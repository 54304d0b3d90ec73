"""Text that a tiny target has written, for its students to learn from."""

import pytest


@pytest.fixture(scope="module")  # whose tests leave checkpoints in the folder
def written(writer, tmp_path_factory):
    """(target, tokenizer, folder with some of its answers, and some to measure on)"""
    from models_on_disk import SMALL
    from training_text.conversations import write_conversations

    from specdec_lab.models.load import load_model

    target, tokenizer = load_model(writer, "cpu")
    text = tmp_path_factory.mktemp("text")
    write_conversations(target, tokenizer, {0}, text, tokens=4_000, longest=SMALL, say=lambda line: None)
    return target, tokenizer, text
