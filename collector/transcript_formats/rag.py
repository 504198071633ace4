"""Read question-and-answer rows over a given context: ``{id, question, context, answer}``.

Ragas's data sets say the same in two other spellings, LangChain's passages in one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collector.model import Document, Message
from collector.transcript_formats.content import Content, FormatError, text_of

_QUESTIONS = ("question", "query", "user_input")
_CONTEXTS = ("context", "contexts", "retrieved_contexts", "documents")
_TEXTS = ("text", "content", "page_content")


def is_row(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is one of these."""
    if "answer" in row:
        return any(key in row for key in (*_QUESTIONS, *_CONTEXTS))
    return "response" in row and ("user_input" in row or "retrieved_contexts" in row)


def read_row(row: Mapping[str, Any]) -> Content:
    """Read one row; a row without a question becomes a user message without text.

    ``context`` is a text or a list of texts or ``{id, text}`` passages.

    Raises:
        FormatError: there is no answer.
    """
    answer = "answer" if "answer" in row else "response"
    if not isinstance(row.get(answer), str):
        raise FormatError(f"`{answer}` is not a text")
    context = _first(row, _CONTEXTS)
    passages = context if isinstance(context, list) else [context]
    return Content(
        messages=(
            Message(role="user", text=text_of(_first(row, _QUESTIONS))),
            Message(role="assistant", text=row[answer]),
        ),
        documents=tuple(map(_document, (p for p in passages if p))),
    )


def _document(passage: Any) -> Document:
    if isinstance(passage, Mapping):
        return Document(id=text_of(passage.get("id")), text=text_of(_first(passage, _TEXTS)))
    return Document(text=text_of(passage))


def _first(row: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None)
