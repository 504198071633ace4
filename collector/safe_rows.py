"""Turn spans into rows that hold nothing sensitive, whatever a single span does to us."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from collector.fault import told
from collector.redactor import Redactor
from collector.stores.span_rows import span_rows
from collector.telemetry import Span

Rows = dict[str, list[Any]]

_LOG = logging.getLogger(__name__)


class SafeRows:
    """Redact and flatten spans; one that we fail on is left out and counted, never stored raw."""

    def __init__(
        self, redactor: Redactor, *, count: Callable[[str, float, dict[str, str]], None]
    ) -> None:
        self._redactor = redactor
        self._count = count

    def __call__(self, spans: Sequence[Span], probability: float) -> Rows:
        """Return rows by table; ``probability`` is that of being kept."""
        try:
            return self._rows(spans, probability)
        except Exception:  # noqa: BLE001 - found span by span below
            return self._one_by_one(spans, probability)

    def _rows(self, spans: Sequence[Span], probability: float) -> Rows:
        safe = [self._redactor.span(span) for span in spans]
        return dict(span_rows(safe, sample_probability=probability))

    def _one_by_one(self, spans: Sequence[Span], probability: float) -> Rows:
        rows: Rows = {}
        for span in spans:
            try:
                found = self._rows([span], probability)
            except Exception as error:  # noqa: BLE001 - one span must not cost the others
                _LOG.error("span %s of trace %s: %s", span.span_id, span.trace_id, told(error))
                self._count("spans_dropped_total", 1.0, {"reason": "unstorable"})
                continue
            for table, lines in found.items():
                rows.setdefault(table, []).extend(lines)
        return rows
