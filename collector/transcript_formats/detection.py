"""Tell the format of a row by its keys, and find the rows that others are wrapped around."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from collector.transcript_formats import (
    anthropic_messages,
    claude_code_lines,
    langfuse_export,
    langsmith_runs,
    rag,
    span_rows,
)

Format = Literal[
    "openai", "anthropic", "rag", "otlp", "claude-code", "langfuse", "langsmith", "spans"
]
FORMATS: tuple[Format, ...] = (
    "openai",
    "anthropic",
    "rag",
    "otlp",
    "claude-code",
    "langfuse",
    "langsmith",
    "spans",
)
OTLP = ("resourceSpans", "resourceLogs")
INSIDE: tuple[Format, ...] = ("otlp", "claude-code", "langfuse", "langsmith", "spans")
"""Formats whose rows are found inside the answers of an API, or other wrappings."""
DEEPEST = 6
SHARED = ("traceId", "trace_id", "traceID", "resource", "scope", "instrumentationScope")
"""What an object around spans says for all of them."""
NOTHING: Mapping[str, Any] = {}
COLUMNS = ("context.trace_id", "context.span_id")
"""Columns of Phoenix's data frames."""


def format_of(row: Mapping[str, Any]) -> Format | None:
    """Tell a row's format by its keys; ``None`` when it is none of ours."""
    if any(key in row for key in OTLP):
        return "otlp"
    messages = row.get("messages")
    if isinstance(messages, list) and not _is_log_of_lines(messages):
        return "anthropic" if _is_anthropic(row, messages) else "openai"
    return next((name for name, tells in _TELLS if tells(row)), None)


def rows_in(
    value: Any, depth: int = DEEPEST, around: Mapping[str, Any] = NOTHING
) -> Iterator[tuple[Format, Mapping[str, Any]]]:
    """Find the rows inside an answer of an API, a data frame, or a list, with their formats.

    A span takes from the objects ``around`` it what it does not say itself: the trace, the
    resource, the scope.
    """
    if isinstance(value, list):
        for item in value if depth > 0 else ():
            yield from rows_in(item, depth - 1, around)
    if not isinstance(value, dict):
        return
    frame = list(_frame(value))
    if frame:
        for row in frame:
            yield "spans", row
        return
    found = format_of(value)
    if found is None and around and span_rows.is_span_of(around, value):
        found = "spans"
    if found in INSIDE:
        yield found, {**around, **value} if found == "spans" else value
    elif found is None and depth > 0:
        yield from _below(value, depth, around)


def spans_in(request: Mapping[str, Any]) -> Iterator[tuple[Format, Mapping[str, Any]]]:
    """Find the single spans of a request that is not quite OTLP's JSON."""
    yield from _below(request, DEEPEST, NOTHING)


def _below(
    value: Mapping[str, Any], depth: int, around: Mapping[str, Any]
) -> Iterator[tuple[Format, Mapping[str, Any]]]:
    around = {**around, **{key: value[key] for key in SHARED if value.get(key)}}
    for key, inner in value.items():
        # A data frame by its index: the keys are the ids that the rows lack.
        named = isinstance(inner, dict) and COLUMNS[0] in inner and COLUMNS[1] not in inner
        yield from rows_in({**inner, COLUMNS[1]: key} if named else inner, depth - 1, around)


def _frame(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Turn the columns of a data frame into rows."""
    columns, rows, index = value.get("columns"), value.get("data"), value.get("index")
    if isinstance(columns, list) and isinstance(rows, list) and COLUMNS[0] in columns:
        names = index if isinstance(index, list) and len(index) == len(rows) else [None] * len(rows)
        for name, row in zip(names, rows, strict=True):
            if isinstance(row, list):
                cells = {str(k): v for k, v in zip(columns, row, strict=False)}
                yield {COLUMNS[1]: name, **cells}
        return
    lead = value.get(COLUMNS[0])
    if not isinstance(lead, dict):
        return
    for name in lead:
        cells = {key: column.get(name) for key, column in value.items() if isinstance(column, dict)}
        yield {COLUMNS[1]: name, **cells}


def _is_log_of_lines(messages: Sequence[Any]) -> bool:
    """Tell a log of what went to and fro between programs from a conversation."""
    first = messages[0] if messages else None
    return (
        isinstance(first, dict) and "role" not in first and isinstance(first.get("message"), dict)
    )


def _is_anthropic(row: Mapping[str, Any], messages: Sequence[Any]) -> bool:
    tools = row.get("tools")
    if "system" in row or (
        isinstance(tools, list)
        and any(isinstance(t, Mapping) and "input_schema" in t for t in tools)
    ):
        return True
    contents = (m.get("content") for m in messages if isinstance(m, Mapping))
    return any(isinstance(c, list) and any(map(anthropic_messages.is_block, c)) for c in contents)


_TELLS: tuple[tuple[Format, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("rag", rag.is_row),
    ("claude-code", claude_code_lines.is_line),
    ("langsmith", langsmith_runs.is_run),
    ("langfuse", langfuse_export.is_export),
    ("spans", span_rows.is_record),
)
"""In order: the first that knows a row has it."""
