"""Tell the time without ever going back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_STEP_NS = 500_000_000


class SteadyClock:
    """Follow the wall clock forward and the monotonic one when the wall clock jumps back.

    Timers of open episodes would otherwise stand still for as long as the clock was set
    back. A jump forward (a laptop that slept) is followed at once.
    """

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._offset = wall_ns() - monotonic_ns()
        self._lock = threading.Lock()

    def __call__(self) -> int:
        """Return Unix nanoseconds."""
        with self._lock:
            steady = self._monotonic_ns() + self._offset
            ahead = self._wall_ns() - steady
            if ahead > _STEP_NS:
                self._offset += ahead
                steady += ahead
            return steady
