"""Run several ASGI applications on one event loop, each on its own port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import Callable, Generator, Sequence
from typing import Protocol, cast

import uvicorn
from starlette.types import ASGIApp

from collector.address import Address, parse_address
from collector.answer_headers import AnswerHeaders
from collector.connections import BoundedConfig, Bounds, Connection, allowed
from collector.doorway import Doorway
from collector.errors import ConfigError
from collector.seldom import seldom

_BACKLOG = 2048
"""Connections that may wait to be taken."""
_AT_ONCE = 16
"""Connections taken before those already there are looked at; asyncio calls this backlog too."""
_CHATTY = ("uvicorn.error", "asyncio", "grpc._cython.cygrpc")
"""Loggers that have something to say about every caller's mistake."""
_SHARE = 1 / 8
_MOST = 128


class Port(Protocol):
    """One bound port, whatever is spoken on it."""

    address: str
    """As bound: ``host:port``."""

    async def open(self) -> None:
        """Be ready for callers.

        Raises:
            ConfigError: the port was lost; the text names the key.
        """

    async def run(self) -> None:
        """Serve until told to stop, then finish what is under way."""

    def stop(self) -> None:
        """Take no more requests and finish those under way."""

    def close(self) -> None:
        """Let go of the port, started or not."""


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
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Bind at once, so that a taken port is an error before anything starts.

        Args:
            key: The configuration key of the address.
            address: ``host:port``.
            app: What answers.
            bounds: Of its connections; by default a few, as for a port that people use.
            refused: Told of each connection above the bounds.
            tls: For HTTPS; none for plain HTTP.

        Raises:
            ConfigError: the address cannot be bound; the text names the key.
        """
        self._socket = bound(key, address, listen=True)
        self.address = shown(address, self._socket)
        """As bound; the port is real even when 0 was asked for."""
        self._server = _Server(
            BoundedConfig(
                AnswerHeaders(app),
                bounds=bounds or Bounds(most=allowed(share=_SHARE, at_most=_MOST)),
                refused=refused,
                tls=tls,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_AT_ONCE,
                timeout_graceful_shutdown=5,
            )
        )

    async def open(self) -> None:
        """Do nothing: callers wait in line since it was made."""

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

    config: BoundedConfig

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to take connections, a few at once."""
        listening = sockets or []
        tls = self.config.tls
        await super().startup(listening if tls is None else [])
        if tls is not None:
            self.servers += [
                cast("asyncio.base_events.Server", self._doorway(tls, one)) for one in listening
            ]
        for taking in listening:
            taking.listen(_BACKLOG)

    def _doorway(self, tls: ssl.SSLContext, listening: socket.socket) -> Doorway:
        connections = self.server_state.connections
        return Doorway(
            listening,
            lambda: Connection(
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state
            ),
            tls,
            has_room=lambda waiting: waiting + len(connections) < self.config.bounds.most,
            refused=self.config.refused,
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield


def bound(key: str, address: str, *, listen: bool = False) -> socket.socket:
    """Bind a socket.

    Args:
        key: The configuration key of the address.
        address: ``host:port``.
        listen: Whether callers may wait in line at once. Without it a second process may bind the
            same port, though only one of them can listen.

    Raises:
        ConfigError: the address cannot be bound; the text names the key.
    """
    parsed = parse_address(address)
    family = socket.AF_INET6 if ":" in parsed.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((parsed.host, parsed.port))
        if listen:
            made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ConfigError(
            f"{key}: cannot listen on {address} ({error.strerror}); "
            f"stop what uses it or set {key} to another address"
        ) from error
    return made


def shown(address: str, taken: socket.socket) -> str:
    """Write an address with the port that was bound, which the system chose when 0 was asked for."""
    return str(Address(host=parse_address(address).host, port=taken.getsockname()[1]))


async def run_all(servers: Sequence[Port]) -> None:
    """Serve on every port until each was told to stop; the first that fails stops all."""
    with seldom(*_CHATTY, seconds=time.monotonic):
        tasks = [asyncio.create_task(server.run()) for server in servers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for server in servers:
                server.stop()
            await asyncio.gather(*tasks, return_exceptions=True)
