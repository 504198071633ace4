"""Run several ASGI applications on one event loop, each on its own port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Generator, Sequence

import uvicorn
from starlette.types import ASGIApp

from collector.address import parse_address
from collector.connections import BoundedConfig, Bounds, allowed
from collector.errors import ConfigError
from collector.seldom import seldom

_BACKLOG = 2048
"""Connections that may wait to be taken."""
_AT_ONCE = 16
"""Connections taken before those already there are looked at; asyncio calls this backlog too."""
_CHATTY = ("uvicorn.error", "asyncio")
"""Loggers that have something to say about every caller's mistake."""
_SHARE = 1 / 8
_MOST = 128


class Listening:
    """One application on one bound port."""

    def __init__(
        self,
        key: str,
        address: str,
        app: ASGIApp,
        *,
        bounds: Bounds | None = None,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        """Bind at once, so that a taken port is an error before anything starts.

        Args:
            key: The configuration key of the address.
            address: ``host:port``.
            app: What answers.
            bounds: Of its connections; by default a few, as for a port that people use.
            refused: Told of each connection above the bounds.

        Raises:
            ConfigError: the address cannot be bound; the text names the key.
        """
        parsed = parse_address(address)
        family = socket.AF_INET6 if ":" in parsed.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((parsed.host, parsed.port))
            # At once: until then a second process may bind the same port, and callers are refused.
            self._socket.listen(_BACKLOG)
        except OSError as error:
            self._socket.close()
            raise ConfigError(
                f"{key}: cannot listen on {address} ({error.strerror}); "
                f"stop what uses it or set {key} to another address"
            ) from error
        port = self._socket.getsockname()[1]
        self.address = f"[{parsed.host}]:{port}" if ":" in parsed.host else f"{parsed.host}:{port}"
        """As bound; the port is real even when 0 was asked for."""
        self._server = _Server(
            BoundedConfig(
                app,
                bounds=bounds or Bounds(most=allowed(share=_SHARE, at_most=_MOST)),
                refused=refused,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_AT_ONCE,
                timeout_graceful_shutdown=5,
            )
        )

    async def run(self) -> None:
        """Serve until told to stop."""
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Take no more requests and finish those under way."""
        self._server.should_exit = True

    def close(self) -> None:
        """Let go of the port, started or not."""
        self._socket.close()


class _Server(uvicorn.Server):
    """A server that leaves signals to the process, and lets callers wait in line."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to take connections, a few at once."""
        await super().startup(sockets)
        for taking in sockets or ():
            taking.listen(_BACKLOG)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


async def run_all(servers: Sequence[Listening]) -> None:
    """Serve on every port until each was told to stop; the first that fails stops all."""
    with seldom(*_CHATTY, seconds=time.monotonic):
        tasks = [asyncio.create_task(server.run()) for server in servers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for server in servers:
                server.stop()
            await asyncio.gather(*tasks, return_exceptions=True)
