"""Receive OTLP over HTTP, by the OTLP specification 1.11 ("OTLP/HTTP").

A request is answered with success only after ``accept`` returned, that is after it is durable.
What can pass by itself (a full journal, a busy disk, a bug of ours) is answered with 503, since a
sender drops its batch on any other failure.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import anyio
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from collector.address import parse_address
from collector.callers import programs
from collector.config import ReceiveConfig
from collector.errors import RetryableError, UnsupportedError
from collector.journal_records import Entry
from collector.otlp import Batch, Encoding, Signal, failure, parse, response
from collector.receivers.bearer import credential_hash
from collector.receivers.compression import check_encoding, inflate
from collector.receivers.intake import Allowance, Intake, read_body
from collector.receivers.refusals import (
    FORBIDDEN,
    INTERNAL,
    UNAUTHENTICATED,
    WRONG_METHOD,
    Refusal,
    refusal_of,
)

RECEIVER = "otlp_http"
CROWDED = {"receiver": RECEIVER, "reason": "too_many_connections"}
"""Labels under which a connection is counted that was closed before it could ask."""

CONTENT_TYPES: dict[str, Encoding] = {
    "application/x-protobuf": "proto",
    "application/json": "json",
}
MEDIA_TYPES = {encoding: media for media, encoding in CONTENT_TYPES.items()}

HEAVY_BYTES = 256 * 1024
"""Bodies from here on are parsed beside the event loop."""

HEAVY_COMPRESSED_BYTES = 8 * 1024
"""Compressed ones already from here on, for they may grow a thousandfold."""

HEAVY_AT_ONCE = 2
"""Heavy bodies worked on at a time; it bounds what may be decompressed and not yet counted."""

Accept = Callable[[Entry, Batch], Awaitable[None]]
"""Makes a request durable and hands it on; returns once it may be acknowledged."""

Made = TypeVar("Made")


class Count(Protocol):
    """Raise a counter."""

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class _Endpoint:
    """Answer one path for any method."""

    def __init__(self, signal: Signal | None, receiver: _Receiver) -> None:
        self._signal = signal
        """``None`` for metrics, which are answered and dropped."""
        self._receiver = receiver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request as an ASGI application."""
        answer = await self._receiver.answer(self._signal, Request(scope, receive))
        await answer(scope, receive, send)


class _Receiver:
    """Take requests in: check, read, parse, hand on, answer, and count what is turned away."""

    def __init__(
        self,
        *,
        accept: Accept,
        count: Count,
        limits: ReceiveConfig,
        token: str,
        clock_ns: Callable[[], int],
        log: logging.Logger,
    ) -> None:
        self._accept = accept
        self._count = count
        self._limits = limits
        self._callers = programs(host=parse_address(limits.http).host, token=token)
        self._clock_ns = clock_ns
        self._log = log
        self._intake = Intake(limits.max_in_flight)
        self._heavy = anyio.CapacityLimiter(HEAVY_AT_ONCE)
        self._known: set[str] = set()
        """Unexpected errors already in the log, by class."""

    async def answer(self, signal: Signal | None, request: Request) -> Response:
        """Answer one request; never raises for what a sender or the disk can do."""
        encoding = _encoding(request)
        if request.method != "POST":
            return self._refuse(encoding, WRONG_METHOD, "use POST")
        stranger = self._callers.refusal_of(request)
        if stranger is not None:
            shows_none = stranger.status == UNAUTHENTICATED.status
            why = UNAUTHENTICATED if shows_none else FORBIDDEN
            return self._refuse(encoding, why, stranger.message)
        try:
            with self._intake.allowance() as allowance:
                return await self._take(signal, encoding, request, allowance)
        except Exception as error:  # noqa: BLE001  # a bug of ours must not make the sender drop its batch
            refusal = refusal_of(error)
            if refusal is None:
                return self._refuse(encoding, INTERNAL, self._unforeseen(error))
            headers = refusal.headers
            if isinstance(error, RetryableError):
                headers = {"retry-after": str(max(1, math.ceil(error.retry_after_s)))}
            return self._refuse(encoding, refusal, str(error), headers)

    async def _take(
        self, signal: Signal | None, encoding: Encoding | None, request: Request, hold: Allowance
    ) -> Response:
        if encoding is None:
            shown = request.headers.get("content-type", "")[:60]
            raise UnsupportedError(
                f"Content-Type {shown!r} is not supported; send {' or '.join(CONTENT_TYPES)}"
            )
        compression = check_encoding(request.headers.get("content-encoding", ""))
        raw = await read_body(request, limit=self._limits.max_body, allowance=hold)
        if signal is None:
            self._reject("metrics_not_stored")
            return _success(encoding, b"{}" if encoding == "json" else b"")
        if not raw:
            return _success(encoding, response(signal, encoding, rejected=0, message=""))
        body, batch = await self._parse(signal, encoding, raw, compression)
        if body is not raw:
            hold.take(len(body))
        if batch.accepted:
            entry = Entry(
                received_ns=self._clock_ns(),
                receiver=RECEIVER,
                signal=signal,
                encoding=encoding,
                credential=credential_hash(request.headers.get("authorization", "")),
                items=batch.accepted,
                body=body,
            )
            await self._accept(entry, batch)
        if batch.rejected:
            name = "spans_rejected_total" if signal == "traces" else "log_records_rejected_total"
            self._count(name, batch.rejected, {"receiver": RECEIVER, "reason": "invalid"})
        answer = response(signal, encoding, rejected=batch.rejected, message=batch.reject_reason)
        return _success(encoding, answer)

    async def _parse(
        self, signal: Signal, encoding: Encoding, raw: bytes, compression: str
    ) -> tuple[bytes, Batch]:
        """Decompress and parse, beside the event loop when it may take long."""
        limit = self._limits.max_decompressed
        compressed = compression != "identity"
        if len(raw) >= (HEAVY_COMPRESSED_BYTES if compressed else HEAVY_BYTES):

            def work() -> tuple[bytes, Batch]:
                body = inflate(raw, compression, limit=limit)
                return body, parse(signal, encoding, body)

            return await self._beside(work)
        body = inflate(raw, compression, limit=limit)
        if len(body) >= HEAVY_BYTES:
            return body, await self._beside(functools.partial(parse, signal, encoding, body))
        return body, parse(signal, encoding, body)

    async def _beside(self, work: Callable[[], Made]) -> Made:
        """Run work in a thread; what it had made is gone when it raises.

        An error that crosses threads ends up in a cycle with the future that carried it, and keeps
        every frame it passed, with bodies of megabytes, until the garbage collector comes by.
        """

        def outcome() -> tuple[Made] | Exception:
            try:
                return (work(),)
            except Exception as error:  # noqa: BLE001  # raised again below
                error.__cause__ = error.__context__ = None
                return error.with_traceback(None)

        made = await run_sync(outcome, limiter=self._heavy)
        if isinstance(made, tuple):
            return made[0]
        try:
            raise made
        finally:
            del made

    def _reject(self, reason: str) -> None:
        self._count("requests_rejected_total", 1.0, {"receiver": RECEIVER, "reason": reason})

    def _refuse(
        self,
        encoding: Encoding | None,
        refusal: Refusal,
        message: str,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """Count a request under a reason and answer it with a ``google.rpc.Status``."""
        self._reject(refusal.reason)
        spoken: Encoding = encoding or "json"
        return Response(
            failure(spoken, code=refusal.code, message=message),
            refusal.status,
            headers or refusal.headers,
            media_type=MEDIA_TYPES[spoken],
        )

    def _unforeseen(self, error: Exception) -> str:
        """Log an error nobody foresaw, once a kind, and say what to tell the sender."""
        kind = type(error).__name__
        if kind not in self._known:
            self._known.add(kind)
            self._log.error("receiving failed; further %s are only counted", kind, exc_info=error)
        return f"an unexpected {kind}; try again"


def otlp_http(
    *,
    accept: Accept,
    count: Count,
    limits: ReceiveConfig,
    clock_ns: Callable[[], int],
    log: logging.Logger,
    token: str = "",
) -> Starlette:
    """Build the application for the OTLP/HTTP port.

    Args:
        accept: Makes an accepted request durable and hands it to the pipeline. It may raise
            ``RetryableError``, which senders see as 503 with Retry-After.
        count: Raises ``requests_rejected_total{receiver,reason}`` and
            ``spans_rejected_total{receiver,reason}`` (``log_records_rejected_total`` for logs).
        limits: Largest bodies, and the address that is served.
        clock_ns: Unix time in nanoseconds.
        log: Told of unexpected errors, once a kind.
        token: Bearer token that senders must show; empty for none.
    """
    receiver = _Receiver(
        accept=accept, count=count, limits=limits, token=token, clock_ns=clock_ns, log=log
    )
    return Starlette(
        routes=[
            Route("/v1/traces", _Endpoint("traces", receiver)),
            Route("/v1/logs", _Endpoint("logs", receiver)),
            Route("/v1/metrics", _Endpoint(None, receiver)),
        ]
    )


def _encoding(request: Request) -> Encoding | None:
    media, _, _ = request.headers.get("content-type", "").partition(";")
    return CONTENT_TYPES.get(media.strip().lower())


def _success(encoding: Encoding, body: bytes) -> Response:
    return Response(body, media_type=MEDIA_TYPES[encoding])
