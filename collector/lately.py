"""Remember the requests that were read lately, so that neighbours share one reading.

Conversations that go on side by side stand in the same requests, and each is read again by itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from collector.journal_records import Entry
from collector.telemetry import LogRecord, Span

Items = Sequence[Span | LogRecord]


class Lately:
    """Read and decode requests by id; those used last stay in memory up to a size."""

    def __init__(
        self,
        read: Callable[[Sequence[int]], list[Entry]],
        decode: Callable[[Entry], Items],
        *,
        limit: int,
    ) -> None:
        """Take how to read.

        Args:
            read: Returns the entries of some ids, in order; those that are gone are left out.
            decode: Returns what one holds.
            limit: Bytes of bodies that are remembered; decoded they take a few times as much.
        """
        self._read = read
        self._decode = decode
        self._limit = limit
        self.size = 0
        """Bytes of the bodies remembered."""
        self._known: OrderedDict[int, tuple[Entry, Items]] = OrderedDict()

    def __call__(self, ids: Sequence[int]) -> Iterator[tuple[Entry, Items]]:
        """Yield requests with what they hold, in the order of ``ids``; those that are gone are left out."""
        unknown = {request for request in ids if request not in self._known}
        fresh = {entry.id: entry for entry in self._read(sorted(unknown))} if unknown else {}
        for request in ids:
            found = self._known.pop(request, None)
            if found is None:
                entry = fresh.pop(request, None)
                if entry is None and request not in unknown:
                    # Known when we began, and forgotten since for the sake of the others.
                    entry = next(iter(self._read([request])), None)
                if entry is None:
                    continue
                found = (entry, self._decode(entry))
                self.size += len(entry.body)
            self._known[request] = found
            while self.size > self._limit and len(self._known) > 1:
                _, (old, _) = self._known.popitem(last=False)
                self.size -= len(old.body)
            yield found
