"""Hold in memory what the journal's file says, as of the last commit."""

from __future__ import annotations

import sqlite3
import threading

from collector.errors import JournalFullError
from collector.journal_tables import read_meta, read_totals
from collector.totals import Deltas, merge


class Mirror:
    """Answer how full the journal is, how far it is processed and what the totals are, at once.

    Changed by the writer after a commit, read by any thread.
    """

    def __init__(self, connection: sqlite3.Connection, *, max_bytes: int) -> None:
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self._queued = 0
        rows, size = connection.execute(
            "SELECT count(*), coalesce(sum(size), 0) FROM requests"
        ).fetchone()
        self._rows: int = rows
        self._bytes: int = size
        self._processed_through = int(read_meta(connection, "processed_through"))
        self._observation_sequence = int(read_meta(connection, "observation_sequence"))
        self._totals = read_totals(connection)

    def reserve(self, size: int) -> None:
        """Set bytes aside for a request that is to be written.

        Raises:
            JournalFullError: There is no room.
        """
        with self._lock:
            if self._bytes + self._queued + size > self._max_bytes:
                raise JournalFullError(
                    f"the journal holds {self._bytes} of {self._max_bytes} bytes"
                )
            self._queued += size

    def release(self, size: int) -> None:
        """Give back bytes whose request was not written."""
        with self._lock:
            self._queued -= size

    def committed(
        self,
        *,
        rows: int,
        written: int,
        freed: int,
        totals: Deltas,
        processed_through: int | None,
        observation_sequence: int | None,
    ) -> None:
        """Take over what a commit made durable.

        Args:
            rows: Requests added less requests freed.
            written: Bytes of the requests added, no longer set aside.
            freed: Bytes of the requests freed.
            totals: By how much the totals rose.
            processed_through: The new watermark, if the commit had one.
            observation_sequence: The last observation's number, if the commit had one.
        """
        with self._lock:
            self._queued -= written
            self._bytes += written - freed
            self._rows += rows
            merge(self._totals, totals)
            self._processed_through = max(self._processed_through, processed_through or 0)
            self._observation_sequence = max(self._observation_sequence, observation_sequence or 0)

    @property
    def bytes_used(self) -> int:
        """Bytes of the bodies kept."""
        return self._bytes

    @property
    def rows(self) -> int:
        """Requests kept."""
        return self._rows

    @property
    def processed_through(self) -> int:
        """The watermark."""
        return self._processed_through

    @property
    def observation_sequence(self) -> int:
        """The last number given to an observation."""
        return self._observation_sequence

    def totals(self) -> Deltas:
        """Copy the totals."""
        with self._lock:
            return self._totals.copy()
