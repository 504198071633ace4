"""Receive OTLP over HTTP, by the OTLP specification 1.11 ("OTLP/HTTP").

A request is answered with success only after ``accept`` returned, that is after it is durable.
What can pass by itself (a full journal, a busy disk, a bug of ours) is answered with 503, since a
sender drops its batch on any other failure.
"""

from __future__ import annotations

import math

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from collector.callers import Callers
from collector.callers import Refusal as TurnedAway
from collector.config import ReceiveConfig
from collector.errors import RetryableError, UnsupportedError
from collector.guard import shown_by
from collector.otlp import Encoding, Signal, failure
from collector.receivers.admission import Admission, Sent
from collector.receivers.compression import check_encoding
from collector.receivers.intake import Allowance, read_body
from collector.receivers.refusals import (
    FORBIDDEN,
    UNAUTHENTICATED,
    WRONG_METHOD,
    WRONG_PATH,
    Refusal,
)
from collector.tokens import Grant

RECEIVER = "otlp_http"
CROWDED = {"receiver": RECEIVER, "reason": "too_many_connections"}
"""Labels under which a connection is counted that was closed before it could ask."""

CONTENT_TYPES: dict[str, Encoding] = {
    "application/x-protobuf": "proto",
    "application/json": "json",
}
MEDIA_TYPES = {encoding: media for media, encoding in CONTENT_TYPES.items()}


PATHS = "/v1/traces, /v1/logs, /v1/metrics"


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
    """Take requests in: check, read, hand on, answer, and count what is turned away."""

    def __init__(self, admission: Admission, *, limits: ReceiveConfig, callers: Callers) -> None:
        self._admission = admission
        self._limits = limits
        self._callers = callers

    async def answer(self, signal: Signal | None, request: Request) -> Response:
        """Answer one request; never raises for what a sender or the disk can do."""
        encoding = _encoding(request)
        if request.method != "POST":
            return self._refuse(encoding, WRONG_METHOD, "use POST")
        caller = self._callers.judge(shown_by(request), right="write")
        if isinstance(caller, TurnedAway):
            unknown = caller.status == UNAUTHENTICATED.status
            why = UNAUTHENTICATED if unknown else FORBIDDEN
            return self._refuse(encoding, why, caller.message)
        try:
            with self._admission.intake.allowance() as allowance:
                return await self._take(signal, encoding, request, allowance, caller)
        except Exception as error:  # noqa: BLE001  # a bug of ours must not make the sender drop its batch
            refusal, message = self._admission.refusal(error)
            headers = refusal.headers
            if isinstance(error, RetryableError):
                headers = {"retry-after": str(max(1, math.ceil(error.retry_after_s)))}
            return self._refuse(encoding, refusal, message, headers)

    async def lost(self, request: Request, _: Exception) -> Response:
        """Answer a request for a path that is not OTLP's, whose sender may drop all it has."""
        shown = request.url.path[:60]
        return self._refuse(_encoding(request), WRONG_PATH, f"{shown!r} is none of {PATHS}")

    async def _take(
        self,
        signal: Signal | None,
        encoding: Encoding | None,
        request: Request,
        hold: Allowance,
        caller: Grant,
    ) -> Response:
        if encoding is None:
            shown = request.headers.get("content-type", "")[:60]
            raise UnsupportedError(
                f"Content-Type {shown!r} is not supported; send {' or '.join(CONTENT_TYPES)}"
            )
        compression = check_encoding(request.headers.get("content-encoding", ""))
        raw = await read_body(request, limit=self._limits.max_body, allowance=hold)
        if signal is None:
            self._admission.reject(RECEIVER, "metrics_not_stored")
            return _success(encoding, b"{}" if encoding == "json" else b"")
        sent = Sent(
            receiver=RECEIVER,
            signal=signal,
            encoding=encoding,
            compression=compression,
            authorization=request.headers.get("authorization", ""),
            caller=caller,
        )
        return _success(encoding, await self._admission.take(sent, raw, hold))

    def _refuse(
        self,
        encoding: Encoding | None,
        refusal: Refusal,
        message: str,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """Count a request under a reason and answer it with a ``google.rpc.Status``."""
        self._admission.reject(RECEIVER, refusal.reason)
        spoken: Encoding = encoding or "json"
        return Response(
            failure(spoken, code=refusal.code, message=message),
            refusal.status,
            headers or refusal.headers,
            media_type=MEDIA_TYPES[spoken],
        )


def otlp_http(admission: Admission, *, limits: ReceiveConfig, callers: Callers) -> Starlette:
    """Build the application for the OTLP/HTTP port.

    Args:
        admission: Takes in what was read, and counts what is turned away.
        limits: Largest body as sent.
        callers: Says who may send.
    """
    receiver = _Receiver(admission, limits=limits, callers=callers)
    return Starlette(
        routes=[
            Route("/v1/traces", _Endpoint("traces", receiver)),
            Route("/v1/logs", _Endpoint("logs", receiver)),
            Route("/v1/metrics", _Endpoint(None, receiver)),
        ],
        exception_handlers={WRONG_PATH.status: receiver.lost},
    )


def _encoding(request: Request) -> Encoding | None:
    media, _, _ = request.headers.get("content-type", "").partition(";")
    return CONTENT_TYPES.get(media.strip().lower())


def _success(encoding: Encoding, body: bytes) -> Response:
    return Response(body, media_type=MEDIA_TYPES[encoding])
