"""Open journals and build their records for tests in one line each."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from collector.journal import Entry, EpisodeRow, Journal

T = TypeVar("T")

WAIT_S = 30
"""Nothing in the tests takes this long; a future that does is lost."""


def open_journal(directory: Path, **options: Any) -> Journal:
    """Open a journal in a directory; a small one unless told otherwise."""
    defaults: dict[str, Any] = {
        "max_bytes": 64 * 1024 * 1024,
        "seen_limit": 3_000,
        "clock_ns": lambda: 1_000,
    }
    return Journal.open(directory / "journal.sqlite", **(defaults | options))


def entry(body: bytes = b"spans", **more: Any) -> Entry:
    """Build a request of two spans."""
    defaults: dict[str, Any] = {
        "received_ns": 5,
        "receiver": "otlp_http",
        "signal": "traces",
        "encoding": "proto",
        "items": 2,
    }
    return Entry(body=body, **(defaults | more))


def episode(id: str = "e-1", **more: Any) -> EpisodeRow:
    """Build a decided episode."""
    defaults: dict[str, Any] = {
        "conversation_key": "c-1",
        "number": 1,
        "decided_ns": 10,
        "free_at_ns": 20,
        "stored": False,
        "record": b"\x00record",
    }
    return EpisodeRow(episode_id=id, **(defaults | more))


def done(future: Future[T]) -> T:
    """Wait for a future."""
    return future.result(timeout=WAIT_S)
