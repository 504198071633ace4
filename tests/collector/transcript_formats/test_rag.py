"""Test question-with-context rows."""

from __future__ import annotations

import pytest

from collector.model import Document, Message
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.rag import read_row


def test_row() -> None:
    """The context becomes a document between a question and its answer."""
    content = read_row({"question": "How heavy?", "context": "It weighs 2 kg.", "answer": "2 kg"})
    assert content.messages == (
        Message(role="user", text="How heavy?"),
        Message(role="assistant", text="2 kg"),
    )
    assert content.documents == (Document(text="It weighs 2 kg."),)


def test_passages_and_no_question() -> None:
    """A list of passages gives several documents, and a missing question an empty one."""
    row = {"question": None, "context": ["one", {"id": "d2", "text": "two"}, ""], "answer": "3"}
    content = read_row(row)
    assert content.messages[0] == Message(role="user")
    assert content.documents == (Document(text="one"), Document(id="d2", text="two"))


def test_no_answer() -> None:
    """A row without an answer is an error."""
    with pytest.raises(FormatError, match="`answer` is not a text"):
        read_row({"question": "q", "answer": None})
