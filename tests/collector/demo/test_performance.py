"""Test that a whole story is sent, and that it can be ended in the middle."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from collector.demo.mistakes import Regression
from collector.demo.performance import Performance


class Receiver(SpanExporter):
    """Take everything once it is open, or nothing."""

    def __init__(self, *, opened: bool = True) -> None:
        self.opened = threading.Event()
        self.spans: list[ReadableSpan] = []
        if opened:
            self.opened.set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take spans."""
        if not self.opened.is_set():
            return SpanExportResult.FAILURE
        self.spans.extend(spans)
        return SpanExportResult.SUCCESS


def performance(receiver: Receiver, *, seed: int = 1, **more: Any) -> Performance:
    """Plan an hour."""
    settings: dict[str, Any] = {"lasts_s": 0.0, "goes_on": False, **more}
    return Performance(
        receiver,
        seed=seed,
        regression=Regression(),
        clock_ns=time.time_ns,
        hours=1.0,
        **settings,
    )


def test_sends_the_story() -> None:
    """Everything is acknowledged when it is over, and the conversations are counted."""
    receiver = Receiver()
    playing = performance(receiver)
    playing.start()
    assert playing.over.wait(60)
    playing.close()
    assert not playing.problem
    assert playing.spans == len(receiver.spans)
    ends = Counter((s.attributes or {}).get("outrider.conversation.end") for s in receiver.spans)
    assert playing.told == ends[True] > 30
    assert playing.plan.start_ns < playing.told_ns < playing.plan.end_ns


def test_the_seed_decides() -> None:
    """The same seed sends the same spans."""
    sent = []
    for _ in range(2):
        receiver = Receiver()
        playing = performance(receiver, seed=5)
        playing.start()
        assert playing.over.wait(60)
        playing.close()
        sent.append([span.context for span in receiver.spans])
    assert sent[0] == sent[1]


def test_goes_on() -> None:
    """Once it may go on, conversations come that do not belong to the story's count."""
    receiver = Receiver()
    playing = performance(receiver, goes_on=True)
    playing.start()
    assert playing.over.wait(60)
    before, spans = playing.told, len(receiver.spans)
    assert playing.is_alive()
    assert playing.spans == spans
    playing.go_on()
    while len(receiver.spans) == spans:
        time.sleep(0.05)
    playing.close()
    assert playing.told == before
    assert not playing.is_alive()


def test_ends_in_the_middle() -> None:
    """Whatever it waits for: its pace, or a receiver that takes nothing."""
    for receiver in (Receiver(), Receiver(opened=False)):
        playing = performance(receiver, lasts_s=600.0 if receiver.opened.is_set() else 0.0)
        playing.start()
        assert not playing.over.wait(0.3)
        playing.close()
        assert not playing.is_alive()
        assert not playing.over.is_set()
        assert not playing.problem


def test_closing_what_never_began() -> None:
    """Nothing hangs."""
    playing = performance(Receiver())
    playing.close()
    assert playing.spans == 0
