"""Write decided episodes to the store on a thread of its own."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from collector.stores.delivery import Count, Delivery, RowSink

_POLL_S = 0.05
"""How soon a blocked ``submit`` notices that the process is stopping."""
_LAST_TRY_S = 0.5
"""What an insert under way is given when there is no more time."""


class StoreBatch(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the outbox."""

    outbox_id: int
    rows: dict[str, list[Any]]
    """Rows by table, as ``rows_of`` built them, before or after a round trip."""
    size: int = 0
    """Bytes, for the limit of the queue."""
    episodes: int = 1


class StoreWriter:
    """Take batches in order, merge them, insert them, and report them stored in order."""

    def __init__(
        self,
        store: RowSink,
        *,
        stored: Callable[[Sequence[int]], None],
        count: Count,
        batch_episodes: int = 500,
        flush_interval_s: float = 1.0,
        queue_bytes: int = 64 * 1024 * 1024,
        prepare: Callable[[], object] | None = None,
        seconds: Callable[[], float] = time.monotonic,
        clock_ns: Callable[[], int] = time.time_ns,
        jitter: Callable[[], float] = random.random,
        pause: Callable[[float], bool] | None = None,
    ) -> None:
        """Keep the limits; ``start`` begins.

        Args:
            store: Where rows go.
            stored: Called on the writer's thread with outbox ids, in order, after their rows
                are durable.
            count: Takes ``store_rows_total{table}`` and ``store_errors_total{kind}``.
            batch_episodes: Most episodes in one insert.
            flush_interval_s: Longest an episode waits for others.
            queue_bytes: Most bytes queued or being written; over it ``submit`` blocks.
            prepare: Called on the thread until it succeeds, before anything is taken.
            seconds: Monotonic clock.
            clock_ns: Wall clock.
            jitter: Gives 0..1.
            pause: Waits between retries, false to give up; by default until ``close``.
        """
        self._stored = stored
        self._batch_episodes = batch_episodes
        self._flush_interval_s = flush_interval_s
        self._queue_bytes = queue_bytes
        self._seconds = seconds
        self._changed = threading.Condition()
        self._queue: deque[StoreBatch] = deque()
        self._bytes = 0
        self._closing = False
        self._give_up = threading.Event()
        self._failure = ""
        self._delivery = Delivery(
            store,
            count=count,
            pause=pause or (lambda pause_s: not self._give_up.wait(pause_s)),
            random=jitter,
            clock_ns=clock_ns,
            seconds=seconds,
            prepare=prepare,
        )
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)

    @property
    def healthy(self) -> bool:
        """Whether the store took the last insert."""
        return not self.last_error

    @property
    def last_error(self) -> str:
        """What the store said last; empty while it takes everything."""
        return self._failure or self._delivery.last_error

    @property
    def waiting_bytes(self) -> int:
        """Bytes queued or being written."""
        return self._bytes

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, batch: StoreBatch, stop: threading.Event) -> bool:
        """Queue one batch; blocks while the queue is full.

        A batch larger than the whole queue is taken when the queue is empty.

        Returns:
            False when the writer closed or ``stop`` was set before there was room.
        """
        with self._changed:
            while not self._closing and not stop.is_set():
                if not self._bytes or self._bytes + batch.size <= self._queue_bytes:
                    self._queue.append(batch)
                    self._bytes += batch.size
                    self._changed.notify_all()
                    return True
                self._changed.wait(_POLL_S)
            return False

    def close(self, timeout_s: float) -> bool:
        """Write what is queued, then end the thread.

        Returns:
            Whether everything was stored; what was not is still in the outbox.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            if self.healthy:  # a store that is down now would cost the whole time
                self._thread.join(timeout_s)
            self._give_up.set()
            self._thread.join(_LAST_TRY_S)
        return not self._queue and not self._bytes

    def _run(self) -> None:
        try:
            if not self._delivery.open():
                return
            while batches := self._take():
                if not self._write(batches):
                    return
        except Exception as error:
            # The thread ends here; /readyz must say so instead of waiting for ever.
            self._failure = f"store writer ended: {error!r}"
            raise

    def _take(self) -> list[StoreBatch]:
        """Wait for batches and merge until one of the limits; empty when closed."""
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            until = self._seconds() + self._flush_interval_s
            while not self._closing and not self._full():
                remaining = until - self._seconds()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            return self._taken()

    def _taken(self) -> list[StoreBatch]:
        """Take what is queued, up to the limit of episodes."""
        batches: list[StoreBatch] = []
        episodes = 0
        while self._queue and (not batches or episodes < self._batch_episodes):
            batches.append(self._queue.popleft())
            episodes += batches[-1].episodes
        return batches

    def _full(self) -> bool:
        # Half the queue, so that the pipeline can fill the other half meanwhile.
        return (
            sum(batch.episodes for batch in self._queue) >= self._batch_episodes
            or 2 * self._bytes >= self._queue_bytes
        )

    def _write(self, batches: list[StoreBatch]) -> bool:
        def more() -> dict[str, list[Any]]:
            with self._changed:
                further = self._taken()
            batches.extend(further)
            return _merged(further)

        if not self._delivery.deliver(_merged(batches), more=more):
            return False
        self._stored([batch.outbox_id for batch in batches])
        with self._changed:
            self._bytes -= sum(batch.size for batch in batches)
            self._changed.notify_all()
        return True


def _merged(batches: Sequence[StoreBatch]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {}
    for batch in batches:
        for table, lines in batch.rows.items():
            rows.setdefault(table, []).extend(lines)
    return rows
