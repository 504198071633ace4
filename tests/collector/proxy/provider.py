"""Be a model provider on a local port: answer each path with bytes that a test wrote."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import msgspec

Piece = bytes | float | threading.Event
"""Bytes to send, seconds to wait, or an event to wait for."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it came."""

    head: bytes
    body: bytes
    """With its frames."""

    @property
    def target(self) -> str:
        """Return path and query."""
        return self.head.split(b" ")[1].decode()

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.decode().lower() == name:
                return value.strip().decode()
        return None


class Provider:
    """Serve scripts: by path, what is sent for each request, one script after another."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.gone = threading.Event()
        """Set when a client left while its answer was under way."""
        self.connections = 0
        self._scripts: dict[str, list[tuple[Sequence[Piece], bool]]] = {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def script(self, path: str, *pieces: Piece, close: bool = False) -> None:
        """Answer the next request for a path so; the last script of a path is used again."""
        self._scripts.setdefault(path, []).append((pieces, close))

    def __enter__(self) -> Self:
        """Start."""
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and wait for every connection."""
        self._ending.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while not self._ending.is_set():
            try:
                taken, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(taken,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, taken: socket.socket) -> None:
        with taken:
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            taken.settimeout(0.05)
            try:
                while self._answer(taken):
                    pass
            except (ConnectionError, TimeoutError):
                self.gone.set()

    def _answer(self, taken: socket.socket) -> bool:
        asked = self._read(taken)
        if asked is None:
            return False
        self.asked.append(asked)
        scripts = self._scripts.get(asked.target.partition("?")[0], [])
        if not scripts:
            taken.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            return True
        pieces, close = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        for piece in pieces:
            if isinstance(piece, bytes):
                taken.settimeout(20)
                taken.sendall(piece)
            else:
                self._wait(taken, piece)
        return not close

    def _wait(self, taken: socket.socket, piece: float | threading.Event) -> None:
        until = time.monotonic() + (piece if isinstance(piece, float) else 30.0)
        while time.monotonic() < until and not self._ending.is_set():
            if isinstance(piece, threading.Event) and piece.is_set():
                return
            taken.settimeout(min(0.02, max(0.001, until - time.monotonic())))
            try:
                if not taken.recv(1, socket.MSG_PEEK):
                    raise ConnectionResetError
            except TimeoutError:
                continue

    def _read(self, taken: socket.socket) -> Asked | None:
        held = b""
        while b"\r\n\r\n" not in held:
            more = self._more(taken)
            if not more:
                return None
            held += more
        head, _, body = held.partition(b"\r\n\r\n")
        asked = Asked(head=head, body=b"")
        length = int(asked.header("content-length") or 0)
        chunked = asked.header("transfer-encoding") is not None
        while (chunked and not body.endswith(b"0\r\n\r\n")) or len(body) < length:
            more = self._more(taken)
            if not more:
                return None
            body += more
        return Asked(head=head, body=body)

    def _more(self, taken: socket.socket) -> bytes:
        taken.settimeout(0.05)
        while not self._ending.is_set():
            try:
                return taken.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:
                return b""
        return b""


def plain(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Write an answer of a known length."""
    lines = [
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        *headers,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Request-Id: req_1\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Write one chunk."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(data: object, name: str = "") -> bytes:
    """Write one event of a stream."""
    said = data if isinstance(data, bytes) else msgspec.json.encode(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + said + b"\n\n"
