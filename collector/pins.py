"""Count what still needs each journal row, so that a row is freed by itself."""

from __future__ import annotations

from collections.abc import Iterable


class Pins:
    """Hold a count per request; at zero the request may be freed."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        """Return how many requests are pinned."""
        return len(self._counts)

    def holds(self, request: int) -> bool:
        """Return whether anything needs a request."""
        return request in self._counts

    def pin(self, request: int) -> None:
        """Keep a request."""
        self._counts[request] = self._counts.get(request, 0) + 1

    def unpin(self, request: int) -> None:
        """Take one pin back; the last one frees the request."""
        count = self._counts[request] - 1
        if count:
            self._counts[request] = count
        else:
            del self._counts[request]
            self._free.append(request)

    def unpin_all(self, requests: Iterable[int]) -> None:
        """Take back one pin each."""
        for request in requests:
            self.unpin(request)

    def take_free(self) -> list[int]:
        """Return the requests that nothing needs any more, once each.

        A request that was freed and pinned again in between stays.
        """
        free = [request for request in self._free if request not in self._counts]
        self._free = []
        return list(dict.fromkeys(free))
