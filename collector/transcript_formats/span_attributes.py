"""Bring the attributes of exported spans into the form that they have on the wire.

Stores take dotted keys apart into nested objects, put parsed JSON in the place of text, or
keep OTLP's list of typed values; the dialects read what instrumentations send.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from collector.telemetry import Attributes
from collector.transcript_formats.span_fields import as_text, parsed

NAMESPACES = frozenset(
    (
        "agent",
        "ai",
        "db",
        "deployment",
        "document",
        "embedding",
        "error",
        "exception",
        "gcp",
        "gen_ai",
        "graph",
        "http",
        "input",
        "langfuse",
        "langsmith",
        "llm",
        "logfire",
        "mcp",
        "message",
        "openinference",
        "output",
        "outrider",
        "reranker",
        "retrieval",
        "server",
        "service",
        "session",
        "smolagents",
        "tag",
        "telemetry",
        "tool",
        "tool_call",
        "traceloop",
        "user",
    )
)
"""First words of keys; an object under any other is a value of its own."""
LISTS = frozenset(
    (
        "choices",
        "contents",
        "documents",
        "embeddings",
        "input_documents",
        "input_messages",
        "output_documents",
        "output_messages",
        "prompts",
        "tool_calls",
        "tools",
    )
)
"""Last words of OpenInference's keys whose lists are flattened with an index."""
FLAT_ROOTS = ("llm", "retrieval", "reranker", "embedding", "message")
WHOLE = frozenset(
    (
        "arguments",
        "arguments_json",
        "content",
        "definitions",
        "function_call_arguments_json",
        "input_schema",
        "invocation_parameters",
        "json_schema",
        "metadata",
        "parameters",
        "response",
        "result",
        "schema",
        "text",
        "value",
        "variables",
    )
)
"""Last words of keys whose value is JSON text on the wire, and no object of keys."""
DEEPEST = 24
LONGEST_INT = 21
"""Characters of a 64-bit integer, and one more."""


def attributes_of(value: Any) -> Attributes:
    """Read attributes: an object flat or nested, its JSON text, or OTLP's list of key and value."""
    value = parsed(value)
    found: Attributes = {}
    if isinstance(value, dict):
        for key, inner in value.items():
            _put(found, key, inner, DEEPEST)
    elif isinstance(value, list):
        for pair in value:
            if isinstance(pair, dict) and isinstance(pair.get("key"), str):
                _put(found, pair["key"], _any_value(pair.get("value"), DEEPEST), DEEPEST)
    return found


def prefixed(row: Mapping[str, Any], prefix: str) -> Attributes:
    """Read the attributes that stand beside a row's other columns, each under the prefix."""
    found: Attributes = {}
    for key, inner in row.items():
        if key.startswith(prefix):
            _put(found, key.removeprefix(prefix), inner, DEEPEST)
    return found


def _put(found: Attributes, key: str, value: Any, depth: int) -> None:
    if value is None:
        return
    if isinstance(value, dict):
        _put_object(found, key, value, depth)
    elif isinstance(value, list):
        last = key.rpartition(".")[2]
        root = key.partition(".")[0]
        if last in LISTS and root in FLAT_ROOTS and _all_objects(value) and depth > 0:
            for index, item in enumerate(value):
                for inner, below in item.items():
                    _put(found, f"{key}.{index}.{inner}", below, depth - 1)
        elif last in WHOLE:
            found[key] = as_text(value)
        else:
            found[key] = value
    else:
        found[key] = value


def _put_object(found: Attributes, key: str, value: dict[str, Any], depth: int) -> None:
    last = key.rpartition(".")[2]
    is_space = key.partition(".")[0] in NAMESPACES and depth > 0
    # A name may be both: ``message.content`` is text, ``message.content.type`` was never.
    if last in WHOLE or not is_space:
        found[key] = as_text(value) if last in WHOLE else value
        return
    for inner, below in value.items():
        _put(found, f"{key}.{inner}", below, depth - 1)


def _all_objects(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, dict) for item in value)


def _any_value(value: Any, depth: int) -> Any:
    """Open an OTLP ``AnyValue`` in either spelling; what is none is the value itself."""
    if not isinstance(value, dict) or len(value) != 1 or depth <= 0:
        return value
    ((name, inner),) = value.items()
    found: Any = value
    match name.replace("_", "").lower():
        case "stringvalue" | "boolvalue" | "doublevalue":
            found = inner
        case "intvalue":
            digits = isinstance(inner, str) and inner.removeprefix("-").isdecimal()
            found = int(inner) if digits and len(inner) < LONGEST_INT else inner
        case "bytesvalue":
            found = _bytes(inner)
        case "arrayvalue":
            found = [_any_value(item, depth - 1) for item in _values(inner)]
        case "kvlistvalue":
            found = {
                pair["key"]: _any_value(pair.get("value"), depth - 1)
                for pair in _values(inner)
                if isinstance(pair, dict) and isinstance(pair.get("key"), str)
            }
    return found


def _values(holder: Any) -> list[Any]:
    values = holder.get("values") if isinstance(holder, dict) else None
    return values if isinstance(values, list) else []


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None
