"""Send captured calls to another backend too, with the OpenTelemetry SDK, beside everything else.

Whoever offers a call never waits. What leaves goes through the redactor first, and carries a scope
of its own, so that a collector which hands it back to us does not make it a second call.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

import msgspec
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.util.types import Attributes

from collector.config import ProxyExportConfig
from collector.own_telemetry import EXPORT_SCOPE
from collector.redactor import Redactor
from collector.telemetry import Span

WAITING = 2_048
"""Spans that wait to be sent; more are dropped."""
WAITING_BYTES = 64 * 1024 * 1024
"""Bytes of theirs."""
AT_ONCE = 64
DELAY_MS = 1_000
REQUEST_BYTES = 2 * 1024 * 1024
"""A request holds no more, unless one span does: receivers refuse large ones as a whole."""
CLOSE_S = 5.0
"""How long a stop goes on sending."""
CONTENT = (
    "gen_ai.system_instructions",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.definitions",
)
_IDS = ("gen_ai.conversation.id", "outrider.pair.id")
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
Count = Callable[[str, float, dict[str, str]], None]


class Outgoing(ReadableSpan):
    """Carry a call through the SDK's queue as it was captured."""

    def __init__(self, span: Span, size: int) -> None:
        context = SpanContext(
            int(span.trace_id, 16), int(span.span_id, 16), is_remote=False, trace_flags=_SAMPLED
        )
        super().__init__(span.name, context=context, resource=Resource.get_empty())
        self.span = span
        self.size = size
        """Bytes, as captured."""


class Gate(SpanExporter):
    """Let out what may leave, in requests that are not too large, and count them."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        allow: Callable[[Span], Span],
        version: str,
        count: Count,
        left: Callable[[int, int], None],
    ) -> None:
        """Take what is behind the gate.

        Args:
            exporter: Sends what passed; may block and try again.
            allow: Returns what may leave of a call.
            version: Our release.
            count: Raises a counter.
            left: Told of spans, and their bytes, that wait no more.
        """
        self._exporter = exporter
        self._allow = allow
        self._scope = InstrumentationScope(EXPORT_SCOPE, version)
        self._count = count
        self._left = left
        self._shut = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; the failure of one request costs the others nothing."""
        result = SpanExportResult.SUCCESS
        for request in _requests(cast("Sequence[Outgoing]", spans)):
            try:
                passed = [self._readable(outgoing.span) for outgoing in request]
                sent = self._exporter.export(passed) is SpanExportResult.SUCCESS
            except Exception:  # noqa: BLE001 - whatever an exporter raises costs one request
                sent = False
            self._left(len(request), sum(outgoing.size for outgoing in request))
            said = {"result": "sent" if sent else "failed"}
            self._count("proxy_export_total", float(len(request)), said)
            if not sent:
                result = SpanExportResult.FAILURE
        return result

    def shutdown(self) -> None:
        """Give up what is being tried again."""
        if not self._shut.is_set():
            self._shut.set()
            self._exporter.shutdown()

    def _readable(self, span: Span) -> ReadableSpan:
        allowed = self._allow(span)
        trace_id = int(allowed.trace_id, 16)
        parent = None
        if allowed.parent_id:
            parent = SpanContext(trace_id, int(allowed.parent_id, 16), is_remote=True)
        return ReadableSpan(
            allowed.name,
            context=SpanContext(
                trace_id, int(allowed.span_id, 16), is_remote=False, trace_flags=_SAMPLED
            ),
            parent=parent,
            resource=Resource(cast("dict[str, str]", allowed.resource)),
            attributes=cast("Attributes", allowed.attributes),
            kind=SpanKind.CLIENT,
            status=Status(StatusCode(allowed.status_code), allowed.status_message or None),
            start_time=allowed.start_ns,
            end_time=allowed.end_ns,
            instrumentation_scope=self._scope,
        )


class SpanExport:
    """Keep calls until the SDK's processor has sent them, within bounds.

    Args:
        exporter: Where they go.
        allow: Returns what may leave of a call.
        version: Our release.
        count: Raises a counter.
        waiting: Spans that wait at most.
        waiting_bytes: Bytes of theirs.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        allow: Callable[[Span], Span],
        version: str,
        count: Count,
        waiting: int = WAITING,
        waiting_bytes: int = WAITING_BYTES,
    ) -> None:
        self._count = count
        self._room = waiting
        self._bytes = waiting_bytes
        self._lock = threading.Lock()
        self._gate = Gate(exporter, allow=allow, version=version, count=count, left=self._leave)
        # Its own bound drops without telling; ours is met before.
        self._processor = BatchSpanProcessor(
            self._gate,
            max_queue_size=waiting,
            schedule_delay_millis=DELAY_MS,
            max_export_batch_size=min(AT_ONCE, waiting),
        )

    def offer(self, spans: Iterable[Span], size: int) -> None:
        """Let calls wait to be sent; never blocks, and what does not fit is dropped and counted.

        Args:
            spans: The calls of one request.
            size: Bytes of that request.
        """
        for span in spans:
            with self._lock:
                fits = self._room > 0 and self._bytes >= size
                if fits:
                    self._room -= 1
                    self._bytes -= size
            if fits:
                self._processor.on_end(Outgoing(span, size))
            else:
                self._count("proxy_export_total", 1.0, {"result": "dropped"})

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Send what waits, for so long at most."""
        # Ends what is tried again; what is left then fails at once.
        giving_up = threading.Timer(timeout_s, self._gate.shutdown)
        giving_up.start()
        self._processor.shutdown()  # type: ignore[no-untyped-call]  # as the SDK has it
        giving_up.cancel()

    def _leave(self, spans: int, size: int) -> None:
        with self._lock:
            self._room += spans
            self._bytes += size


def what_may_leave(wanted: ProxyExportConfig, redactor: Redactor) -> Callable[[Span], Span]:
    """Return what makes of a captured call the one that the user lets out."""

    def allow(span: Span) -> Span:
        if not wanted.content:
            kept = {key: value for key, value in span.attributes.items() if key not in CONTENT}
            span = msgspec.structs.replace(span, attributes=kept)
        if not wanted.redact:
            return span
        clean = redactor.span(span)
        # Two conversations stay two, which they would not as two times `[email]`.
        ids = {
            key: redactor.id(value)
            for key in _IDS
            if isinstance(value := span.attributes.get(key), str)
        }
        return msgspec.structs.replace(clean, attributes={**clean.attributes, **ids})

    return allow


def otlp_exporter(wanted: ProxyExportConfig) -> SpanExporter:
    """Build the exporter; nothing is contacted yet.

    The standard ``OTEL_EXPORTER_OTLP_CERTIFICATE`` variables apply.
    """
    if wanted.protocol == "grpc":
        # Its core writes to standard error, without end.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        import grpc  # noqa: PLC0415 - only where it is spoken
        from opentelemetry.exporter.otlp.proto.grpc import trace_exporter  # noqa: PLC0415

        return trace_exporter.OTLPSpanExporter(
            endpoint=wanted.endpoint,
            headers={name.lower(): value for name, value in wanted.headers.items()},
            timeout=wanted.timeout,
            compression=grpc.Compression.Gzip,
        )
    from opentelemetry.exporter.otlp.proto import http  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )

    return OTLPSpanExporter(
        endpoint=wanted.endpoint.rstrip("/") + "/v1/traces",
        headers=wanted.headers,
        timeout=wanted.timeout,
        compression=http.Compression.Gzip,
    )


def _requests(spans: Sequence[Outgoing]) -> Iterator[list[Outgoing]]:
    """Part a batch."""
    request: list[Outgoing] = []
    size = 0
    for span in spans:
        if request and size + span.size > REQUEST_BYTES:
            yield request
            request, size = [], 0
        request.append(span)
        size += span.size
    if request:
        yield request
