"""Know the spans that were decided, those of the step under way included."""

from __future__ import annotations

from collections.abc import Callable

from collector.work import Work


class DecidedSpans:
    """``span_key in decided_spans`` says whether that span is decided."""

    def __init__(self, decided: Callable[[bytes], bool], work: Work) -> None:
        """Take what knows the durable decisions, and the step under way."""
        self._decided = decided
        self._work = work

    def __contains__(self, key: object) -> bool:
        """Say whether a 24-byte span key is decided."""
        return isinstance(key, bytes) and (key in self._work.fresh or self._decided(key))
