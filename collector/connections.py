"""Bound the connections of a port in number, and how long each may keep it waiting.

uvicorn closes a connection that is quiet between two requests. Here stands what it leaves open:
heads and bodies that never end, answers that nobody reads, and callers without number.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import Callable
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from collector.answer_headers import as_lines

_OWN_FILES = 192
"""Files that are open without any connection; the embedded engine holds about 150."""
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\nconnection: close\r\n"
    b"content-length: 0\r\n" + as_lines() + b"\r\n"
)


def allowed(*, share: float, at_most: int) -> int:
    """Return how many connections a port may have: a share of the files that may yet be opened."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return at_most
    spare = max(files - _OWN_FILES, files // 4)
    return max(1, min(at_most, int(spare * share)))


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the connections of one port may take; times in seconds."""

    most: int
    """Connections at a time; more are answered with 503 and closed."""
    head_s: float = 10.0
    """Time for a request's line and headers."""
    body_s: float = 45.0
    """Time for a body; applications give up earlier and can say so."""
    unread_s: float = 60.0
    """Time that an answer may wait for its reader."""
    rest_s: float = 10.0
    """Time after an answer, for the rest of a body that was not wanted or for the next request."""
    head_bytes: int = 64 * 1024
    """Size from which a request's line and headers are given up."""


class BoundedConfig(uvicorn.Config):
    """Carry the bounds to each connection."""

    def __init__(
        self,
        app: Any,
        *,
        bounds: Bounds,
        refused: Callable[[], None],
        tls: ssl.SSLContext | None = None,
        **settings: Any,
    ) -> None:
        """Take the bounds, what is told of each connection above them, and TLS if any."""
        super().__init__(app, http=Connection, ws="none", **settings)
        self.bounds = bounds
        self.refused = refused
        self.tls = tls


class Connection(HttpToolsProtocol):
    """Serve one connection, until it takes too long over something."""

    config: BoundedConfig

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._bounds = self.config.bounds
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True
        self._in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        """Take a connection, or turn it away when there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._bounds.most:
            self.config.refused()
            self.transport.write(_FULL)
            self.transport.close()
        self._allow(self._bounds.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._allow(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > self._bounds.head_bytes and not self.transport.is_closing():
                self.send_400_response("The headers are too large.")

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and close."""
        body = msg.encode()
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
            b"connection: close\r\ncontent-length: %d\r\n" % len(body) + as_lines() + b"\r\n" + body
        )
        self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head = True
        self._head_bytes = 0
        self._allow(self._bounds.head_s)

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        self._in_head = False
        self._in_body = True
        self._allow(self._bounds.body_s)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait for the application as long as it takes, once it has everything."""
        self._in_body = False
        if not self.cycle.response_complete:
            self._allow(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        # When requests are sent without waiting for answers, the next is under way already.
        if self.cycle.response_complete:
            self._allow(self._bounds.rest_s)

    def pause_writing(self) -> None:
        """Wait for a reader that is behind."""
        super().pause_writing()
        self._allow(self._bounds.unread_s)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        super().resume_writing()
        self._allow(self._bounds.body_s if self._in_body else None)

    def _allow(self, seconds: float | None) -> None:
        """Give the connection so much time from now on; ``None`` gives it any."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
