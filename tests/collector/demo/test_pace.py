"""Test that simulated time passes at its pace."""

from __future__ import annotations

import threading
from typing import Self

import pytest

from collector.demo.dialogue import SECOND
from collector.demo.pace import Pace


class Wall(threading.Event):
    """A clock that moves only when somebody waits, and the stop they wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0
        self.waited = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        """Let time pass."""
        self.now += timeout or 0.0
        self.waited += timeout or 0.0
        return self.is_set()

    def pace(self, speed: float, first_s: float) -> Pace:
        """Start a pace on this clock."""
        return Pace(
            speed=speed,
            first_ns=int(first_s * SECOND),
            stop=self,
            clock_ns=lambda: int(self.now * SECOND),
            seconds=lambda: self.now,
        )

    def stopped(self) -> Self:
        """Return it, set."""
        self.set()
        return self


def test_faster_than_time() -> None:
    """At a speed of 100 an event 500 s later is due after 5 s."""
    wall = Wall()
    pace = wall.pace(100.0, 0.0)
    assert pace.wait(0)
    assert wall.waited == 0
    assert pace.wait(500 * SECOND)
    assert wall.waited == pytest.approx(5.0, abs=0.01)


def test_as_fast_as_possible() -> None:
    """At a speed of 0 the past is not waited for."""
    wall = Wall()
    assert wall.pace(0.0, 0.0).wait(999 * SECOND)
    assert wall.waited == 0


@pytest.mark.parametrize("speed", [0.0, 1_000.0])
def test_never_ahead_of_the_present(speed: float) -> None:
    """What has not happened yet is waited for, at whatever speed."""
    wall = Wall()
    assert wall.pace(speed, 990.0).wait(1_003 * SECOND)
    assert wall.now == pytest.approx(1_003.0, abs=0.01)


def test_stops() -> None:
    """Told to stop, it waits no more and says so."""
    wall = Wall().stopped()
    assert not wall.pace(1.0, 0.0).wait(10**9 * SECOND)
    assert wall.waited == 0
