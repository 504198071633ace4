"""Emit each verdict as OpenTelemetry's vendor-neutral ``gen_ai.evaluation.result`` event.

Semantic conventions for generative AI, events: ``gen_ai.evaluation.name`` is the scorer,
``score.value`` its value, ``score.label`` its verdict, ``explanation`` its reason; the record
stands on the scored span's context. A skip says nothing and is not emitted.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
from opentelemetry.util.types import AnyValue

from collector.model import ScoreRecord

EVENT_NAME = "gen_ai.evaluation.result"
OWN_SERVICE = "outrider"
"""``service.name`` of what we emit, by which the receiver knows its own telemetry."""

QUEUE_SIZE = 8_192
BATCH_SIZE = 512
TIMEOUT_S = 10.0
"""Longest one batch is tried."""


class Export(Protocol):
    """What is needed of an exporter of the OpenTelemetry SDK."""

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Send a batch; may block and retry."""

    def shutdown(self) -> None:
        """Give up what is being retried."""


def otlp_exporter(endpoint: str, *, timeout_s: float = TIMEOUT_S) -> Export:
    """Build the exporter to an OTLP/HTTP base URL; nothing is contacted yet.

    The standard ``OTEL_EXPORTER_OTLP_HEADERS`` and certificate variables apply.
    """
    return OTLPLogExporter(
        endpoint=endpoint.rstrip("/") + "/v1/logs", timeout=timeout_s, compression=Compression.Gzip
    )


class EvaluationEvents:
    """Send events from a thread of its own; whoever emits never waits.

    Args:
        exporter: where batches go.
        version: our release.
        count: raises a counter.
        clock_ns: present time.
        queue_size: events that wait at most; more are dropped and counted.
    """

    def __init__(
        self,
        exporter: Export,
        *,
        version: str,
        count: Callable[[str, float, dict[str, str]], None],
        clock_ns: Callable[[], int],
        queue_size: int = QUEUE_SIZE,
    ) -> None:
        self._exporter = exporter
        self._count = count
        self._clock_ns = clock_ns
        self._queue_size = queue_size
        self._resource = Resource({"service.name": OWN_SERVICE, "service.version": version})
        self._scope = InstrumentationScope("outrider.scorers", version)
        self._waiting: deque[ScoreRecord] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="evaluation-events", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def emit(self, scores: Sequence[ScoreRecord]) -> None:
        """Queue verdicts; never blocks, and what does not fit is dropped and counted."""
        said = [score for score in scores if score.verdict != "skip"]
        with self._changed:
            room = 0 if self._stopping else max(0, self._queue_size - len(self._waiting))
            self._waiting.extend(said[:room])
            self._changed.notify()
        self._counted("dropped", len(said) - min(room, len(said)))

    def close(self, timeout_s: float = TIMEOUT_S) -> None:
        """Send what waits, for so long at most; the rest is dropped and counted."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        with self._changed:
            left = len(self._waiting)
            self._waiting.clear()
        # Ends a retry that is still waiting for its next attempt.
        self._exporter.shutdown()
        self._counted("dropped", left)

    def run(self, stop: threading.Event) -> None:
        """Send until told to stop."""
        self.start()
        stop.wait()
        self.close()

    def _run(self) -> None:
        while batch := self._next():
            records = [self._record(score) for score in batch]
            try:
                sent = self._exporter.export(records) is LogRecordExportResult.SUCCESS
            except Exception:  # noqa: BLE001  # whatever an exporter raises costs one batch, counted
                sent = False
            self._counted("sent" if sent else "failed", len(batch))

    def _next(self) -> list[ScoreRecord]:
        """Wait for verdicts and take a batch; empty when stopped and nothing is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            size = min(BATCH_SIZE, len(self._waiting))
            return [self._waiting.popleft() for _ in range(size)]

    def _counted(self, result: str, amount: int) -> None:
        if amount:
            self._count("evaluation_events_total", float(amount), {"result": result})

    def _record(self, score: ScoreRecord) -> ReadableLogRecord:
        attributes: dict[str, AnyValue] = {
            "gen_ai.evaluation.name": score.scorer,
            "gen_ai.evaluation.score.label": score.verdict,
            "gen_ai.evaluation.explanation": score.reason,
            "gen_ai.conversation.id": score.conversation_id,
            "outrider.score.id": score.score_id,
            "outrider.score.level": score.level,
            "outrider.score.target": score.target,
            "outrider.score.revision": score.revision,
            "outrider.scorer.version": score.scorer_version,
            "outrider.episode": score.episode,
        }
        if score.value is not None:
            attributes["gen_ai.evaluation.score.value"] = float(score.value)
        if score.verdict == "failure":
            del attributes["gen_ai.evaluation.score.label"]
            attributes["error.type"] = score.reason.partition(":")[0]
        record = LogRecord(
            timestamp=score.scored_ns,
            observed_timestamp=self._clock_ns(),
            context=set_span_in_context(NonRecordingSpan(_context(score))),
            severity_number=SeverityNumber.INFO,
            severity_text="INFO",
            attributes=attributes,
            event_name=EVENT_NAME,
        )
        return ReadableLogRecord(
            log_record=record, resource=self._resource, instrumentation_scope=self._scope
        )


def _context(score: ScoreRecord) -> SpanContext:
    """Return the scored span's context: the one its evidence names, else the trace alone."""
    span_id = next((item.span_id for item in score.evidence if item.span_id), "")
    return SpanContext(
        trace_id=int(score.trace_id or "0", 16),
        span_id=int(span_id or "0", 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
