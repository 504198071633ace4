"""Say in our own terms what a span or a log record means, whatever convention it follows."""

from __future__ import annotations

from collections.abc import Sequence

from collector.dialects import (
    claude_code,
    google_adk,
    haystack,
    langfuse,
    langsmith,
    livekit,
    logfire,
    mcp,
    mlflow,
    openinference,
    openllmetry,
    otel_genai,
    pipecat,
    vercel_legacy,
)
from collector.dialects.dialect import Dialect
from collector.dialects.envelope import END, conversation_of, facts, identity_of
from collector.dialects.interning import Memory
from collector.merging import merge
from collector.model import Facts
from collector.telemetry import LogRecord, Span

DEFAULT_DIALECTS: tuple[Dialect, ...] = (
    langfuse.DIALECT,
    openinference.DIALECT,
    langsmith.DIALECT,
    openllmetry.DIALECT,
    vercel_legacy.DIALECT,
    claude_code.DIALECT,
    logfire.DIALECT,
    google_adk.DIALECT,
    mcp.DIALECT,
    mlflow.DIALECT,
    haystack.DIALECT,
    livekit.DIALECT,
    pipecat.DIALECT,
    otel_genai.DIALECT,
)
"""In order of precedence: the first that matches a span reads it."""
INTERN_BYTES = 24 * 1024 * 1024
MOST_SCOPES = 1024
"""Scope names whose order of dialects is remembered; a program has a few."""

__all__ = ["DEFAULT_DIALECTS", "Normaliser", "merge", "span_key"]


class Normaliser:
    """Turn spans and log records into facts; remembers messages it parsed before."""

    def __init__(
        self, dialects: Sequence[Dialect] = DEFAULT_DIALECTS, *, intern_bytes: int = INTERN_BYTES
    ) -> None:
        self._dialects = tuple(dialects)
        self._speaking = tuple(d.read_log for d in self._dialects if d.read_log is not None)
        self._orders: dict[str, tuple[Dialect, ...]] = {}
        self._memory = Memory(intern_bytes)

    def span(self, span: Span) -> Facts:
        """Read one span; one that no dialect knows has the role ``other`` and no dialect."""
        for dialect in self._orders.get(span.scope_name) or self._ordered(span.scope_name):
            if dialect.matches(span):
                return dialect.read(span, self._memory)
        return facts(span, role="other", dialect="")

    def _ordered(self, scope: str) -> tuple[Dialect, ...]:
        """Return the dialects to ask, those first whose scope it is."""
        order = tuple(sorted(self._dialects, key=lambda d: not _is_of(d, scope)))
        if len(self._orders) >= MOST_SCOPES:
            self._orders.clear()
        self._orders[scope] = order
        return order

    def log(self, record: LogRecord) -> Facts | None:
        """Read one log record; ``None`` when it says nothing about a conversation."""
        if record.event_name == END:
            return _end(record)
        for read_log in self._speaking:
            found = read_log(record, self._memory)
            if found is not None:
                return found
        return None


def span_key(trace_id: str, span_id: str) -> bytes:
    """Return the 24 bytes that name a span: its trace id and its own."""
    return bytes.fromhex(trace_id + span_id)


def _is_of(dialect: Dialect, scope: str) -> bool:
    return bool(dialect.scopes) and scope.startswith(dialect.scopes)


def _end(record: LogRecord) -> Facts:
    return Facts(
        trace_id=record.trace_id,
        span_id=record.span_id,
        role="other",
        dialect="",
        name=record.event_name,
        start_ns=record.time_ns,
        identity=identity_of(record.attributes, record.resource),
        conversation_id=conversation_of(record.attributes, record.resource),
        ends_conversation=True,
    )
