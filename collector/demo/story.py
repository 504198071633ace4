"""Plan when customers come, and let the new version go live in the middle of it."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Iterator

import msgspec

from collector.demo.dialogue import SECOND, ModelCall, Played, ToolRun, Turn
from collector.demo.mistakes import BROKEN_VERSION, HEALTHY_VERSION, Regression
from collector.demo.support import Support

HOUR = 3_600 * SECOND
HOURS = 48.0
PER_HOUR = 100.0
SWITCH_HOURS = (34.0, 38.0)
"""The new version goes live somewhere between these hours of the story."""
LAST_ARRIVAL = 10 * 60 * SECOND
"""Nobody comes so close to the end of the story, so that the last ones are done by then."""
_RHYTHM = 0.3
"""How much busier than the mean the busiest hour is, and how much quieter the quietest."""
_PEAK_HOUR = 15.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """When what happens; Unix nanoseconds of the simulated time."""

    start_ns: int
    end_ns: int
    switch_ns: int
    """From here on every new conversation has the new version."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happens: a turn begins, a step of it is over, or the turn itself is."""

    at_ns: int
    conversation: Played
    turn: int
    step: ModelCall | ToolRun | None = None
    begins: bool = False
    last: bool = False
    """Whether the conversation is over with it."""


class Story:
    """Everything that happens in the shop for some days, drawn from one source of chance."""

    def __init__(
        self,
        rng: random.Random,
        *,
        end_ns: int,
        regression: Regression | None,
        hours: float = HOURS,
        per_hour: float = PER_HOUR,
        switch_hours: tuple[float, float] = SWITCH_HOURS,
    ) -> None:
        """Plan it.

        Args:
            rng: every draw of the story comes from it.
            end_ns: when the story ends.
            regression: what is wrong with the new version; ``None``: nothing.
            hours: how long it lasts.
            per_hour: mean number of conversations an hour.
            switch_hours: between which hours of the story the new version goes live.
        """
        self._rng = rng
        self._per_hour = per_hour
        self._support = Support(regression=regression)
        start_ns = end_ns - int(hours * HOUR)
        switch_ns = start_ns + int(rng.uniform(*switch_hours) * HOUR)
        self.plan = Plan(start_ns=start_ns, end_ns=end_ns, switch_ns=switch_ns)

    def conversations(self) -> Iterator[Played]:
        """Play the conversations of the story, in the order in which they begin."""
        busiest = self._per_hour * (1 + _RHYTHM)
        at_ns = self.plan.start_ns
        while True:
            at_ns += int(self._rng.expovariate(busiest) * HOUR)
            if at_ns >= self.plan.end_ns - LAST_ARRIVAL:
                return
            if self._rng.random() * (1 + _RHYTHM) < rhythm(at_ns - self.plan.start_ns):
                yield self._serve(at_ns)

    def afterwards(self, *, start_ns: int, every_s: float) -> Iterator[Played]:
        """Go on without end: a conversation every few seconds from a moment on."""
        at_ns = start_ns
        while True:
            at_ns += int(self._rng.expovariate(1 / every_s) * SECOND)
            yield self._serve(at_ns)

    def _serve(self, at_ns: int) -> Played:
        version = BROKEN_VERSION if at_ns >= self.plan.switch_ns else HEALTHY_VERSION
        # Each has its own chance, so that a change to one conversation leaves the others alone.
        own = random.Random(self._rng.getrandbits(64))  # noqa: S311 - repeatable, not secret
        return self._support.serve(own, version=version, start_ns=at_ns)


def rhythm(since_ns: int) -> float:
    """Return how busy an hour of the story is, against a mean of 1; its days begin with it.

    By the hour of the clock the same seed would tell another story at another time.
    """
    hour = since_ns / HOUR % 24
    return 1 + _RHYTHM * math.cos((hour - _PEAK_HOUR) / 24 * 2 * math.pi)


def events(
    conversations: Iterable[Played], *, over: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """Yield what happens in many conversations in the order in which it happens.

    ``conversations`` come in the order in which they begin, and are taken as late as possible.
    When ``over`` says so no new ones are taken, and those under way come to their end.
    """
    waiting: list[tuple[int, int, Event]] = []
    number = 0
    for conversation in conversations:
        while waiting and waiting[0][0] <= conversation.started_ns:
            yield heapq.heappop(waiting)[2]
        if over():
            break
        for event in _events_of(conversation):
            number += 1
            heapq.heappush(waiting, (event.at_ns, number, event))
    while waiting:
        yield heapq.heappop(waiting)[2]


def _events_of(conversation: Played) -> Iterator[Event]:
    final = len(conversation.turns) - 1
    for index, turn in enumerate(conversation.turns):
        yield Event(at_ns=turn.started_ns, conversation=conversation, turn=index, begins=True)
        yield from _steps(conversation, index, turn)
        yield Event(at_ns=turn.ended_ns, conversation=conversation, turn=index, last=index == final)


def _steps(conversation: Played, index: int, turn: Turn) -> Iterator[Event]:
    for step in turn.steps:
        yield Event(at_ns=step.ended_ns, conversation=conversation, turn=index, step=step)
