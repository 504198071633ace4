"""Test that no span is lost on its way to the receiver."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from collector.demo.sending import LosslessProcessor, otlp_exporter
from collector.demo.tracing import Tracers
from collector.errors import RetryableError
from collector.journal_records import Entry
from tests.collector.receivers.desk import Desk
from tests.collector.receivers.test_otlp_http_exporter import served


class Slow(SpanExporter):
    """Take batches only when let, and note them."""

    def __init__(self, *, failures: int = 0) -> None:
        self.gate = threading.Event()
        self.batches: list[list[str]] = []
        self.failures = failures
        self.closed = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take a batch, or fail some times first."""
        assert self.gate.wait(30)
        if self.failures:
            self.failures -= 1
            return SpanExportResult.FAILURE
        self.batches.append([span.name for span in spans])
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Note that it is over."""
        self.closed = True


def make(processor: LosslessProcessor, count: int, first: int = 0) -> None:
    """End some spans."""
    tracer = Tracers(processor, random.Random(1))("1")  # noqa: S311 - repeatable, not secret
    for number in range(first, first + count):
        tracer.start_span(f"{number}").end()


def test_sends_everything_in_order() -> None:
    """What was ended before the shutdown arrives, once and in order."""
    exporter = Slow()
    exporter.gate.set()
    processor = LosslessProcessor(exporter, batch=7)
    make(processor, 100)
    assert processor.force_flush()
    make(processor, 10, 100)
    processor.shutdown()
    sent = [name for batch in exporter.batches for name in batch]
    assert sent == [f"{n}" for n in range(110)]
    assert max(map(len, exporter.batches)) <= 7
    assert processor.acknowledged == 110
    assert exporter.closed


def test_a_full_queue_makes_the_producer_wait() -> None:
    """Nothing is dropped: the producer goes on when there is room."""
    exporter = Slow()
    processor = LosslessProcessor(exporter, limit=5, batch=5)
    producer = threading.Thread(target=make, args=(processor, 50))
    producer.start()
    producer.join(0.3)
    assert producer.is_alive()
    assert not processor.force_flush(10)
    exporter.gate.set()
    producer.join(30)
    assert not producer.is_alive()
    processor.shutdown()
    assert processor.acknowledged == 50


def test_tries_again() -> None:
    """A batch that was not taken is sent again, before any later one."""
    exporter = Slow(failures=3)
    exporter.gate.set()
    processor = LosslessProcessor(exporter, batch=2)
    make(processor, 4)
    assert processor.force_flush()
    processor.shutdown()
    assert exporter.batches == [["0", "1"], ["2", "3"]]


def test_gives_up_in_the_end() -> None:
    """When patience runs out the producer is told, and the processor still closes."""
    exporter = Slow(failures=1_000)
    exporter.gate.set()
    processor = LosslessProcessor(exporter, limit=2, batch=1, patience_s=0.0)
    with pytest.raises(RetryableError, match="does not take the spans"):
        make(processor, 10)
    assert not processor.force_flush()
    processor.shutdown()
    assert processor.acknowledged == 0


def test_a_receiver_that_is_away() -> None:
    """Refused connections are tried again until the shutdown, which does not wait for long."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        away = LosslessProcessor(otlp_exporter(url), closing_s=0.1)
        make(away, 1)
        assert not away.force_flush(500)
        away.shutdown()
    assert away.acknowledged == 0


def test_a_receiver_that_is_busy() -> None:
    """Answers of 503 are outlasted."""
    faults = [RetryableError("busy", retry_after_s=0.0) for _ in range(2)]

    async def busy(entry: Entry) -> None:
        if faults:
            raise faults.pop()

    desk = Desk(busy)
    with served(desk) as port:
        processor = LosslessProcessor(otlp_exporter(f"http://127.0.0.1:{port}/"), batch=10)
        make(processor, 30)
        assert processor.force_flush()
        processor.shutdown()
    names = [span.name for batch in desk.batches for span in batch.spans()]
    assert names == [f"{n}" for n in range(30)]
