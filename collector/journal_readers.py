"""Lend read-only connections to whoever reads the journal."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector.errors import RetryableError
from collector.journal_schema import open_reader


class Readers:
    """Keep the connections that are not in use; a reader never waits for the writer or another.

    A loan is for one short query: as long as it lasts the write-ahead file cannot start over.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] | None = []
        """``None`` once closed."""

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for the length of a ``with`` block.

        Raises:
            RetryableError: The file cannot be read, or the journal is closed.
        """
        with self._lock:
            if self._idle is None:
                raise RetryableError("the journal is closed")
            connection = self._idle.pop() if self._idle else None
        try:
            if connection is None:
                connection = open_reader(self._path)
            yield connection
        except sqlite3.Error as error:
            raise RetryableError(f"{self._path}: cannot be read: {error}") from error
        finally:
            if connection is not None:
                self._give_back(connection)

    def close(self) -> None:
        """Close the connections that are not lent, and the others as they come back."""
        with self._lock:
            idle, self._idle = self._idle, None
        for connection in idle or ():
            connection.close()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if self._idle is not None:
                self._idle.append(connection)
                return
        connection.close()
