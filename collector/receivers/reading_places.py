"""Bound how many messages are read at a time, and let no slow sender keep the others out."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from collector.errors import RetryableError, SlowError

WAITING = 1024
"""Calls that may wait for others to be read."""
WAIT_S = 5.0
"""How long they wait; exporters give up after 10 seconds."""
PATIENCE_S = 3.0
"""How long a message may take while another one waits for its place; less than that one waits."""


class ReadingPlaces:
    """Places to read at, for one event loop.

    Whoever reads has ``within_s`` as long as there are places. When there are none, each that waits
    takes the time of one that reads: the one that has read longest keeps its place for
    ``patience_s`` since it got it, and is told to try again.
    """

    def __init__(
        self,
        number: int,
        *,
        within_s: float,
        patience_s: float = PATIENCE_S,
        wait_s: float = WAIT_S,
        waiting: int = WAITING,
    ) -> None:
        self._free = number
        self._within_s = within_s
        self._patience_s = patience_s
        self._wait_s = wait_s
        self._most = waiting
        self._queue: deque[asyncio.Future[None]] = deque()
        """Those that wait, longest first."""
        self._readers: dict[asyncio.Timeout, float] = {}
        """Those that read, longest first, with when they began."""
        self._hurried: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place for the length of an ``async with`` block, which ends when its time is up.

        Raises:
            RetryableError: No place became free.
            SlowError: The block took too long.
        """
        await self._take()
        try:
            async with asyncio.timeout(self._within_s) as deadline:
                self._readers[deadline] = asyncio.get_running_loop().time()
                self._hurry()
                try:
                    yield
                finally:
                    del self._readers[deadline]
                    self._hurried.discard(deadline)
        except TimeoutError:
            raise SlowError("the message took too long to arrive") from None
        finally:
            self._release()

    async def _take(self) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._queue) >= self._most:
            raise RetryableError("too many bodies are in flight")
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._hurry()
        try:
            async with asyncio.timeout(self._wait_s):
                await turn
        except BaseException as error:
            if turn in self._queue:
                self._queue.remove(turn)
            elif not turn.cancelled():  # its turn came when nobody waited for it any more
                self._release()
            if isinstance(error, TimeoutError):
                raise RetryableError("too many bodies are in flight") from None
            raise

    def _release(self) -> None:
        """Give a place to the next one that waits, if any."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _hurry(self) -> None:
        """Let as many that read hurry as there are that wait."""
        for deadline, began in self._readers.items():
            if len(self._hurried) >= len(self._queue):
                return
            if deadline not in self._hurried:
                self._hurried.add(deadline)
                deadline.reschedule(min(began + self._patience_s, deadline.when() or began))
