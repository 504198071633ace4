"""Hold what a transcript row says, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from collector.dialects.blocks import result_text
from collector.model import Document, JsonValue, Message, ToolDefinition

TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
"""Content parts whose ``text`` is what was said."""


class FormatError(Exception):
    """A row is not what its format says; the text is the reason, in a few words."""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one row in normal form and what the model was given beside them."""

    messages: tuple[Message, ...]
    """System messages included."""
    system_prompt: str = ""
    """Only where the format says it outside of the messages."""
    tools: tuple[ToolDefinition, ...] = ()
    documents: tuple[Document, ...] = ()


def text_of(content: Any) -> str:
    """Join the text of a message's content: a string, a list of parts, or nothing.

    Images, audio and files are left out; any other JSON value is written as JSON, since some
    producers put a tool's raw result there.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(t for t in map(_part_text, content) if t)
    return msgspec.json.encode(content).decode()


def result_of(content: Any) -> str:
    """Return a tool result's text as live traffic gives it: text blocks in a string are opened."""
    return result_text(text_of(content))


def arguments_of(value: Any) -> JsonValue:
    """Parse a tool call's arguments; a string that is not valid JSON stays as it is."""
    parsed: JsonValue = value
    if value is None or (isinstance(value, str) and not value.strip()):
        parsed = {}  # how streaming producers write "no arguments"
    elif isinstance(value, str):
        try:
            parsed = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            parsed = value
    return parsed


def definition_of(tool: Any) -> ToolDefinition:
    """Read one tool definition in OpenAI's nested, OpenAI's flat or Anthropic's shape.

    Raises:
        FormatError: it has no name.
    """
    if not isinstance(tool, Mapping):
        raise FormatError("a tool definition is not an object")
    nested = tool.get("function")
    said = nested if isinstance(nested, Mapping) else tool
    name = said.get("name")
    if not isinstance(name, str) or not name:
        raise FormatError("a tool definition has no name")
    hints = tool.get("annotations") or said.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    return ToolDefinition(
        name=name,
        description=text_of(said.get("description")),
        parameters=said.get("parameters", said.get("input_schema")),
        read_only=_flag(hints.get("readOnlyHint")),
        destructive=_flag(hints.get("destructiveHint")),
    )


def rows_of(value: Any, key: str) -> Sequence[Any]:
    """Return a list, an absent one as empty.

    Raises:
        FormatError: it is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise FormatError(f"`{key}` is not a list")
    return value


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    kind = part.get("type", "text")
    if isinstance(kind, str) and kind in TEXT_PARTS:
        return text_of(part.get("text"))
    if kind == "refusal":
        return text_of(part.get("refusal"))
    return ""


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
