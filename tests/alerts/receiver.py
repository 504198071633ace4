"""Receive posts as a webhook does, well or badly."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec


class Post(msgspec.Struct, kw_only=True):
    """One request that came in."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any


class Receiver:
    """Listen on loopback and answer from a script; after its end everything is well.

    A step is a status, a status with headers, ``garbage`` (no HTTP), ``hang`` (no answer until
    the end of the test) or ``trickle`` (header lines without end).
    """

    def __init__(self, *script: int | tuple[int, dict[str, str]] | str) -> None:
        self.posts: list[Post] = []
        self._script = list(script)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.arrived = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver._take(self)

            def do_GET(self) -> None:
                receiver._take(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients that leave are part of the tests

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.address}"

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def bodies(self) -> Sequence[Any]:
        """The documents that came in."""
        return [post.body for post in self.posts]

    def _take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", "0")))
        with self._lock:
            self.posts.append(
                Post(
                    path=handler.path,
                    headers={name.lower(): text for name, text in handler.headers.items()},
                    body=msgspec.json.decode(body) if body else None,
                )
            )
            step = self._script.pop(0) if self._script else 200
        self.arrived.set()
        handler.close_connection = True
        if step == "garbage":
            handler.wfile.write(b"\x00\xff this is not HTTP\r\n\r\n")
        elif step == "hang":
            self._over.wait()
        elif step == "trickle":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self._over.wait(0.02):
                handler.wfile.write(b"X-More: 1\r\n")
        else:
            status, headers = step if isinstance(step, tuple) else (step, {})
            handler.send_response(int(status))
            for name, text in {"Content-Length": "0", **headers}.items():
                handler.send_header(name, text)
            handler.end_headers()
