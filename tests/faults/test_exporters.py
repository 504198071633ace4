"""The OpenTelemetry SDK's exporters lose nothing while an instance has no room."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util.types import AnyValue

from collector.errors import JournalFullError
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.served import Served, free_ports, summed
from tests.faults.books import stored

SPANS = 120
BATCH = 5
PATIENCE_S = 60.0
"""How long the exporters are allowed to try; they are told how soon to come back."""


def runs(service: str) -> list[ReadableSpan]:
    """Make the spans of short conversations, each of which is over."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": service}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    for number in range(SPANS):
        about: dict[str, AnyValue] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": f"{service}-{number}",
            "gen_ai.input.messages": "x" * 1_000,
            "outrider.conversation.end": True,
        }
        tracer.start_span(f"invoke_agent {service}", attributes=about).end()
    provider.shutdown()
    return list(memory.get_finished_spans())


class Exporting(threading.Thread):
    """Export in batches, one after the other, and note what the exporter gave up."""

    def __init__(self, exporter: SpanExporter, spans: Sequence[ReadableSpan]) -> None:
        super().__init__(daemon=True)
        self._exporter = exporter
        self._spans = spans
        self.failed = 0

    def run(self) -> None:
        """Export everything."""
        for start in range(0, len(self._spans), BATCH):
            batch = self._spans[start : start + BATCH]
            if self._exporter.export(batch) is not SpanExportResult.SUCCESS:
                self.failed += len(batch)
        self._exporter.shutdown()


@pytest.mark.faults
def test_nothing_is_lost_across_a_full_journal(tmp_path: Path, endpoint: Endpoint) -> None:
    """The journal holds a fifth of what comes, and both exporters are told to wait again and again; all arrives once."""
    address = f"127.0.0.1:{free_ports(1)[0]}"
    settings = {
        "RECEIVE__GRPC": address,
        "STORE__URL": endpoint.url,
        "STORE__DATABASE": "exporters",
        "JOURNAL__MAX_SIZE": "64KiB",
        "ASSEMBLE__LATE_WINDOW": "1s",
    }
    with Served(tmp_path / "data", **settings) as served:
        url = f"{served.receive}/v1/traces"
        http = HttpExporter(endpoint=url, timeout=PATIENCE_S)
        grpc = GrpcExporter(endpoint=f"http://{address}", insecure=True, timeout=PATIENCE_S)
        threads = [
            Exporting(http, runs("over-http")),
            Exporting(grpc, runs("over-grpc")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE_S)
            assert not thread.is_alive()
            assert thread.failed == 0
        series = served.settled(2 * SPANS)
        for receiver in ("otlp_http", "otlp_grpc"):
            turned_away = summed(
                series, "requests_rejected_total", receiver=receiver, reason="journal_full"
            )
            assert turned_away > 1
        assert series["stage_items_total", (("result", "new"), ("stage", "assemble"))] == 2 * SPANS
        served.signal()
        assert served.ended() == 0
        spans = stored(served)["otel_traces"]
    assert set(spans.values()) == {1}
    services = Counter("http" if "over-http" in span else "grpc" for span in spans)
    assert services == {"http": SPANS, "grpc": SPANS}


def test_a_sender_is_told_to_use_all_the_time_it_has() -> None:
    """The SDKs' exporters make six attempts and give up after ten seconds: both are used up together."""
    waits = JournalFullError("full").retry_after_s
    assert 5 * waits <= 10 < 6 * waits
