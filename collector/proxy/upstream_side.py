"""Hold the connection to an upstream that stands behind one client's connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Protocol, cast

from collector.proxy.upstream import Upstream


class Front(Protocol):
    """Who reads what an upstream says."""

    def upstream_data(self, side: UpstreamSide, data: bytes) -> None:
        """Take bytes that came."""

    def upstream_lost(self, side: UpstreamSide, error: Exception | None) -> None:
        """Learn that nothing more will come."""

    def upstream_full(self, *, full: bool) -> None:
        """Learn whether the upstream is behind with reading."""


class UpstreamSide(asyncio.Protocol):
    """One connection to one upstream."""

    transport: asyncio.Transport

    def __init__(
        self, upstream: Upstream, front: Front, ended: Callable[[UpstreamSide], None]
    ) -> None:
        self.upstream = upstream
        self._front = front
        self._ended = ended
        self._paused = False

    @property
    def open(self) -> bool:
        """Return whether the upstream has not closed it."""
        return not self.transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand bytes on."""
        self._front.upstream_data(self, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Hand the end on."""
        self._front.upstream_lost(self, exc)
        self._ended(self)

    def pause_writing(self) -> None:
        """Let the client wait."""
        self._front.upstream_full(full=True)

    def resume_writing(self) -> None:
        """Let the client go on."""
        self._front.upstream_full(full=False)

    def pause(self, *, paused: bool) -> None:
        """Stop reading while the client is behind, or go on."""
        if paused != self._paused and self.open:
            self._paused = paused
            if paused:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()


class Dialler:
    """Open connections to upstreams."""

    def __init__(self, *, context: ssl.SSLContext, timeout_s: float) -> None:
        """Take the trusted certificates and the time that connecting may take."""
        self._context = context
        self._timeout_s = timeout_s
        self._open: set[UpstreamSide] = set()
        self._ended = asyncio.Event()

    async def dial(self, upstream: Upstream, front: Front) -> UpstreamSide:
        """Connect.

        Raises:
            OSError: It cannot be reached, is not trusted, or takes too long.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeout_s):
            _, side = await loop.create_connection(
                lambda: UpstreamSide(upstream, front, self._end),
                upstream.host,
                upstream.port,
                ssl=self._context if upstream.secure else None,
                server_hostname=upstream.host if upstream.secure else None,
            )
        if not side.transport.is_closing():
            self._open.add(side)
        return side

    async def all_ended(self) -> None:
        """Wait until no connection is left."""
        while self._open:
            self._ended.clear()
            await self._ended.wait()

    def _end(self, side: UpstreamSide) -> None:
        self._open.discard(side)
        self._ended.set()
