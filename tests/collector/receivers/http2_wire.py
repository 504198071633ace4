"""Speak HTTP/2 by hand, to send what no client library would."""

from __future__ import annotations

import socket
import struct
import time

from tests.collector.receivers.grpc_desk import PATIENCE_S, TRACES

_DATA, _HEADERS, _RST, _SETTINGS = 0x0, 0x1, 0x3, 0x4
_END_STREAM, _END_HEADERS = 0x1, 0x4
_CANCEL = 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Build a frame: a length of 24 bits, type, flags and stream."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def begin(path: str = TRACES, **headers: str) -> bytes:
    """Begin a connection, and a call on stream 1."""
    block = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "localhost",
        "content-type": "application/grpc",
        "te": "trailers",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    fields = b"".join(_literal(name, value) for name, value in block.items())
    return PREFACE + frame(_SETTINGS, 0, 0) + frame(_HEADERS, _END_HEADERS, 1, fields)


def message(body: bytes, *, flag: int = 0) -> bytes:
    """Build a gRPC message: whether it is compressed, its length, and it."""
    return struct.pack(">BI", flag, len(body)) + body


def data(part: bytes, *, end: bool = False) -> bytes:
    """Send a part of the call's body."""
    return frame(_DATA, _END_STREAM if end else 0, 1, part)


def reset() -> bytes:
    """Give the call up."""
    return frame(_RST, 0, 1, struct.pack(">I", _CANCEL))


def connect(address: str) -> socket.socket:
    """Connect to a port."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)


def answer(wire: socket.socket, until: bytes) -> bytes:
    """Read until some bytes came, or the end."""
    got = b""
    deadline = time.monotonic() + PATIENCE_S
    while until not in got and time.monotonic() < deadline:
        part = wire.recv(65_536)
        if not part:
            break
        got += part
    return got


def _literal(name: str, value: str) -> bytes:
    """Write a header field as a literal without indexing (RFC 7541, 6.2.2); each under 127 bytes."""
    return b"\x00" + b"".join(bytes([len(part)]) + part.encode() for part in (name, value))
