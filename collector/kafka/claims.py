"""Let the pipeline go on with what is ours of the logs it was read from, and drop what is not.

What an earlier process left of a log is set aside until it is known that nobody has taken the
log over since. What was taken over is others' to decide: our undecided episodes of it are
dropped, and so are decisions that never reached the store. All of it happens on the pipeline's
thread, between two steps; ``settle`` is how another thread asks for it.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol

import msgspec

from collector.assembler import Assembler
from collector.decision import episode_id
from collector.journal import Journal
from collector.journal_records import Entry, Transaction
from collector.kafka.undelivered import Undelivered
from collector.otlp import Batch
from collector.pins import Pins
from collector.shipping import Shipping

CHUNK = 64
"""Requests that were set aside, read back at a time."""


class Count(Protocol):
    """Raise a total when the step under way is committed."""

    def __call__(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class _Order(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    lost: frozenset[str]
    kept: frozenset[str]
    heads: Mapping[str, str]
    done: Future[None]


class Claims:
    """Know whose the requests are that came from logs; see the module's docstring."""

    def __init__(
        self,
        *,
        journal: Journal,
        assembler: Assembler,
        shipping: Shipping,
        pins: Pins,
        count: Count,
        enabled: bool,
    ) -> None:
        self._journal = journal
        self._assembler = assembler
        self._pins = pins
        self._count = count
        self._enabled = enabled
        self._undelivered = Undelivered(
            journal=journal, assembler=assembler, shipping=shipping, pins=pins, count=count
        )
        self._unsure: frozenset[str] = frozenset()
        self._parked: dict[str, list[int]] = {}
        self._released: deque[int] = deque()
        self._gone: set[int] = set()
        """Requests that were freed before they were processed."""
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._order: _Order | None = None
        self._waiting: list[Future[None]] = []
        self.recovered = threading.Event()
        """Set once ``unsure`` and ``undelivered`` can be asked."""

    # --- what other threads ask

    @property
    def unsure(self) -> frozenset[str]:
        """Logs of which an earlier process left requests that nobody has asked about yet."""
        return self._unsure

    def undelivered(self, sources: Iterable[str]) -> list[str]:
        """Return the ids of episodes that rest on these logs and were not stored when we began."""
        return self._undelivered.resting_on(sources)

    def settle(
        self, *, lost: Iterable[str] = (), kept: Iterable[str] = (), heads: Mapping[str, str]
    ) -> Future[None]:
        """Ask for logs to be dropped and others to be gone on with; the future says when it is done.

        Args:
            lost: Logs that others have read, or read from now on.
            kept: Logs that only we have read.
            heads: What the store has of the ``undelivered`` episodes: id to time of decision.
        """
        order = _Order(lost=frozenset(lost), kept=frozenset(kept), heads=heads, done=Future())
        self._orders.put(order)
        return order.done

    # --- what the pipeline asks

    def recover(self) -> None:
        """Set aside what an earlier process left; everything else is restored by now."""
        if self._enabled:
            self._unsure = frozenset(self._journal.held_sources())
            if self._unsure:
                self._undelivered.recover()
        self.recovered.set()

    def parks(self, entry: Entry) -> bool:
        """Say whether a request, which is pinned, is not to be processed now."""
        if entry.id in self._gone:
            self._gone.discard(entry.id)
            self._pins.unpin(entry.id)
            return True
        if entry.source and entry.source in self._unsure:
            self._parked.setdefault(entry.source, []).append(entry.id)
            return True
        return False

    def obey(self, process: Callable[[Entry, Batch | None], None], cursor: int) -> bool:
        """Do what was asked for, or some of it; say whether there was anything.

        Args:
            process: Processes and unpins a request that was set aside.
            cursor: Id of the last request that was processed or set aside.
        """
        if self._released:
            ids = [self._released.popleft() for _ in range(min(CHUNK, len(self._released)))]
            for entry in self._journal.read(ids):
                process(entry, None)
        elif self._waiting:
            for done in self._waiting:
                done.set_result(None)
            self._waiting.clear()
        elif self._next() is not None:
            self._carry_out(cursor)
        else:
            return False
        return True

    def _next(self) -> _Order | None:
        if self._order is None:
            try:
                self._order = self._orders.get_nowait()
            except queue.Empty:
                return None
        return self._order

    def _carry_out(self, cursor: int) -> None:
        order = self._order
        if order is None:
            return
        if order.lost:
            self._give_up(order.lost, cursor)
        self._undelivered.judge(order.lost, order.heads)
        for source in order.kept:
            self._released.extend(self._parked.pop(source, ()))
        if self._unsure:
            self._unsure = self._unsure - order.kept - order.lost
        if not self._unsure:
            self._undelivered.release()
        self._order = None
        self._waiting.append(order.done)

    def _give_up(self, lost: frozenset[str], cursor: int) -> None:
        held: dict[int, int] = {}
        for source in sorted(lost):
            held |= self._journal.requests_of(source)
            for request in self._parked.pop(source, ()):
                self._pins.unpin(request)
        for request in [request for request in self._released if request in held]:
            self._released.remove(request)
            self._pins.unpin(request)
        dropped, split = self._assembler.abandon(held)
        fresh = [request for request in held if request > cursor]
        self._gone.update(fresh)
        self._free(lost, fresh, dropped)
        self._count(
            "stage_items_total",
            sum(held[request] for request in fresh),
            stage="kafka",
            result="handed_over",
        )
        self._count("kafka_conversations_moved_total", len(dropped), how="handed_over")
        self._count("kafka_conversations_moved_total", split, how="split")

    def _free(
        self, lost: frozenset[str], fresh: Sequence[int], dropped: Sequence[tuple[str, int]]
    ) -> None:
        self._journal.commit(
            Transaction(
                free=fresh,
                drop_sources=sorted(lost),
                drop_episodes=[episode_id(key, number) for key, number in dropped],
            )
        ).result()
