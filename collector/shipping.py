"""Hand committed outbox rows to the store writer, and note what it has stored.

While the store is slow or down, rows stay in the outbox and only their ids in memory; the
pipeline never waits for the store.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Protocol

from collector.assembler import Assembler
from collector.errors import RetryableError
from collector.fault import told
from collector.journal_records import OutboxRow
from collector.outbox import decode, rows_in
from collector.pins import Pins
from collector.reading import Reader
from collector.stores.writer import StoreBatch
from collector.telemetry import Span
from collector.work import Sent, Work

_LOG = logging.getLogger(__name__)

Rows = dict[str, list[Any]]
_VALUE_BYTES = 4
"""What a value takes beside its text: quotes and a comma, or its digits."""


class Outlet(Protocol):
    """What takes batches to the store."""

    @property
    def waiting_bytes(self) -> int:
        """Bytes queued or being written."""

    def submit(self, batch: StoreBatch, stop: threading.Event) -> bool:
        """Queue one batch."""


class Shipping:
    """Keep outbox rows moving to the store, in order."""

    def __init__(
        self,
        *,
        outlet: Outlet,
        outbox: Callable[[int, int], list[OutboxRow]],
        reader: Reader,
        span_rows: Callable[[Sequence[Span], float], Rows],
        assembler: Assembler,
        pins: Pins,
        limit: int,
    ) -> None:
        self._outlet = outlet
        self._outbox = outbox
        self._reader = reader
        self._span_rows = span_rows
        self._assembler = assembler
        self._pins = pins
        self._limit = limit
        self._stop = threading.Event()
        self._waiting: deque[int] = deque()
        """Ids of outbox rows that the writer had no room for."""
        self._held: list[int] = []
        """Ids of outbox rows that are not to be sent yet."""
        self._sent: dict[int, Sent] = {}
        self._stored: deque[int] = deque()
        self.coming = False
        """Whether a row is being committed, or is and has not been handed over yet."""

    @property
    def unstored(self) -> int:
        """Return how many outbox rows the store does not have yet, too many by one at times."""
        return len(self._waiting) + len(self._held) + len(self._sent) + self.coming

    def restore(self, row: OutboxRow) -> None:
        """Take over a row that an earlier process left."""
        payload = decode(row.payload)
        for request in payload.pinned:
            self._pins.pin(request)
        self._waiting.append(row.id)

    def hold(self, ids: Container[int]) -> None:
        """Keep rows that wait from being sent, until ``let_go``."""
        self._held.extend(row for row in self._waiting if row in ids)
        self._waiting = deque(row for row in self._waiting if row not in ids)

    def let_go(self, instead: Mapping[int, int]) -> None:
        """Send what was held, some rows by the id of what was written in their place."""
        self._waiting.extendleft(instead.get(row, row) for row in reversed(self._held))
        self._held.clear()

    def stored(self, ids: Sequence[int]) -> None:
        """Note that rows are durable in the store; called on the writer's thread."""
        self._stored.extend(ids)

    def ship(self, id: int, work: Work) -> None:
        """Hand over what was just committed, from memory if there is room."""
        sent = Sent(episodes=list(work.episodes), pinned=work.pinned)
        try:
            sent_now = not self._waiting and self._send(id, sent, work.rows, work.spans)
        except Exception as error:  # noqa: BLE001 - see below
            self._park(work, id, error)
            return
        if not sent_now:
            self._waiting.append(id)

    def _park(self, work: Work, id: int, error: Exception) -> None:
        """Leave a row that we fail on in the outbox for the next release, and go on with the rest."""
        _LOG.error("outbox row %s cannot be sent: %s", id, told(error))
        work.count("store_errors_total", kind="unreadable")

    def settle(self, work: Work, *, send: bool = True) -> None:
        """Let go of what was stored, and send what waited."""
        while self._stored:
            outbox_id = self._stored.popleft()
            sent = self._sent.pop(outbox_id)
            self._pins.unpin_all(sent.pinned)
            work.drop_outbox.append(outbox_id)
            work.stored.extend(self._assembler.stored(sent.episodes))
        while send and self._waiting and self._has_room(0):
            rows = self._outbox(self._waiting[0] - 1, 1)
            if not rows or rows[0].id != self._waiting[0]:
                self._waiting.popleft()
                continue
            try:
                if not self._send_again(rows[0]):
                    break
            except RetryableError:
                break
            except Exception as error:  # noqa: BLE001 - one row must not keep the others
                self._park(work, rows[0].id, error)
            self._waiting.popleft()

    def _send_again(self, row: OutboxRow) -> bool:
        payload = decode(row.payload)
        spans = [(kept.probability, self._reader.spans(kept.refs)) for kept in payload.kept]
        sent = Sent(episodes=payload.episodes, pinned=payload.pinned)
        return self._send(row.id, sent, rows_in(payload), spans)

    def _send(
        self,
        id: int,
        sent: Sent,
        rows: dict[str, list[Any]],
        spans: Sequence[tuple[float, list[Span]]],
    ) -> bool:
        if not self._has_room(0):
            return False
        batch: Rows = {table: list(lines) for table, lines in rows.items()}
        for probability, kept in spans:
            for table, lines in self._span_rows(kept, probability).items():
                batch.setdefault(table, []).extend(lines)
        size = sum(_size(lines) for lines in batch.values())
        if not self._has_room(size):
            return False
        self._sent[id] = sent
        taken = self._outlet.submit(
            StoreBatch(outbox_id=id, rows=batch, size=size, episodes=max(1, len(sent.episodes))),
            self._stop,
        )
        if not taken:
            del self._sent[id]
        return taken

    def _has_room(self, size: int) -> bool:
        waiting = self._outlet.waiting_bytes
        return not waiting or waiting + size <= self._limit


def _size(rows: Sequence[Any]) -> int:
    """Estimate the bytes of some rows from their first few."""
    if not rows:
        return 0
    sample = rows[:8]
    return sum(map(_weight, sample)) * len(rows) // len(sample)


def _weight(value: Any) -> int:
    """Estimate the bytes of a value; text counts in full, anything else is small."""
    if isinstance(value, str):
        return len(value) + _VALUE_BYTES
    if isinstance(value, dict):
        return sum(map(_weight, value.values())) + sum(map(len, value)) + _VALUE_BYTES
    if isinstance(value, (list, tuple)):
        return sum(map(_weight, value)) + _VALUE_BYTES
    return _VALUE_BYTES
