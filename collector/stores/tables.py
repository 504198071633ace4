"""Name the columns of every table, in the order in which rows carry them.

A row is a list or tuple of JSON values: text, numbers, booleans, ``None``, lists and
dictionaries. Times are text as ``stamp`` writes them, so that a row means the same to every
server version and survives the outbox unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = Sequence[Any]
"""One row in the order of ``TABLES[table]``; a list after it has been in the outbox."""
Rows: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows by table."""

_LATEST_S = 4_102_444_799
"""End of 2099: what both DateTime and the partition keys can hold."""

_IDENTITY = ("agent", "agent_version", "environment", "variant")

TABLES: dict[str, tuple[str, ...]] = {
    "otel_traces": (
        "Timestamp",
        "TraceId",
        "SpanId",
        "ParentSpanId",
        "TraceState",
        "SpanName",
        "SpanKind",
        "ServiceName",
        "ResourceAttributes",
        "ScopeName",
        "ScopeVersion",
        "SpanAttributes",
        "Duration",
        "StatusCode",
        "StatusMessage",
        "Events.Timestamp",
        "Events.Name",
        "Events.Attributes",
        "Links.TraceId",
        "Links.SpanId",
        "Links.TraceState",
        "Links.Attributes",
    ),
    "otel_traces_trace_id_ts": ("TraceId", "Start", "End"),
    "turns": (
        "conversation_id",
        "episode",
        "revision",
        "turn",
        "first_message",
        "end_message",
        "started",
        "ended",
        "episode_started",
        "decided",
        "episode_id",
    ),
    "tool_calls": (
        "conversation_id",
        "episode",
        "revision",
        "position",
        "call_id",
        "name",
        "arguments",
        "result",
        "is_error",
        "asked_at",
        "answered_at",
        "trace_id",
        "span_id",
        "started",
        "ended",
        "requestor",
        "simulated",
        *_IDENTITY,
        "episode_started",
        "decided",
        "episode_id",
    ),
    "scores": (
        "score_id",
        "conversation_id",
        "episode",
        "revision",
        "level",
        "target",
        "scorer",
        "scorer_version",
        "value",
        "verdict",
        "reason",
        "evidence",
        "cost_usd",
        "latency_s",
        "scored",
        "trace_id",
        *_IDENTITY,
        "episode_started",
        "episode_id",
    ),
    "decisions": (
        "conversation_id",
        "episode",
        "scorer",
        "scorer_version",
        "revision",
        "decision",
        "reason",
        "targets",
        "decided",
        *_IDENTITY,
        "episode_started",
        "episode_id",
    ),
    "observations": (
        "producer",
        "sequence",
        "conversation_id",
        "episode",
        "scorer",
        "scorer_version",
        "shortfall",
        "weight",
        "stratum",
        *_IDENTITY,
        "tenant",
        "pair_id",
        "observed",
    ),
    # After everything that belongs to an episode, so that whoever sees the head sees the rest.
    "conversations": (
        "conversation_id",
        "episode",
        "revision",
        "episode_id",
        "explicit",
        *_IDENTITY,
        "tenant",
        "pair_id",
        "user_hash",
        "started",
        "ended",
        "decided",
        "end_reason",
        "truncated",
        "first_message",
        "message_count",
        "turn_count",
        "tool_call_count",
        "llm_call_count",
        "document_count",
        "span_count",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "reasoning_tokens",
        "cost_usd",
        "models",
        "providers",
        "trace_ids",
        "failed_scorers",
        "kept",
        "probability",
        "sampling_rule",
        "system_prompt",
        "tools",
        "messages",
        "llm_calls",
        "documents",
    ),
    "outcomes": ("conversation_id", "name", "success", "observed"),
    "labels": ("conversation_id", "scorer", "author", "verdict", "created"),
    "totals": ("producer", "name", "labels", "value", "updated"),
    "detector_state": ("stream", "slice", "state", "updated"),
    "alert_events": ("event_id", "at", "kind", "stream", "slice", "detail"),
    "dead_letters": ("letter_id", "at", "table_name", "reason", "row"),
}
"""Columns by table; tables are written in this order."""


def stamp(time_ns: int) -> str:
    """Write a time for a ``DateTime64(9)`` column: seconds since 1970, a dot, nine digits.

    Times before 1970 and after 2099, which only a broken clock sends, are moved to the
    nearest end of that range.
    """
    seconds, nanos = divmod(time_ns, 1_000_000_000)
    if seconds < 0:
        return "0000000000.000000000"
    if seconds > _LATEST_S:
        seconds, nanos = _LATEST_S, 0
    return f"{seconds:010d}.{nanos:09d}"


def seconds(time_ns: int) -> int:
    """Give a time for a ``DateTime`` column: whole seconds, moved into 1970..2099."""
    return min(max(time_ns // 1_000_000_000, 0), _LATEST_S)
