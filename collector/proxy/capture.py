"""Read the copies of calls beside the proxy, and write each to the journal as a span.

One thread. It may be behind, stuck or dead: calls do not wait for it, and what it cannot take is
counted under ``proxy_capture_dropped_total``.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

import msgspec

from collector import loose_json, telemetry
from collector.errors import (
    JournalFullError,
    MalformedError,
    OversizedError,
    RetryableError,
    UnsupportedError,
)
from collector.journal_records import Entry
from collector.otlp import Batch, parse
from collector.proxy import (
    anthropic_messages,
    anthropic_stream,
    openai_chat,
    openai_chat_stream,
    openai_responses,
    openai_responses_stream,
)
from collector.proxy.body import body_of
from collector.proxy.call_span import request_of
from collector.proxy.exchange import Exchange, Json, Reply, error_kind
from collector.proxy.recorder import Ending, Recorded
from collector.proxy.sse import events
from collector.proxy.upstream import Api

RECEIVER = "proxy"
Keep = Callable[[Entry, Batch], "Future[None]"]
"""Makes a request durable and hands it on, like a receiver's; raises as the journal does."""
Export = Callable[[Sequence[telemetry.Span], int], None]
"""Takes calls, and their bytes, for another backend; never blocks."""
_READERS: dict[Api, tuple[Callable[[Json, Reply], Exchange], Callable[..., Reply]]] = {
    "messages": (anthropic_messages.exchange, anthropic_stream.reply),
    "chat_completions": (openai_chat.exchange, openai_chat_stream.reply),
    "responses": (openai_responses.exchange, openai_responses_stream.reply),
}
_STREAMS = (b"data:", b"event:", b": ")
"""How a stream of events begins, and no JSON does."""
_WAIT_S = 0.2
_UNWRITTEN = 256
"""Calls given to the journal and not yet durable, after which we wait for the oldest."""
_WRITE_S = 30.0
_LOG = logging.getLogger(__name__)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One call, ready for the journal."""

    body: bytes
    """An OTLP ``ExportTraceServiceRequest``."""
    credential: str
    tenant: str = ""
    unread: int = 0
    """Events of its stream that were no JSON."""


class Source(Protocol):
    """Where copies come from."""

    def take(self, timeout_s: float) -> Recorded | None:
        """Wait for a call that is over."""

    def done(self, recorded: Recorded) -> None:
        """Learn that a call has been read."""

    def dropped(self, reason: str) -> None:
        """Count a call that will not be captured."""

    def unread(self, api: str, events: int) -> None:
        """Count events of a captured stream that nobody could read."""


class SpanWriter:
    """Turn a copy into a span."""

    def __init__(
        self, *, limit: int, version: str, secret: bytes, random_bytes: Callable[[int], bytes]
    ) -> None:
        """Take the largest decompressed body in bytes, and what a span needs."""
        self._limit = limit
        self._version = version
        self._secret = secret
        self._random_bytes = random_bytes

    def __call__(self, recorded: Recorded) -> Span:
        """Write the span of a call.

        Raises:
            MalformedError: A body is not what its headers say.
            OversizedError: A body is larger than the limit, decompressed.
            UnsupportedError: A body is encoded in a way we do not know.
        """
        about = recorded.about
        raw, _ = body_of(
            recorded.request, chunked=about.chunked, encoding=about.encoding, limit=self._limit
        )
        request = _json(raw)
        exchange_of, reply_of = _READERS[about.api]
        reply = self._reply(recorded, reply_of)
        failed = recorded.status >= 400
        exchange = exchange_of(request, Reply(whole=reply.whole) if failed else reply)
        aborted = _aborted(recorded, reply)
        error = exchange.error
        if failed:
            error = error_kind(reply.body, recorded.status)
        elif aborted and not error:
            error = "cancelled" if aborted == "client" else "aborted"
        made = request_of(
            recorded,
            exchange,
            error=error,
            aborted=aborted,
            version=self._version,
            secret=self._secret,
            random_bytes=self._random_bytes,
        )
        return Span(
            body=made.SerializeToString(),
            credential=about.credential,
            tenant=about.tenant,
            unread=reply.unread,
        )

    def _reply(self, recorded: Recorded, reply_of: Callable[..., Reply]) -> Reply:
        if not recorded.response:
            return Reply(whole=recorded.ending == "complete")
        raw, whole = body_of(
            recorded.response,
            chunked=recorded.response_chunked,
            encoding=recorded.response_encoding,
            limit=self._limit,
        )
        # Some gateways forget to say that they stream.
        if recorded.response_type.startswith("text/event-stream") or raw.startswith(_STREAMS):
            return reply_of(events(raw))
        try:
            return Reply(body=_json(raw), whole=whole)
        except MalformedError:
            # Half an answer, or a gateway's page: there was a call all the same.
            return Reply(whole=whole)


class Capture:
    """Read copies until told to stop."""

    def __init__(
        self,
        source: Source,
        *,
        write: Callable[[Recorded], Span],
        keep: Keep,
        export: Export | None = None,
    ) -> None:
        """Take where copies come from, what makes spans of them, and where spans go."""
        self._source = source
        self._export = export
        self._write = write
        self._keep = keep
        self._unwritten: deque[Future[None]] = deque()

    def run(self, stop: threading.Event) -> None:
        """Read what comes; after the stop, what is there."""
        while True:
            recorded = self._source.take(0.0 if stop.is_set() else _WAIT_S)
            if recorded is not None:
                self._read(recorded)
            elif stop.is_set():
                break
        while self._unwritten:
            self._await_oldest()

    def _read(self, recorded: Recorded) -> None:
        reason = ""
        try:
            self._capture(recorded)
        except UnsupportedError:
            reason = "unknown_encoding"
        except OversizedError:
            reason = "too_large"
        except MalformedError:
            reason = "unreadable"
        except JournalFullError:
            reason = "journal_full"
        except RetryableError:
            reason = "journal_unavailable"
        except Exception as error:  # noqa: BLE001 - a bug of ours on one call, which is counted
            _LOG.error("a call could not be captured: %s", type(error).__name__)
            reason = "error"
        finally:
            self._source.done(recorded)
        if reason:
            self._source.dropped(reason)

    def _capture(self, recorded: Recorded) -> None:
        span = self._write(recorded)
        batch = parse("traces", "proto", span.body)
        if not batch.accepted:
            raise MalformedError(batch.reject_reason)
        if self._export is not None:
            self._export(batch.spans(), len(span.body))
        if span.unread:
            self._source.unread(recorded.about.api, span.unread)
        entry = Entry(
            received_ns=recorded.ended_ns,
            receiver=RECEIVER,
            signal="traces",
            encoding="proto",
            tenant=span.tenant,
            credential=span.credential,
            items=batch.accepted,
            body=span.body,
        )
        self._unwritten.append(self._keep(entry, batch))
        while self._unwritten and (self._unwritten[0].done() or len(self._unwritten) > _UNWRITTEN):
            self._await_oldest()

    def _await_oldest(self) -> None:
        try:
            self._unwritten.popleft().result(_WRITE_S)
        except Exception:  # noqa: BLE001 - the disk refused, or takes for ever
            self._source.dropped("journal_unavailable")


def _json(raw: bytes) -> Json:
    try:
        return loose_json.whole(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedError("a body is not JSON") from error


def _aborted(recorded: Recorded, reply: Reply) -> Ending | None:
    """Say who left: a stream may end early without its connection saying so."""
    if recorded.ending != "complete":
        return None if reply.whole and recorded.response else recorded.ending
    if recorded.status < 400 and not reply.whole and not reply.error:
        return "upstream"
    return None
