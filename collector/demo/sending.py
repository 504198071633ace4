"""Send spans and lose none: a bounded queue that makes the producer wait, and retries.

The SDK's own batch processor drops what does not fit its queue; a demonstration that counts
conversations may not.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from collector.errors import RetryableError

BATCH = 256
LIMIT = 2_048
LINGER_S = 0.2
"""How long a batch waits for more spans."""
PATIENCE_S = 60.0
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
CLOSING_S = 5.0


def otlp_exporter(url: str) -> OTLPSpanExporter:
    """Build the SDK's exporter for a receiver's base address; proxies are not asked."""
    session = requests.Session()
    session.trust_env = False
    return OTLPSpanExporter(
        endpoint=f"{url.rstrip('/')}/v1/traces",
        timeout=30.0,
        compression=Compression.NoCompression,
        session=session,
    )


class LosslessProcessor(SpanProcessor):
    """Hand every ended span to an exporter, in order, from a thread of its own."""

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        limit: int = LIMIT,
        batch: int = BATCH,
        patience_s: float = PATIENCE_S,
        closing_s: float = CLOSING_S,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the thread.

        Args:
            exporter: told to shut down at the end.
            limit: spans that wait at most; ``on_end`` blocks while so many do.
            batch: spans in a request, at most.
            patience_s: how long one batch is tried before sending ends for good.
            closing_s: how long the shutdown waits for what is not yet taken.
            seconds: monotonic clock.
        """
        self._exporter = exporter
        self._limit = limit
        self._batch = batch
        self._patience_s = patience_s
        self._closing_s = closing_s
        self._seconds = seconds
        self._waiting: deque[ReadableSpan] = deque()
        self._under_way = 0
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._failed = False
        self.acknowledged = 0
        """Spans that the receiver has taken."""
        self._thread = threading.Thread(target=self._run, name="span-sender", daemon=True)
        self._thread.start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing: only whole spans are sent."""

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span; waits while the queue is full.

        Raises:
            RetryableError: the receiver did not take a batch for as long as our patience lasts,
                or the processor is closed.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._waiting) < self._limit or self._failed or self._closing.is_set()
            )
            self.check()
            self._waiting.append(span)
            self._changed.notify_all()

    def check(self) -> None:
        """Raise when nothing is sent any more.

        Raises:
            RetryableError: patience ran out, or the processor is closed.
        """
        if self._failed or self._closing.is_set():
            raise RetryableError("the receiver does not take the spans; is it still running?")

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Wait until everything that was queued is acknowledged; say whether it is."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._failed or not (self._waiting or self._under_way),
                timeout_millis / 1_000,
            )
            return not (self._failed or self._waiting or self._under_way)

    def shutdown(self) -> None:
        """Send what waits, or give up after some seconds, and end."""
        with self._changed:
            self._closing.set()
            self._changed.notify_all()
        self._thread.join(self._closing_s)
        # Ends a retry that is still waiting for its next attempt.
        self._exporter.shutdown()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            sent = self._sent(batch)
            with self._changed:
                self._under_way = 0
                self._failed = not sent
                self.acknowledged += len(batch) if sent else 0
                self._changed.notify_all()
            if not sent:
                return

    def _next(self) -> list[ReadableSpan]:
        """Wait for a batch, full or old enough; empty when we are to stop and nothing is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
            self._changed.wait_for(
                lambda: len(self._waiting) >= self._batch or self._closing.is_set(), LINGER_S
            )
            size = min(self._batch, len(self._waiting))
            self._under_way = size
            found = [self._waiting.popleft() for _ in range(size)]
            self._changed.notify_all()
            return found

    def _sent(self, batch: list[ReadableSpan]) -> bool:
        """Try a batch until it is taken or patience runs out."""
        began, pause = self._seconds(), _FIRST_PAUSE_S
        while self._exporter.export(batch) is not SpanExportResult.SUCCESS:
            patience = self._closing_s if self._closing.is_set() else self._patience_s
            if self._seconds() - began + pause > patience:
                return False
            self._closing.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return True
