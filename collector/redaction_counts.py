"""Count what was redacted, as rises of totals."""

from __future__ import annotations

from collector import totals
from collector.redactor import Redactor


class RedactionCounts:
    """Give what was redacted since the last call."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._before: dict[str, int] = {}

    def __call__(self) -> totals.Deltas:
        """Return the rises of ``redactions_total``."""
        now = dict(self._redactor.redactions)
        deltas: totals.Deltas = {}
        for kind, amount in now.items():
            if amount > self._before.get(kind, 0):
                totals.add(
                    deltas, "redactions_total", amount - self._before.get(kind, 0), kind=kind
                )
        self._before = now
        return deltas
