"""Listen for clients and pass their calls on, on a thread and an event loop of its own.

Decoding a large OTLP request keeps the receivers' loop busy for milliseconds; a token that a
user waits for is not to stand in that line.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from collector.address import parse_address
from collector.callers import Callers, programs
from collector.proxy.about import Names, about
from collector.proxy.client_side import ClientSide
from collector.proxy.http_head import RequestHead
from collector.proxy.recorder import Recorder, Recording
from collector.proxy.upstream import Route, Routes, Upstream
from collector.proxy.upstream_side import Dialler, UpstreamSide
from collector.servers import bound, shown

RECEIVER = "proxy"
_BACKLOG = 1024


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the code around a proxy gives it."""

    address: str
    """``host:port``; port 0 lets the system choose."""
    token: str = ""
    """What clients must show in ``x-outrider-token``; empty for none."""
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
    """The proxy's port; a peer of the other ports, with a thread of its own."""

    def __init__(
        self,
        settings: Settings,
        *,
        routes: Routes,
        recorder: Recorder,
        context: ssl.SSLContext,
        count: Callable[[str, float, dict[str, str]], None],
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        """Bind at once, so that a taken port is an error before anything starts.

        Raises:
            ConfigError: The address cannot be bound.
        """
        self.callers: Callers = programs(
            host=parse_address(settings.address).host, token=settings.token
        )
        self.routes = routes
        self.idle_s = settings.idle_timeout_s
        self._settings = settings
        self._recorder = recorder
        self._dialler = Dialler(context=context, timeout_s=settings.connect_timeout_s)
        self._count = count
        self._loop_factory = loop_factory
        self._socket = bound("proxy.address", settings.address, listen=True)
        self.address = shown(settings.address, self._socket)
        """As bound; the port is real even when 0 was asked for."""
        self._sides: set[ClientSide] = set()
        self._left = asyncio.Event()
        self._stopped = threading.Event()
        self._wake: Callable[[], None] = lambda: None

    # --- its life, as the other ports have it

    async def open(self) -> None:
        """Do nothing: callers wait in line since it was made."""

    async def run(self) -> None:
        """Serve until told to stop, on another thread."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        failed: list[BaseException] = []

        def work() -> None:
            try:
                with asyncio.Runner(loop_factory=self._loop_factory) as runner:
                    runner.run(self._serve())
            except BaseException as error:  # noqa: BLE001 - raised again where run() is awaited
                failed.append(error)
            finally:
                loop.call_soon_threadsafe(ended.set)

        thread = threading.Thread(target=work, name="proxy", daemon=True)
        thread.start()
        try:
            await ended.wait()
        finally:
            self.stop()
        thread.join()
        if failed:
            raise failed[0]

    def stop(self) -> None:
        """Take no more calls and finish those under way."""
        self._stopped.set()
        self._wake()

    def close(self) -> None:
        """Let go of the port, started or not."""
        self._socket.close()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        told = asyncio.Event()
        self._wake = lambda: _tell(loop, told)
        server = await loop.create_server(
            lambda: ClientSide(self), sock=self._socket, backlog=_BACKLOG
        )
        if self._stopped.is_set():
            told.set()
        await told.wait()
        self._wake = lambda: None
        server.close()
        for side in tuple(self._sides):
            side.retire()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.drain_timeout_s):
                await self._all_left()
        for side in tuple(self._sides):
            side.retire(at_once=True)
        await self._all_left()

    async def _all_left(self) -> None:
        while self._sides:
            self._left.clear()
            await self._left.wait()
        await self._dialler.all_ended()

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

    def record(self, head: RequestHead, route: Route) -> Recording | None:
        """Begin a copy of a call; ``None`` when it is not captured."""
        try:
            found = about(head, route, names=self._settings.names, secret=self._settings.secret)
            return None if found is None else self._recorder.begin(found)
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
