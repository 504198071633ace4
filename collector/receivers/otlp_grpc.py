"""Receive OTLP over gRPC, by the OTLP specification 1.11 ("OTLP/gRPC").

A call is answered with success only after it is durable. What can pass by itself is answered with
UNAVAILABLE and a ``google.rpc.RetryInfo``; senders give up a batch on most other codes.

The three methods are unary on the wire and served as streams of requests. So a handler runs before
the message is read: a stranger's is not read at all, and only so many are read at a time. Messages
stay as they were compressed, since the library has no bound of ours on what comes out of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, TypeAlias

import grpc
import grpc.aio
import msgspec
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector.callers import Callers, Shown
from collector.callers import Refusal as TurnedAway
from collector.config import ReceiveConfig
from collector.errors import RETRY_AFTER_S, MalformedError, RetryableError
from collector.otlp import Signal
from collector.receivers.admission import Admission, Sent
from collector.receivers.intake import BODY_S
from collector.receivers.reading_places import PATIENCE_S, ReadingPlaces
from collector.receivers.refusals import FORBIDDEN, UNAUTHENTICATED, Refusal
from collector.tokens import Grant

RECEIVER = "otlp_grpc"

METHODS: dict[str, Signal | None] = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "traces",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export": "logs",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": None,
}
"""What each method carries; ``None`` for metrics, which are answered and dropped."""

UNREAD = "unread"
"""Reason of calls that ended while their message was read.

The library does not say which: the sender gave up, or announced a message above the limit. The
latter is told so with RESOURCE_EXHAUSTED.
"""

SETTLE_S = 0.05
"""Time in which the library ends a call whose message it gave up."""

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Metadata: TypeAlias = tuple[tuple[str, bytes], ...]


class _Refused(msgspec.Struct, frozen=True, kw_only=True):
    refusal: Refusal
    message: str
    retry_after_s: float


class OtlpGrpc(grpc.GenericRpcHandler):
    """Serve the methods of OTLP: check, read, hand on, answer, and count what is turned away."""

    def __init__(
        self,
        admission: Admission,
        *,
        limits: ReceiveConfig,
        callers: Callers,
        within_s: float = BODY_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Take what calls go through; for one event loop.

        Args:
            admission: Takes in what was read, and counts what is turned away.
            limits: Largest message, and how many bytes are held at a time.
            callers: Says who may send, by whatever name they call the port.
            within_s: Longest time in seconds until all of a message is there.
            patience_s: The same while another message waits for its place.
        """
        self._admission = admission
        self._callers = callers
        # The library holds what it has of each message that is being read, and does not say how much.
        self._places = ReadingPlaces(
            max(1, limits.max_in_flight // limits.max_body),
            within_s=within_s,
            patience_s=patience_s,
        )
        self._under_way: set[asyncio.Task[bytes | _Refused]] = set()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """Return what serves a method; ``None`` when there is no such method."""
        method = handler_call_details.method
        if method not in METHODS:
            return None
        return grpc.stream_unary_rpc_method_handler(self._handler(METHODS[method]))

    async def settled(self) -> None:
        """Wait until what has been read is taken or refused, whether or not its sender waits."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    def _handler(self, signal: Signal | None) -> Callable[[Any, Context], Awaitable[bytes]]:
        async def export(_: Any, context: Context) -> bytes:
            return await self._export(signal, context)

        return export

    async def _export(self, signal: Signal | None, context: Context) -> bytes:
        shown = _headers(context)
        caller = self._caller(shown)
        if isinstance(caller, _Refused):
            self._admission.reject(RECEIVER, caller.refusal.reason)
            await _abort(context, caller)
        try:
            raw = await self._read(context)
        except asyncio.CancelledError:
            self._admission.reject(RECEIVER, UNREAD)
            raise
        except Exception as error:  # noqa: BLE001  # a bug of ours must not make the sender drop its batch
            await _abort(context, self._refused(error))
        # What was read is taken to its end: a call may be cancelled in the midst of its commit.
        task = asyncio.create_task(self._take(signal, raw, shown.get("authorization", ""), caller))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        answer = await asyncio.shield(task)
        if isinstance(answer, _Refused):
            await _abort(context, answer)
        return answer

    def _caller(self, shown: dict[str, str]) -> Grant | _Refused:
        """Say who calls, or why it may not."""
        # An origin is a page's, and none of ours calls this port: without a host it is never right.
        judged = self._callers.judge(
            Shown(
                origin=shown.get("origin", ""),
                authorization=shown.get("authorization", ""),
            ),
            right="write",
        )
        if isinstance(judged, TurnedAway):
            why = UNAUTHENTICATED if judged.status == UNAUTHENTICATED.status else FORBIDDEN
            return _Refused(refusal=why, message=judged.message, retry_after_s=0)
        return judged

    async def _read(self, context: Context) -> bytes:
        async with self._places.place():
            message = await context.read()
        if isinstance(message, bytes):
            return message
        await asyncio.sleep(SETTLE_S)
        raise MalformedError("the call has no whole message")

    async def _take(
        self, signal: Signal | None, raw: bytes, authorization: str, caller: Grant
    ) -> bytes | _Refused:
        try:
            with self._admission.intake.allowance() as hold:
                hold.take(len(raw))
                if signal is None:
                    self._admission.reject(RECEIVER, "metrics_not_stored")
                    return b""
                sent = Sent(
                    receiver=RECEIVER,
                    signal=signal,
                    encoding="proto",
                    compression=compression_of(raw),
                    authorization=authorization,
                    caller=caller,
                )
                return await self._admission.take(sent, raw, hold)
        except Exception as error:  # noqa: BLE001  # as above
            return self._refused(error)

    def _refused(self, error: Exception) -> _Refused:
        """Count a call under a reason, and say what to answer."""
        refusal, message = self._admission.refusal(error)
        self._admission.reject(RECEIVER, refusal.reason)
        return _Refused(
            refusal=refusal,
            message=message,
            retry_after_s=error.retry_after_s
            if isinstance(error, RetryableError)
            else RETRY_AFTER_S,
        )


def compression_of(message: bytes) -> str:
    """Tell how a message is compressed, which the library keeps to itself, from how it begins.

    An export request begins with its field 1, the byte 0A. Gzip's 1F is no field at all, and zlib
    would be one that OTLP does not have.
    """
    if message[:2] == b"\x1f\x8b":
        return "gzip"
    if len(message) > 1 and message[0] == 0x78 and not (message[0] << 8 | message[1]) % 31:
        return "deflate"
    return "identity"


def details(*, code: int, message: str, retry: RetryInfo) -> bytes:
    """Encode a ``google.rpc.Status`` whose one detail says when to try again."""
    packed = AnyMessage()
    packed.Pack(retry)
    status: bytes = Status(code=code, message=message, details=[packed]).SerializeToString()
    return status


def _headers(context: Context) -> dict[str, str]:
    sent = context.invocation_metadata() or ()
    return {name: value for name, value in sent if isinstance(value, str)}


def _metadata(code: int, refused: _Refused) -> Metadata:
    """Say when to try again, in the way of the specification and in that of the Python SDK."""
    if code != grpc.StatusCode.UNAVAILABLE.value[0]:
        return ()
    whole, rest = divmod(refused.retry_after_s, 1)
    retry = RetryInfo(retry_delay=Duration(seconds=int(whole), nanos=int(rest * 1e9)))
    return (
        ("grpc-status-details-bin", details(code=code, message=refused.message, retry=retry)),
        ("google.rpc.retryinfo-bin", retry.SerializeToString()),
    )


async def _abort(context: Context, refused: _Refused) -> NoReturn:
    code = refused.refusal.code
    await context.abort(_CODES[code], refused.message, _metadata(code, refused))
    raise AssertionError  # abort() always raises


_CODES = {status.value[0]: status for status in grpc.StatusCode}
