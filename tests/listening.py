"""Listen on a free loopback port while a test runs."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Listening:
    """An HTTP server with a thread of its own, up inside a ``with`` block."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        """Bind at once, so that the address is known before it serves."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.address = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.address}"

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and wait until it has."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
