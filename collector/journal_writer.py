"""Write to the journal from one thread, many requests in one commit."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

import msgspec

from collector.errors import PermanentError, RetryableError
from collector.journal_cipher import BodyCipher
from collector.journal_mirror import Mirror
from collector.journal_records import Entry, ReadPosition, Transaction
from collector.journal_sources import drop_sources, write_positions
from collector.journal_tables import (
    Freed,
    append_seen,
    drop_old_index,
    drop_old_seen,
    free_requests,
    insert_entry,
    raise_totals,
    write_conclusions,
    write_outbox,
)
from collector.journal_withdrawn import WithdrawnKeys
from collector.seen import SeenKeys, packed
from collector.totals import Deltas, add, merge

GROUP_BYTES = 8 * 1024 * 1024
"""Bodies in one commit; more wait for the next, so that a burst does not delay its first senders."""

INDEX_CHECK_ROWS = 20_000
"""Conversations and tips written between two checks of their number."""

VACUUM_PAGES = 512
"""Pages given back to the file system in one step; 4 MiB."""


class Append(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Requests to write, all of them or none, and who waits for them."""

    entries: Sequence[Entry]
    positions: Sequence[ReadPosition] = ()
    single: bool = False
    """Whether one id is waited for, not a list."""
    future: Future[Any]

    @property
    def size(self) -> int:
        """Return the bytes of the bodies."""
        return sum(len(entry.body) for entry in self.entries)


class Commit(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A transaction to write, and who waits for it."""

    transaction: Transaction
    future: Future[list[int]]


Work: TypeAlias = Append | Commit


class Writer:
    """Own the connection that writes.

    Whatever is queued when a commit ends is written in the next one. A disk error fails the
    requests in the group, which their senders repeat; the transactions in it are tried once more
    without them, since those free space. Any other error is brought home to the one piece of work
    that caused it. The thread outlives both.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        mirror: Mirror,
        seen: SeenKeys,
        seen_held: int,
        withdrawn: WithdrawnKeys,
        slack_bytes: int,
        idle_s: float,
        cipher: BodyCipher | None = None,
    ) -> None:
        self.errors = 0
        """Transactions that were rolled back, and failures to tidy."""
        self.commits = 0
        self.writable = True
        """Whether the disk took what was last written."""
        self._connection = connection
        self._mirror = mirror
        self._seen = seen
        self._seen_held = seen_held
        self._withdrawn = withdrawn
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        self._slack_pages = slack_bytes // page_bytes
        self._idle_s = idle_s
        self._cipher = cipher
        self._index_rows = 0
        self._tidy = False
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work) -> None:
        """Queue work; never blocks. Raises ``RetryableError`` when closed."""
        with self._gate:
            if self._closed:
                raise RetryableError("the journal is closed")
            self._queue.put(work)

    def close(self) -> None:
        """Write what is queued, end the thread and empty the write-ahead file. Blocks until done."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error:
            self.errors += 1
        self._connection.close()

    def _run(self) -> None:
        last = False
        while not last:
            group, last = self._take()
            if group:
                self._write(group)
                self._tidy = True
            elif self._tidy:
                self._tidy = self._give_back()

    def _take(self) -> tuple[list[Work], bool]:
        """Wait for work, then take all there is; ``True`` when it is the last."""
        group: list[Work] = []
        size = 0
        try:
            work = self._queue.get(timeout=self._idle_s if self._tidy else None)
            while work is not None:
                if work.future.set_running_or_notify_cancel():
                    group.append(work)
                    size += work.size if isinstance(work, Append) else 0
                elif isinstance(work, Append):
                    self._mirror.release(work.size)
                if size >= GROUP_BYTES:
                    return group, False
                work = self._queue.get_nowait()
        except queue.Empty:
            return group, False
        return group, True

    def _write(self, group: list[Work]) -> None:
        """Write a group, or as much of it as can be written, and tell everybody."""
        try:
            self._commit(group)
        except Exception as error:  # noqa: BLE001  # goes to who sent the work; the thread must live
            self._roll_back()
            self.writable = self.writable and not _of_the_disk(error)
            if len(group) == 1:
                self._fail(group[0], error)
            elif _of_the_disk(error):
                for work in group:
                    if isinstance(work, Append):
                        self._fail(work, error)
                commits: list[Work] = [work for work in group if isinstance(work, Commit)]
                if len(commits) == len(group):
                    for work in commits:
                        self._fail(work, error)
                elif commits:
                    self._write(commits)
            else:
                for work in group:
                    self._write([work])

    def _commit(self, group: list[Work]) -> None:
        connection = self._connection
        deltas: Deltas = {}
        hashes: list[int] = []
        decided: list[bytes] = []
        undecided: list[bytes] = []
        results: list[int | list[int]] = []
        appended = written = freed_rows = freed_bytes = index_rows = 0
        processed = sequence = None
        connection.execute("BEGIN IMMEDIATE")
        for work in group:
            if isinstance(work, Append):
                ids = [insert_entry(connection, entry, self._cipher) for entry in work.entries]
                results.append(ids[0] if work.single else ids)
                write_positions(connection, work.positions)
                for entry in work.entries:
                    _count(deltas, entry)
                appended += len(work.entries)
                written += work.size
                continue
            step = work.transaction
            write_conclusions(connection, step)
            results.append(write_outbox(connection, drop=step.drop_outbox, rows=step.outbox))
            freed: Freed = free_requests(connection, step.free)
            drop_sources(connection, step.drop_sources)
            write_positions(connection, step.positions)
            freed_rows += freed.rows
            freed_bytes += freed.size
            merge(deltas, step.totals)
            hashes.extend(map(self._seen.hashed, step.seen))
            decided.extend(step.seen)
            undecided.extend(step.withdrawn)
            index_rows += len(step.conversations) + len(step.tips)
            processed = max(processed or 0, step.processed_through or 0)
            sequence = max(sequence or 0, step.observation_sequence or 0)
        raise_totals(connection, deltas)
        seen_held = self._seen_held + self._write_seen(hashes)
        withdrawn = self._withdrawn.write(connection, decided=decided, withdrawn=undecided)
        if self._index_rows + index_rows >= INDEX_CHECK_ROWS:
            drop_old_index(connection)
            index_rows = -self._index_rows
        connection.execute("COMMIT")
        self.commits += 1
        self.writable = True
        self._seen_held = seen_held
        self._index_rows += index_rows
        self._seen.add(hashes)
        self._withdrawn.take_over(withdrawn)
        self._mirror.committed(
            rows=appended - freed_rows,
            written=written,
            freed=freed_bytes,
            totals=deltas,
            processed_through=processed,
            observation_sequence=sequence,
        )
        for work, result in zip(group, results, strict=True):
            work.future.set_result(result)  # type: ignore[arg-type]  # each kind got its own kind of result above

    def _write_seen(self, hashes: list[int]) -> int:
        """Append span keys, drop those over the limit, and return by how many more are held."""
        if not hashes:
            return 0
        append_seen(self._connection, packed(hashes), len(hashes))
        surplus = self._seen_held + len(hashes) - self._seen.capacity
        return len(hashes) - (drop_old_seen(self._connection, surplus) if surplus > 0 else 0)

    def _roll_back(self) -> None:
        self.errors += 1
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.errors += 1

    def _fail(self, work: Work, error: Exception) -> None:
        if isinstance(work, Append):
            self._mirror.release(work.size)
        if isinstance(error, sqlite3.Error) and _of_the_disk(error):
            work.future.set_exception(RetryableError(f"the journal cannot be written: {error}"))
        else:
            work.future.set_exception(PermanentError(f"the journal cannot hold this: {error!r}"))

    def _give_back(self) -> bool:
        """Return free pages over the slack to the file system; ``True`` when there are more."""
        try:
            free = self._connection.execute("PRAGMA freelist_count").fetchone()[0]
            if free <= self._slack_pages:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                return False
            pages = min(VACUUM_PAGES, free - self._slack_pages)
            # Only executescript runs this pragma to its end; execute would stop after one page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({pages})")
        except sqlite3.Error:
            self.errors += 1
            return False
        return True


def _count(deltas: Deltas, entry: Entry) -> None:
    """Count what was received."""
    if entry.signal == "traces":
        add(deltas, "spans_received_total", entry.items, receiver=entry.receiver)
    elif entry.signal == "logs":
        add(deltas, "log_records_received_total", entry.items, receiver=entry.receiver)


def _of_the_disk(error: Exception) -> bool:
    """Say whether the fault lies with the disk or the file, not with the work."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error,
        sqlite3.IntegrityError
        | sqlite3.ProgrammingError
        | sqlite3.DataError
        | sqlite3.InternalError
        | sqlite3.NotSupportedError,
    )
