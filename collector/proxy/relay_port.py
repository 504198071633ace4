"""Hold the proxy's port, and run the process that serves it.

Scoring and storing keep an interpreter busy, and a token that a user waits for would stand in that
line. So calls pass in a process of their own. It gets the port's socket, and hands back what it
captured; when it dies it is started again, and callers wait in line meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from contextlib import suppress

from collector.proxy.line import Arrivals, Orders, send
from collector.servers import bound, shown

RESTART_S = 0.5
"""Pause before a process that died is started again."""
_LAST_WORD_S = 8.0
"""What it is given to end beside the time for its calls."""
_LOG = logging.getLogger(__name__)


class RelayPort:
    """The proxy's port; a peer of the other ports."""

    def __init__(self, orders: Orders, arrivals: Arrivals) -> None:
        """Bind at once, so that a taken port is an error before anything starts.

        Args:
            orders: What the process is told.
            arrivals: Takes what it captured.

        Raises:
            ConfigError: The address cannot be bound.
        """
        self._socket = bound("proxy.address", orders.settings.address, listen=True)
        self.address = shown(orders.settings.address, self._socket)
        """As bound; the port is real even when 0 was asked for."""
        self._orders = orders
        self._arrivals = arrivals
        self._stopping = asyncio.Event()
        self._line: socket.socket | None = None

    async def open(self) -> None:
        """Do nothing: callers wait in line since it was made."""

    async def run(self) -> None:
        """Serve until told to stop, then wait for the calls under way."""
        while not self._stopping.is_set():
            process = self._start()
            ended = asyncio.create_task(asyncio.to_thread(process.wait))
            told = asyncio.create_task(self._stopping.wait())
            await asyncio.wait((ended, told), return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            if self._stopping.is_set():
                await self._await_end(process, ended)
                return
            _LOG.error("the proxy's process ended with %s; it is started again", ended.result())
            self._hang_up()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), RESTART_S)

    def stop(self) -> None:
        """Take no more calls and finish those under way."""
        # Both processes hold the socket; callers are turned away when neither does.
        self._socket.close()
        self._hang_up()
        self._stopping.set()

    def close(self) -> None:
        """Let go of the port, started or not."""
        self._socket.close()

    def _start(self) -> subprocess.Popen[bytes]:
        ours, theirs = socket.socketpair()
        with theirs:
            files = (self._socket.fileno(), theirs.fileno())
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "collector.proxy.relay", *map(str, files)],
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        with suppress(OSError):  # it died at once, which run() sees
            send(ours, self._orders)
        self._line = ours.dup()
        self._arrivals.attach(ours)
        return process

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_WR)
            line.close()

    async def _await_end(self, process: subprocess.Popen[bytes], ended: asyncio.Task[int]) -> None:
        patience = self._orders.settings.drain_timeout_s + _LAST_WORD_S
        try:
            await asyncio.wait_for(asyncio.shield(ended), patience)
        except TimeoutError:
            process.kill()
            await ended
