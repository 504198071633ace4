"""Let simulated time pass faster than real time, and never ahead of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_WORTH_S = 0.005
"""Shorter waits are not taken; they add up until one is."""


class Pace:
    """Tell when something that happens in the story is due."""

    def __init__(
        self,
        *,
        speed: float,
        first_ns: int,
        stop: threading.Event,
        clock_ns: Callable[[], int] = time.time_ns,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            speed: simulated seconds in a second; 0 waits for nothing but the present.
            first_ns: simulated time at which the story begins.
            stop: ends every wait when set.
            clock_ns: the present, which no event may be ahead of.
            seconds: monotonic clock.
        """
        self._speed = speed
        self._first_ns = first_ns
        self._stop = stop
        self._clock_ns = clock_ns
        self._seconds = seconds
        self._began = seconds()

    def wait(self, at_ns: int) -> bool:
        """Wait until a simulated time is due; false when we are to stop."""
        while not self._stop.is_set():
            left = (at_ns - self._clock_ns()) / 1e9
            if self._speed:
                due = self._began + (at_ns - self._first_ns) / 1e9 / self._speed
                left = max(left, due - self._seconds())
            if left < _WORTH_S:
                return True
            self._stop.wait(min(left, 1.0))
        return False
