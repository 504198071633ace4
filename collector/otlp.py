"""Decode and answer OTLP: one decoder for HTTP, gRPC, Kafka and the journal.

Spans and log records whose ids cannot be right are rejected one by one, so that the sender
gets a partial success; bytes that are not OTLP at all are malformed as a whole.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from collector import otlp_bounds, otlp_json, otlp_proto, otlp_proto_texts
from collector.errors import MalformedError
from collector.otlp_decoding import Decoded
from collector.telemetry import LogRecord, Span

Signal = Literal["traces", "logs"]
Encoding = Literal["proto", "json"]

REJECTED_FIELD = {"traces": "rejectedSpans", "logs": "rejectedLogRecords"}


class Batch:
    """One export request whose bytes are sound; its items are decoded when asked for."""

    def __init__(self, signal: Signal, decoded: Decoded) -> None:
        self.signal = signal
        self.accepted = decoded.accepted
        """Spans or log records that ``items`` yields."""
        self.rejected = decoded.rejected
        self.reject_reason = decoded.reason
        """Why the first rejected one was; empty when none was."""
        self._items = decoded.items

    def items(self) -> list[Span] | list[LogRecord]:
        """Decode the accepted items; an item's place in the list never changes."""
        return self._items()

    def spans(self) -> list[Span]:
        """Decode the accepted spans; empty for a batch of logs."""
        return [item for item in self.items() if isinstance(item, Span)]

    def logs(self) -> list[LogRecord]:
        """Decode the accepted log records; empty for a batch of spans."""
        return [item for item in self.items() if isinstance(item, LogRecord)]


def parse(signal: Signal, encoding: Encoding, body: bytes) -> Batch:
    """Check one export request and make it ready to decode.

    Raises:
        MalformedError: the bytes are not an export request of this signal and encoding.
        OversizedError: it has more entries than one request may have.
    """
    if encoding == "json":
        decode = otlp_json.traces if signal == "traces" else otlp_json.logs
        return Batch(signal, decode(body))
    otlp_bounds.check_proto(signal, body)
    request = _request(signal, body)
    if isinstance(request, ExportTraceServiceRequest):
        return Batch(signal, otlp_proto.traces(request))
    return Batch(signal, otlp_proto.logs(request))


def _request(signal: Signal, body: bytes) -> ExportTraceServiceRequest | ExportLogsServiceRequest:
    shape = ExportTraceServiceRequest if signal == "traces" else ExportLogsServiceRequest
    try:
        return shape.FromString(body)
    except DecodeError as error:
        mended = otlp_proto_texts.mended(signal, body)
        if mended is None:
            raise _malformed(shape.__name__, error) from error
    try:
        return shape.FromString(mended)
    except DecodeError as error:
        raise _malformed(shape.__name__, error) from error


def _malformed(shape: str, error: DecodeError) -> MalformedError:
    return MalformedError(
        f"the body is not a protobuf {shape} ({error}); check the Content-Type and the path"
    )


def response(signal: Signal, encoding: Encoding, *, rejected: int, message: str) -> bytes:
    """Encode the answer to an accepted request; a partial success when some were rejected."""
    if encoding == "json":
        partial_success: dict[str, Any] = {}
        if rejected:
            partial_success[REJECTED_FIELD[signal]] = str(rejected)
        if message:
            partial_success["errorMessage"] = message
        answer = {"partialSuccess": partial_success} if partial_success else {}
        return msgspec.json.encode(answer)
    if signal == "traces":
        traces = ExportTraceServiceResponse()
        if rejected or message:
            traces.partial_success.rejected_spans = rejected
            traces.partial_success.error_message = message
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    if rejected or message:
        logs.partial_success.rejected_log_records = rejected
        logs.partial_success.error_message = message
    return logs.SerializeToString()


def failure(encoding: Encoding, *, code: int, message: str) -> bytes:
    """Encode a ``google.rpc.Status``, the body of every OTLP answer that is not a success.

    Its two fields are written by hand: code (1, varint) and message (2, string).
    """
    if encoding == "json":
        return msgspec.json.encode({"code": code, "message": message})
    text = message.encode()
    return (b"\x08" + _varint(code) if code else b"") + (
        b"\x12" + _varint(len(text)) + text if text else b""
    )


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)
