"""Test question-with-context rows."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Document, Message
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import format_of
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


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "contexts": ["one", "two"], "answer": "a", "ground_truth": "g"},
        {"user_input": "q", "retrieved_contexts": ["one", "two"], "response": "a"},
        {"query": "q", "documents": [{"page_content": "one"}, {"content": "two"}], "answer": "a"},
    ],
)
def test_other_spellings(row: dict[str, Any]) -> None:
    """Ragas's columns and LangChain's passages are told and read as ours."""
    assert format_of(row) == "rag"
    content = read_row(row)
    assert [message.text for message in content.messages] == ["q", "a"]
    assert [document.text for document in content.documents] == ["one", "two"]


def test_a_response_alone_is_no_row() -> None:
    """Logs of every kind have one."""
    assert format_of({"response": "a", "query": "q"}) is None


def test_no_answer() -> None:
    """A row without an answer is an error."""
    with pytest.raises(FormatError, match="`answer` is not a text"):
        read_row({"question": "q", "answer": None})
