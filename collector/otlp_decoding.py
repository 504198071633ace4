"""Hold what both OTLP encodings give: the outcome of a check, and its limits."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from collector.telemetry import LogRecord, Span

NO_TRACE = "0" * 32
NO_SPAN = "0" * 16
MAX_DEPTH = 40
"""Levels of lists and maps an attribute may nest; protobuf itself ends at about 48."""


class Decoded(msgspec.Struct, frozen=True, kw_only=True):
    """A checked request: how much of it is right, and how to get at it."""

    accepted: int
    rejected: int
    reason: str
    """Why the first rejected item was rejected."""
    items: Callable[[], list[Span] | list[LogRecord]]
