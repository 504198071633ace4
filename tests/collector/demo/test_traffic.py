"""Test that a story is sent until its end, or until somebody stops it."""

from __future__ import annotations

import random
import threading

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.demo.dialogue import SECOND
from collector.demo.pace import Pace
from collector.demo.story import Event, Story, events
from collector.demo.tracing import Telling, Tracers
from collector.demo.traffic import send


def sent(*, stop_after: int) -> tuple[bool, int, int]:
    """Send an hour; whether it was all, the events that were noted, the spans that were made."""
    rng = random.Random(1)  # noqa: S311 - repeatable, not secret
    story = Story(rng, end_ns=1_000_000_000 * SECOND, regression=None, hours=1.0)
    exporter, stop = InMemorySpanExporter(), threading.Event()
    noted: list[Event] = []

    def note(event: Event) -> None:
        noted.append(event)
        if len(noted) == stop_after:
            stop.set()

    done = send(
        events(story.conversations()),
        telling=Telling(Tracers(SimpleSpanProcessor(exporter), rng), rng),
        pace=Pace(speed=0.0, first_ns=0, stop=stop),
        note=note,
    )
    return done, len(noted), len(exporter.get_finished_spans())


def test_sends_to_the_end() -> None:
    """Every event is told; a span is one, and the beginning of a turn is another."""
    done, noted, spans = sent(stop_after=0)
    assert done
    assert noted > spans > 500


def test_stops_when_told() -> None:
    """Nothing is told after the stop."""
    done, noted, _ = sent(stop_after=10)
    assert not done
    assert noted == 10
