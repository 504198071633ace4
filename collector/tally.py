"""Count from any thread what the pipeline makes durable with its next step."""

from __future__ import annotations

import threading

from collector import totals


class Tally:
    """Gather rises of totals until the pipeline drains them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._deltas: totals.Deltas = {}

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Raise one series; labels in the catalogue's order."""
        with self._lock:
            totals.add(self._deltas, name, amount, **labels)

    def drain(self) -> totals.Deltas:
        """Return the rises since the last call."""
        with self._lock:
            deltas, self._deltas = self._deltas, {}
        return deltas
