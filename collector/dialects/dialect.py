"""Say what a dialect is: one semantic convention, as tables and two functions.

To add a convention, write one file that ends in a ``Dialect`` and list it in
``collector.normalise.DEFAULT_DIALECTS``; the first that matches a span reads it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from collector.dialects.attributes import Keys
from collector.dialects.interning import Memory
from collector.model import (
    Document,
    FactRole,
    Facts,
    JsonValue,
    Message,
    ToolDefinition,
    ToolRequest,
)
from collector.telemetry import LogRecord, Span


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One semantic convention."""

    name: str
    matches: Callable[[Span], bool]
    """Tell from the span's attributes whether it speaks this convention."""
    read: Callable[[Span, Memory], Facts]
    """Read a span that matches; must not raise, whatever the attributes hold."""
    scopes: tuple[str, ...] = ()
    """How the instrumentation scopes begin whose spans are most likely this convention's."""
    read_log: Callable[[LogRecord, Memory], Facts | None] | None = None
    """Read a log record; ``None`` when it says nothing about a conversation."""


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """A convention's attribute names by fact, synonyms best first."""

    provider: Keys = ()
    model: Keys = ()
    response_id: Keys = ()
    previous_response_id: Keys = ()
    thread_id: Keys = ()
    finish_reason: Keys = ()
    input_tokens: Keys = ()
    output_tokens: Keys = ()
    cache_read: Keys = ()
    cache_write: Keys = ()
    reasoning: Keys = ()
    cost_usd: Keys = ()
    first_token_s: Keys = ()
    first_token_ms: Keys = ()
    tool_name: Keys = ()
    tool_call_id: Keys = ()
    tool_arguments: Keys = ()
    tool_result: Keys = ()
    tool_status: Keys = ()


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a span, in normal form."""

    system_prompt: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    documents: tuple[Document, ...] = ()
    finish_reason: str = ""
    """The raw reason, where only the output message carries it."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool span says of its call."""

    request: ToolRequest | None = None
    result: JsonValue = None
    """``None`` when the span does not carry it."""
    is_error: bool | None = None


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a dialect found in one span."""

    role: FactRole
    said: Said = Said()
    tool: ToolUse = ToolUse()
