"""Test the OTLP/HTTP receiver on a real socket, with the OpenTelemetry SDK's own exporter."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from collector.errors import RetryableError
from collector.journal_records import Entry
from collector.telemetry import Span
from tests.collector.receivers.desk import TWO, Desk


class QuietServer(uvicorn.Server):
    """Say when it has started, and leave signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start and tell."""
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def served(desk: Desk) -> Iterator[int]:
    """Serve the receiver on a free port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = QuietServer(uvicorn.Config(desk.app(), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    assert server.ready.wait(timeout=30)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listening.close()


def export_one(port: int, compression: Compression) -> None:
    """Make one span with the SDK and export it."""
    exporter = OTLPSpanExporter(
        endpoint=f"http://127.0.0.1:{port}/v1/traces", compression=compression
    )
    provider = TracerProvider(resource=Resource({"service.name": "shop"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("test").start_as_current_span("chat m") as span:
        span.set_attribute("gen_ai.request.model", "m")
    provider.shutdown()


@pytest.mark.parametrize("compression", list(Compression))
def test_the_sdk_exports(compression: Compression) -> None:
    """The SDK's exporter is understood with each of its compressions."""
    desk = Desk()
    with served(desk) as port:
        export_one(port, compression)

    (span,) = desk.batches[0].items()
    assert isinstance(span, Span)
    assert span.name == "chat m"
    assert span.attributes == {"gen_ai.request.model": "m"}


def test_the_sdk_tries_again() -> None:
    """The SDK's exporter sends again what got 503, so nothing is lost."""
    faults = [RetryableError("busy", retry_after_s=0.0)]

    async def busy_once(entry: Entry) -> None:
        if faults:
            raise faults.pop()

    desk = Desk(busy_once)
    with served(desk) as port:
        export_one(port, Compression.NoCompression)

    assert desk.rejected() == {"unavailable": 1}
    assert len(desk.entries) == 1


def test_a_broken_upload() -> None:
    """A connection that breaks in the middle of a body is counted, and the next one is served."""
    desk = Desk()
    with served(desk) as port:
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(
                b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n"
                b"Content-Type: application/x-protobuf\r\n\r\n" + TWO
            )
        export_one(port, Compression.Gzip)

    assert desk.rejected() == {"disconnected": 1}
    assert len(desk.entries) == 1
