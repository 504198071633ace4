"""Test the OTLP/gRPC receiver with the OpenTelemetry SDK's own exporters."""

from __future__ import annotations

import random
from collections.abc import Sequence

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

from collector.errors import JournalFullError, RetryableError
from collector.journal_records import Entry
from collector.telemetry import LogRecord, Span
from tests.collector.receivers.desk import Desk
from tests.collector.receivers.grpc_desk import TOKEN, Serving, served


def exporter(serving: Serving, compression: grpc.Compression | None = None) -> OTLPSpanExporter:
    """Make the SDK's exporter of spans for a port."""
    return OTLPSpanExporter(
        endpoint=f"http://{serving.address}",
        insecure=True,
        compression=compression,
        headers={"authorization": f"Bearer {TOKEN}"},
    )


@pytest.mark.parametrize("compression", list(grpc.Compression))
def test_the_sdk_exports(compression: grpc.Compression) -> None:
    """The SDK's exporter is understood with each of its compressions."""
    desk = Desk()
    with served(desk, token=TOKEN) as serving:
        provider = TracerProvider(
            resource=Resource({"service.name": "shop"}), shutdown_on_exit=False
        )
        provider.add_span_processor(SimpleSpanProcessor(exporter(serving, compression)))
        with provider.get_tracer("test").start_as_current_span("chat m") as span:
            span.set_attribute("gen_ai.request.model", "m")
        provider.shutdown()

    (got,) = desk.batches[0].items()
    assert isinstance(got, Span)
    assert (got.name, got.attributes) == ("chat m", {"gen_ai.request.model": "m"})


def test_the_sdk_exports_logs() -> None:
    """The SDK's exporter of log records is understood."""
    desk = Desk()
    with served(desk) as serving:
        provider = LoggerProvider(shutdown_on_exit=False)
        provider.add_log_record_processor(
            SimpleLogRecordProcessor(OTLPLogExporter(serving.address, insecure=True))
        )
        provider.get_logger("test").emit(body="said", event_name="gen_ai.choice")
        provider.shutdown()

    (got,) = desk.batches[0].items()
    assert isinstance(got, LogRecord)
    assert got.event_name == "gen_ai.choice"


class Witness(SpanExporter):
    """Hand spans on, and remember those whose export failed."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self.failed = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export spans."""
        result = self._inner.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.failed += len(spans)
        return result

    def shutdown(self) -> None:
        """Stop."""
        self._inner.shutdown()


def test_nothing_is_lost_under_back_pressure() -> None:
    """An exporter that is told to try again sends everything, and all of it arrives."""
    dice = random.Random(5)  # noqa: S311 - no secret

    async def often_busy(entry: Entry) -> None:
        if dice.random() < 0.4:
            kind = dice.choice([RetryableError, JournalFullError])
            raise kind("busy", retry_after_s=0.01)

    desk = Desk(often_busy)
    with served(desk) as serving:
        witness = Witness(exporter(serving, grpc.Compression.Gzip))
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(
            BatchSpanProcessor(witness, max_export_batch_size=10, schedule_delay_millis=60_000)
        )
        tracer = provider.get_tracer("test")
        for number in range(200):
            tracer.start_span(f"chat {number}").end()
        provider.shutdown()

    names = [span.name for batch in desk.batches for span in batch.spans()]
    assert witness.failed == 0
    assert sorted(names) == sorted(f"chat {number}" for number in range(200))
    assert desk.rejected().keys() == {"unavailable", "journal_full"}
