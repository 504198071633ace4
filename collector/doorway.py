"""Take callers in through a TLS handshake, and count them before it.

A server that is given a context counts a connection when its handshake is over, so callers without
number could hold a port's files by beginning one.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

HANDSHAKE_S = 10.0
"""Time for a handshake, as for the headers after it."""
_BREATH_S = 1.0
"""Pause when a connection cannot be taken because too many files are open."""


class Doorway:
    """A socket that listens, and whoever is on the way in; a server like those of the event loop."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext,
        *,
        has_room: Callable[[int], bool],
        refused: Callable[[], None],
        within_s: float = HANDSHAKE_S,
    ) -> None:
        """Take callers from now on; for a running event loop.

        Args:
            listening: Where they come.
            protocol: Makes what is spoken within TLS.
            context: What callers are shown, and whose certificates are asked for.
            has_room: Says whether one more may come while so many are on the way in.
            refused: Told of each that may not.
            within_s: Time for a handshake, in seconds.
        """
        self._protocol = protocol
        self._context = context
        self._has_room = has_room
        self._refused = refused
        self._within_s = within_s
        self._entering: set[asyncio.Task[None]] = set()
        self._listening = listening
        listening.setblocking(False)
        self._taking = asyncio.get_running_loop().create_task(self._take(listening))

    def close(self) -> None:
        """Take no more, and let go of those on the way in."""
        self._taking.cancel()
        for task in self._entering:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until that is done, and let go of the socket."""
        await asyncio.gather(self._taking, *self._entering, return_exceptions=True)
        self._listening.close()

    async def _take(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                caller, _ = await loop.sock_accept(listening)
            except ConnectionError:
                continue
            except OSError:
                if listening.fileno() < 0:
                    return
                await asyncio.sleep(_BREATH_S)
                continue
            if not self._has_room(len(self._entering)):
                self._refused()
                caller.close()
                continue
            task = loop.create_task(self._enter(caller))
            self._entering.add(task)
            task.add_done_callback(self._entering.discard)

    async def _enter(self, caller: socket.socket) -> None:
        # What a caller does wrong on its way in is its own business.
        with suppress(OSError, TimeoutError):
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol, caller, ssl=self._context, ssl_handshake_timeout=self._within_s
            )
