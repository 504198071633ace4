"""Take clients in and pass their calls on, until told to stop."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from collector.address import parse_address
from collector.callers import Callers, programs
from collector.config import AuthConfig, TlsConfig
from collector.doorway import Doorway
from collector.own_telemetry import HEADER
from collector.proxy.about import Names, about
from collector.proxy.client_side import ClientSide
from collector.proxy.http_head import RequestHead, first
from collector.proxy.recorder import Recorder, Recording
from collector.proxy.shadow import Shadow
from collector.proxy.upstream import Route, Routes, Upstream
from collector.proxy.upstream_side import Dialler, UpstreamSide
from collector.tls import server_context
from collector.tokens import Grant, Tokens

RECEIVER = "proxy"
_BACKLOG = 1024


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the code around a proxy gives it."""

    address: str
    """``host:port`` that is served."""
    auth: AuthConfig = AuthConfig()
    """Tokens, one of which clients must show in ``x-outrider-token``; none for no such header."""
    tls: TlsConfig = TlsConfig()
    secret: bytes
    """Key of the hashes that stand for credentials."""
    names: Names = Names()
    most: int = 512
    """Connections at a time."""
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 300.0
    """Quiet time after which a connection between two calls is closed."""
    drain_timeout_s: float = 10.0
    """How long a stop waits for calls under way."""


class ProxyServer:
    """All connections of a proxy, and what they share."""

    def __init__(
        self,
        settings: Settings,
        *,
        listening: socket.socket,
        routes: Routes,
        recorder: Recorder,
        context: ssl.SSLContext,
        count: Callable[[str, float, dict[str, str]], None],
        shadow: Shadow | None = None,
    ) -> None:
        """Take a socket that listens, and what its connections need; nothing is served yet.

        Raises:
            ConfigError: a certificate or a file with tokens cannot be read.
        """
        self.callers: Callers = programs(
            host=parse_address(settings.address).host,
            tokens=Tokens(settings.auth),
            certified=settings.tls.instead_of_token,
        )
        self.routes = routes
        self.idle_s = settings.idle_timeout_s
        self._settings = settings
        self._recorder = recorder
        self._shadow = shadow
        self._dialler = Dialler(context=context, timeout_s=settings.connect_timeout_s)
        self._count = count
        self._socket = listening
        self._tls = server_context(settings.tls, section="proxy.tls")
        self._sides: set[ClientSide] = set()
        self._left = asyncio.Event()
        self._stopped = threading.Event()
        self._wake: Callable[[], None] = lambda: None

    # --- its life

    def stop(self) -> None:
        """Take no more calls and finish those under way; from any thread."""
        self._stopped.set()
        self._wake()

    async def serve(self) -> None:
        """Serve until told to stop."""
        loop = asyncio.get_running_loop()
        told = asyncio.Event()
        self._wake = lambda: _tell(loop, told)
        server = await self._open(loop)
        if self._stopped.is_set():
            told.set()
        await told.wait()
        self._wake = lambda: None
        server.close()
        if isinstance(server, Doorway):
            await server.wait_closed()
        for side in tuple(self._sides):
            side.retire()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.drain_timeout_s):
                await self._all_left()
        for side in tuple(self._sides):
            side.retire(at_once=True)
        await self._all_left()

    async def _open(self, loop: asyncio.AbstractEventLoop) -> asyncio.AbstractServer | Doorway:
        if self._tls is None:
            return await loop.create_server(
                lambda: ClientSide(self), sock=self._socket, backlog=_BACKLOG
            )
        return Doorway(
            self._socket,
            lambda: ClientSide(self),
            self._tls,
            has_room=lambda waiting: waiting + len(self._sides) < self._settings.most,
            refused=lambda: self.refused("too_many_connections"),
        )

    async def _all_left(self) -> None:
        while self._sides:
            self._left.clear()
            await self._left.wait()
        await self._dialler.all_ended()
        if self._shadow is not None:
            await self._shadow.close()

    # --- what its connections share

    def dial(
        self,
        upstream: Upstream,
        front: ClientSide,
        connected: Callable[[UpstreamSide | None, str], None],
    ) -> asyncio.Task[None]:
        """Reach an upstream, then call back with it, or with why it cannot be reached."""

        async def reach() -> None:
            try:
                side = await self._dialler.dial(upstream, front)
            except (OSError, TimeoutError) as error:
                why = "it takes too long" if isinstance(error, TimeoutError) else str(error)
                connected(None, f"{upstream.authority} cannot be reached: {why}")
            else:
                connected(side, "")

        return asyncio.get_running_loop().create_task(reach())

    def record(self, head: RequestHead, route: Route, caller: Grant) -> Recording | None:
        """Begin a copy of a call; ``None`` when it is not captured."""
        try:
            found = about(
                head,
                route,
                names=self._settings.names,
                secret=self._settings.secret,
                tenant=caller.tenant,
            )
            if found is None:
                return None
            if first(head.fields, HEADER):
                self._recorder.dropped("own")
                return None
            fork = None if self._shadow is None else self._shadow.fork(head, route, found)
            return self._recorder.begin(found, fork)
        except Exception:  # noqa: BLE001 - no fault of ours may reach the call
            self._recorder.dropped("error")
            return None

    def joined(self, side: ClientSide) -> bool:
        """Take a connection in, or say that there are too many."""
        self._sides.add(side)
        return len(self._sides) <= self._settings.most

    def left(self, side: ClientSide) -> None:
        """Forget a connection."""
        self._sides.discard(side)
        self._left.set()

    def refused(self, reason: str) -> None:
        """Count a request that was turned away."""
        self._count("requests_rejected_total", 1.0, {"receiver": RECEIVER, "reason": reason})

    def unread(self, reason: str) -> None:
        """Count a call that nobody captures."""
        self._recorder.dropped(reason)

    def answered(self, upstream: str, status: int) -> None:
        """Count an answer that is passed on."""
        self._count("proxy_responses_total", 1.0, {"upstream": upstream, "status": str(status)})


def _tell(loop: asyncio.AbstractEventLoop, told: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(told.set)
