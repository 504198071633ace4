"""Pass acknowledged requests from the receivers to the pipeline without reading them back."""

from __future__ import annotations

import threading

from collector.journal_records import Entry
from collector.otlp import Batch


class Handoff:
    """Hold parsed requests by journal id, up to a size; what does not fit is read back later."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._through = 0
        """Requests up to this id were taken, from here or from the journal."""
        self._items: dict[int, tuple[Entry, Batch]] = {}
        self._lock = threading.Lock()
        self._arrived = threading.Event()

    def offer(self, entry: Entry, batch: Batch) -> None:
        """Take in a request that is durable; ``entry`` carries its id."""
        with self._lock:
            if entry.id > self._through and self._size + len(entry.body) <= self._limit:
                self._items[entry.id] = (entry, batch)
                self._size += len(entry.body)
        self._arrived.set()

    def wake(self) -> None:
        """Tell the pipeline that something happened."""
        self._arrived.set()

    def take(self, id: int) -> tuple[Entry, Batch] | None:
        """Return one request, if it is here; it will not be taken in again."""
        with self._lock:
            item = self._items.pop(id, None)
            if item is not None:
                self._size -= len(item[0].body)
                self._through = max(self._through, id)
            return item

    def skip(self, id: int) -> None:
        """Note that a request was read from the journal instead."""
        with self._lock:
            self._through = max(self._through, id)

    def wait(self, timeout_s: float) -> None:
        """Wait until something arrives."""
        self._arrived.wait(timeout_s)
        self._arrived.clear()
