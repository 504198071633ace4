"""Spend so many calls a day and no more, whatever is started again in between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


class DailyBudget:
    """Count calls by day of UTC, in memory and in a small file."""

    def __init__(self, path: Path, most: int, *, clock_ns: Callable[[], int]) -> None:
        """Take up what was spent before.

        Args:
            path: Of the file.
            most: Calls in a day.
            clock_ns: Unix time in nanoseconds.
        """
        self._path = path
        self._most = most
        self._clock_ns = clock_ns
        self._lock = threading.Lock()
        self._day, self._spent = "", 0
        with suppress(OSError, ValueError):  # none yet, or not ours: nothing was spent
            day, _, spent = path.read_text(encoding="ascii").partition(" ")
            self._day, self._spent = day, int(spent)

    def left(self) -> int:
        """Return how many calls may yet be made today."""
        today = datetime.fromtimestamp(self._clock_ns() / 1e9, UTC).date().isoformat()
        if today != self._day:
            self._day, self._spent = today, 0
        return max(0, self._most - self._spent)

    def take(self) -> bool:
        """Spend one call, if one is left; written down before it is made. From any thread."""
        with self._lock:
            if not self.left():
                return False
            self._spent += 1
            made = self._path.with_suffix(".new")
            with suppress(OSError):  # a full disk must not end what is counted in memory
                made.write_text(f"{self._day} {self._spent}", encoding="ascii")
                made.replace(self._path)
            return True
