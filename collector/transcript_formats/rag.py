"""Read question-and-answer rows over a given context: ``{id, question, context, answer}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.model import Document, Message
from collector.transcript_formats.content import Content, FormatError, text_of


def read_row(row: Mapping[str, Any]) -> Content:
    """Read one row; a row without a question becomes a user message without text.

    ``context`` is a text or a list of texts or ``{id, text}`` passages.

    Raises:
        FormatError: there is no answer.
    """
    if not isinstance(row.get("answer"), str):
        raise FormatError("`answer` is not a text")
    context = row.get("context")
    passages = context if isinstance(context, list) else [context]
    return Content(
        messages=(
            Message(role="user", text=text_of(row.get("question"))),
            Message(role="assistant", text=row["answer"]),
        ),
        documents=tuple(map(_document, (p for p in passages if p))),
    )


def _document(passage: Any) -> Document:
    if isinstance(passage, Mapping):
        return Document(
            id=text_of(passage.get("id")), text=text_of(passage.get("text", passage.get("content")))
        )
    return Document(text=text_of(passage))
