"""Count what was redacted, as rises of totals."""

from __future__ import annotations

from collections import Counter

from collector import totals
from collector.redactor import Redactor


class RedactionCounts:
    """Give what was redacted since the last call."""

    def __init__(self, *redactors: Redactor) -> None:
        self._redactors = redactors
        self._before: Counter[str] = Counter()

    def __call__(self) -> totals.Deltas:
        """Return the rises of ``redactions_total``."""
        now: Counter[str] = Counter()
        for redactor in self._redactors:
            now.update(redactor.redactions)
        deltas: totals.Deltas = {}
        for kind, amount in now.items():
            if amount > self._before.get(kind, 0):
                totals.add(
                    deltas, "redactions_total", amount - self._before.get(kind, 0), kind=kind
                )
        self._before = now
        return deltas
