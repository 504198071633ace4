"""A small HTTP server that stands where a running instance would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TypeAlias

import msgspec

from tests.listening import Listening


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    method: str
    path: str
    token: str
    body: bytes


Answer: TypeAlias = tuple[int, bytes]
"""Status and body."""


@contextmanager
def serving(answer: Callable[[Received], Answer]) -> Iterator[str]:
    """Serve on a free loopback port and yield the base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            received = Received(
                method=self.command,
                path=self.path,
                token=self.headers.get("authorization", ""),
                body=self.rfile.read(length),
            )
            status, body = answer(received)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with Listening(Handler) as listening:
        yield listening.url
