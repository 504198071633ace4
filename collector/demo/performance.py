"""Play the whole story on a thread of its own, and then go on until told to stop."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable

from opentelemetry.sdk.trace.export import SpanExporter

from collector.demo.dialogue import Played
from collector.demo.mistakes import Regression
from collector.demo.pace import Pace
from collector.demo.sending import LosslessProcessor
from collector.demo.story import HOURS, Event, Story, events
from collector.demo.tracing import Telling, Tracers
from collector.demo.traffic import send
from collector.errors import RetryableError

AFTERWARDS_S = 5.0
"""Mean pause between conversations after the story."""
CLOSING_S = 1.0
"""How long the end waits for spans that are not yet taken; the story's are, when it is over."""
_LOOK_MS = 200


class Performance(threading.Thread):
    """Send a story; what the fields say can be read from any thread."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        seed: int,
        regression: Regression | None,
        lasts_s: float,
        goes_on: bool,
        clock_ns: Callable[[], int],
        hours: float = HOURS,
    ) -> None:
        """Plan it.

        Args:
            exporter: where the spans go.
            seed: every draw follows from it.
            regression: what is wrong with the new version; ``None``: nothing.
            lasts_s: seconds in which the story passes; 0 as fast as it can be sent.
            goes_on: whether conversations come in real time after the story, from ``go_on``.
            clock_ns: present time.
            hours: how long the story is in its own time.
        """
        super().__init__(name="performance", daemon=True)
        rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        end_ns = clock_ns() + int(lasts_s * 1e9)
        self._story = Story(rng, end_ns=end_ns, regression=regression, hours=hours)
        self._speed = hours * 3_600 / lasts_s if lasts_s else 0.0
        self._goes_on = goes_on
        self._clock_ns = clock_ns
        self._ending = threading.Event()
        self._afterwards = threading.Event()
        self._processor = LosslessProcessor(exporter, closing_s=CLOSING_S)
        chance = random.Random(rng.getrandbits(64))  # noqa: S311 - repeatable, not secret
        self._telling = Telling(Tracers(self._processor, chance), chance)
        self.plan = self._story.plan
        self.told = 0
        """Conversations of the story that were sent to their end."""
        self.told_ns = 0
        """Start of the latest of them."""
        self.over = threading.Event()
        """Set when the story is told and everything acknowledged."""
        self.problem = ""
        """Why it ended before its end; empty when it did not."""

    @property
    def spans(self) -> int:
        """Return how many spans were acknowledged."""
        return self._processor.acknowledged

    def run(self) -> None:
        """Send the story, then what comes after it."""
        try:
            if not self._send(self._story.conversations(), self._speed) or not self._flushed():
                return
            self.over.set()
            if self._goes_on:
                self._afterwards.wait()
                later = self._story.afterwards(start_ns=self._clock_ns(), every_s=AFTERWARDS_S)
                self._send(later, 0.0)
        except RetryableError as error:
            if not self._ending.is_set():
                self.problem = str(error)

    def _send(self, conversations: Iterable[Played], speed: float) -> bool:
        pace = Pace(speed=speed, first_ns=self.plan.start_ns, stop=self._ending)
        return send(events(conversations), telling=self._telling, pace=pace, note=self._note)

    def _note(self, event: Event) -> None:
        if event.last and not self.over.is_set():
            self.told += 1
            self.told_ns = max(self.told_ns, event.conversation.started_ns)

    def _flushed(self) -> bool:
        """Wait until everything is acknowledged; false when we are to stop."""
        while not self._processor.force_flush(_LOOK_MS):
            if self._ending.is_set():
                return False
            self._processor.check()
        return True

    def go_on(self) -> None:
        """Let conversations come in real time; until then what was told can be counted."""
        self._afterwards.set()

    def end(self) -> None:
        """Tell it to stop, without waiting."""
        self._ending.set()
        self._afterwards.set()

    def close(self) -> None:
        """Stop, send what is ready, and end the thread."""
        self.end()
        self._processor.shutdown()
        if self.is_alive():
            self.join()
