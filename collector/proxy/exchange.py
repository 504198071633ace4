"""Say what one call to a model held, in the same words for every provider's API.

Messages, parts and tools are in the JSON shapes of the OTel GenAI convention, ready to be written
as attributes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any
"""What was parsed out of a body; nothing about it is certain."""
Part: TypeAlias = dict[str, Any]


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Usage as the convention counts it: input includes the cached ones; ``None`` is not said."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider answered, streamed or not."""

    body: Json = None
    """The answer as it comes when it is not streamed; ``None`` when there was none."""
    whole: bool = True
    """Whether it came to its end."""
    error: str = ""
    """Kind of the error that a stream ended with."""
    unread: int = 0
    """Events of a stream that were no JSON, other than one that was cut off."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    operation: str = "chat"
    request_model: str = ""
    model: str = ""
    response_id: str = ""
    previous_response_id: str = ""
    conversation_id: str = ""
    """A conversation that the provider keeps."""
    user: str = ""
    """The end user as the client named him; a hash of it is kept and nothing else."""
    system: tuple[Part, ...] = ()
    input: tuple[Part, ...] = ()
    """Messages."""
    output: tuple[Part, ...] = ()
    """Messages, each with its ``finish_reason``."""
    tools: tuple[Part, ...] = ()
    finish_reasons: tuple[str, ...] = ()
    tokens: Tokens = Tokens()
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    streamed: bool = False
    error: str = ""


def items(value: Json) -> list[Json]:
    """Return a list as it is, and anything else as an empty one."""
    return value if isinstance(value, list) else []


def fields(value: Json) -> dict[str, Json]:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: Json) -> str:
    """Return a text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Json) -> int | None:
    """Return a count, if it is one."""
    return value if type(value) is int and 0 <= value < 2**53 else None


def number(value: Json) -> float | None:
    """Return a number, if it is one."""
    return float(value) if type(value) in (int, float) else None


def error_kind(body: Json, status: int) -> str:
    """Return the kind of error that a body tells of, else the status."""
    error = fields(fields(body).get("error"))
    return text(error.get("type")) or text(error.get("code")) or str(status)
