"""Keep what was acknowledged, and what was concluded from it, through any crash.

One SQLite file in WAL mode. A request is durable when ``append``'s future has a result; all that
one step of the pipeline concluded becomes durable together by ``commit``. Every write of every
thread goes through one writer thread, which commits whatever is queued at once, so the price of
an fsync is shared by all who wait for it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec

from collector.directory_lock import DirectoryLock
from collector.errors import RetryableError
from collector.journal_cipher import BodyCipher
from collector.journal_keys import check_keys
from collector.journal_mirror import Mirror
from collector.journal_readers import Readers
from collector.journal_records import (
    ConversationEnd,
    ConversationRow,
    Entry,
    EpisodeRow,
    OutboxRow,
    ReadPosition,
    TipRow,
    Transaction,
)
from collector.journal_schema import LOCK_WAIT_S, open_writer
from collector.journal_sources import held_sources, oldest, read_positions, requests_of, sources_of
from collector.journal_tables import ENTRY_COLUMNS, entry_of, read_meta, read_seen
from collector.journal_withdrawn import WithdrawnKeys
from collector.journal_writer import Append, Commit, Writer
from collector.seen import SeenKeys, unpacked
from collector.totals import Deltas

__all__ = [
    "ConversationEnd",
    "ConversationRow",
    "Entry",
    "EpisodeRow",
    "Journal",
    "OutboxRow",
    "TipRow",
    "Transaction",
]

READ_BYTES = 16 * 1024 * 1024
"""Bodies that one read by range returns before it stops short of its limit."""

SLACK_BYTES = 64 * 1024 * 1024
"""Freed space that the file keeps for what comes next."""

IDLE_S = 1.0
"""Quiet time after which the file is tidied."""

EPISODES_A_READ = 500
"""Episodes fetched at a time, so that no read lasts."""


def _random_id() -> str:
    return uuid.uuid4().hex


class Journal:
    """Hold requests, episodes, conversations, totals and the outbox of one data directory.

    Thread-safe throughout. Open it with ``Journal.open``.
    """

    def __init__(
        self,
        *,
        lock: DirectoryLock,
        path: Path,
        producer: str,
        mirror: Mirror,
        seen: SeenKeys,
        withdrawn: WithdrawnKeys,
        writer: Writer,
        cipher: BodyCipher | None = None,
        clean: Callable[[Entry], Entry] | None = None,
    ) -> None:
        self.producer = producer
        """Random id made with the file; names the one who numbered the observations."""
        self.seen = seen
        """``span_key in journal.seen`` says whether that span was decided."""
        self._withdrawn = withdrawn
        self._lock = lock
        self._mirror = mirror
        self._readers = Readers(path)
        self._writer = writer
        self._cipher = cipher
        self._clean = clean

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        max_bytes: int,
        seen_limit: int,
        clock_ns: Callable[[], int],
        random_id: Callable[[], str] = _random_id,
        slack_bytes: int = SLACK_BYTES,
        idle_s: float = IDLE_S,
        lock_wait_s: float = LOCK_WAIT_S,
        cipher: BodyCipher | None = None,
        clean: Callable[[Entry], Entry] | None = None,
    ) -> Journal:
        """Open the journal, making or migrating its file, and lock its directory.

        Args:
            path: The file; its directory is made when missing.
            max_bytes: Bytes of request bodies kept.
            seen_limit: Span keys remembered.
            clock_ns: Unix time in nanoseconds.
            random_id: Makes a new journal's producer id.
            slack_bytes: Freed space the file keeps before it shrinks.
            idle_s: Quiet time after which the file is tidied.
            lock_wait_s: How long to wait for another program that holds the file.
            cipher: Seals the bodies of requests; ``None`` writes them plain.
            clean: Takes out of a request what must not be written, in the thread that appends it.

        Raises:
            ConfigError: The directory is in use or not writable, or the file is damaged, not a
                journal, newer than this program, or sealed under a key that is not here.
        """
        lock = DirectoryLock(path.parent / "lock")
        try:
            connection = open_writer(
                path, producer=random_id(), now_ns=clock_ns(), lock_wait_s=lock_wait_s
            )
            try:
                check_keys(connection, path, cipher)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        producer = str(read_meta(connection, "producer"))
        earlier = unpacked(read_seen(connection))
        mirror = Mirror(connection, max_bytes=max_bytes)
        withdrawn = WithdrawnKeys(connection)
        seen = SeenKeys(limit=seen_limit, salt=producer.encode(), earlier=earlier)
        writer = Writer(
            connection,
            mirror=mirror,
            seen=seen,
            seen_held=len(earlier),
            withdrawn=withdrawn,
            slack_bytes=slack_bytes,
            idle_s=idle_s,
            cipher=cipher,
        )
        return cls(
            lock=lock,
            path=path,
            producer=producer,
            mirror=mirror,
            seen=seen,
            withdrawn=withdrawn,
            writer=writer,
            cipher=cipher,
            clean=clean,
        )

    def append(self, entry: Entry) -> Future[int]:
        """Queue a request to be made durable; the future gives its row id. Never blocks.

        Its items are added to what was received in the same transaction.

        Raises:
            JournalFullError: Its body would not fit; nothing was queued.
            RetryableError: The journal is closed; from the future: the disk refused.
        """
        entries = (self._clean(entry) if self._clean else entry,)
        return self._append(Append(entries=entries, single=True, future=Future()))

    def append_all(
        self, entries: Sequence[Entry], positions: Sequence[ReadPosition] = ()
    ) -> Future[list[int]]:
        """Queue requests and how far their logs were read, to become durable together.

        The future gives the row ids. Never blocks.

        Raises:
            JournalFullError: The bodies would not fit; nothing was queued.
            RetryableError: The journal is closed; from the future: the disk refused.
        """
        if self._clean:
            entries = [self._clean(entry) for entry in entries]
        return self._append(Append(entries=entries, positions=positions, future=Future()))

    def _append(self, work: Append) -> Future[Any]:
        self._mirror.reserve(work.size)
        try:
            self._writer.submit(work)
        except RetryableError:
            self._mirror.release(work.size)
            raise
        return work.future

    def commit(self, transaction: Transaction) -> Future[list[int]]:
        """Queue a transaction; the future gives the ids of its outbox rows. Never blocks.

        Transactions are written in the order of their calls, but one that fails does not stop the
        next: a caller whose steps build on each other waits for each.

        Raises:
            RetryableError: The journal is closed; from the future: the disk refused.
        """
        future: Future[list[int]] = Future()
        self._writer.submit(Commit(transaction=transaction, future=future))
        return future

    def decided(self, key: bytes) -> bool:
        """Say whether a span is decided, and the decision was not taken back."""
        return key in self.seen and key not in self._withdrawn

    def read(self, ids: Sequence[int]) -> list[Entry]:
        """Read requests by id, in order of id; those already freed are left out."""
        with self._readers.connection() as connection:
            rows = connection.execute(
                f"SELECT {ENTRY_COLUMNS} FROM requests"  # noqa: S608  # a constant
                " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
                (msgspec.json.encode(list(ids)).decode(),),
            )
            return [entry_of(row, self._cipher) for row in rows]

    def after(self, id: int, limit: int) -> list[Entry]:
        """Read the requests after an id, in order: ``limit`` at most, and fewer when they are large.

        Empty only when there are none.
        """
        entries: list[Entry] = []
        size = 0
        with self._readers.connection() as connection:
            rows = connection.execute(
                f"SELECT {ENTRY_COLUMNS} FROM requests WHERE id > ? ORDER BY id LIMIT ?",  # noqa: S608  # a constant
                (id, limit),
            )
            for row in rows:
                entries.append(entry_of(row, self._cipher))
                size += len(entries[-1].body)
                if size >= READ_BYTES:
                    break
            rows.close()
        return entries

    def ids(self) -> list[int]:
        """List the ids of the requests kept, in order."""
        with self._readers.connection() as connection:
            return [row[0] for row in connection.execute("SELECT id FROM requests ORDER BY id")]

    def episodes(self) -> Iterator[EpisodeRow]:
        """Go through the decided episodes; those written or dropped meanwhile may be missed."""
        last = 0
        while True:
            with self._readers.connection() as connection:
                rows = connection.execute(
                    "SELECT rowid, * FROM episodes WHERE rowid > ? ORDER BY rowid LIMIT ?",
                    (last, EPISODES_A_READ),
                ).fetchall()
            if not rows:
                return
            for rowid, *columns in rows:
                last = rowid
                yield _episode(columns)

    def episode(self, episode_id: str) -> EpisodeRow | None:
        """Read one decided episode."""
        with self._readers.connection() as connection:
            row = connection.execute(
                "SELECT * FROM episodes WHERE episode_id = ?", (episode_id,)
            ).fetchone()
        return None if row is None else _episode(row)

    def conversation(self, key: str) -> ConversationRow | None:
        """Read what is remembered of one conversation."""
        with self._readers.connection() as connection:
            row = connection.execute(
                "SELECT key, touched_ns, record FROM conversations WHERE key = ?", (key,)
            ).fetchone()
        return (
            None if row is None else ConversationRow(key=row[0], touched_ns=row[1], record=row[2])
        )

    def tip(self, tip: bytes) -> str | None:
        """Return the key of the conversation whose latest history this is."""
        with self._readers.connection() as connection:
            row = connection.execute("SELECT key FROM tips WHERE tip = ?", (tip,)).fetchone()
        return None if row is None else str(row[0])

    def outbox(self, limit: int, *, after: int = 0) -> list[OutboxRow]:
        """Read what the store must be given next, in order, ``limit`` rows at most.

        ``after`` is the id of the last row that is known already.
        """
        with self._readers.connection() as connection:
            rows = connection.execute(
                "SELECT id, created_ns, payload FROM outbox WHERE id > ? ORDER BY id LIMIT ?",
                (after, limit),
            ).fetchall()
        return [OutboxRow(id=row[0], created_ns=row[1], payload=row[2]) for row in rows]

    def positions(self) -> dict[str, ReadPosition]:
        """Return how far each log was read, by source."""
        with self._readers.connection() as connection:
            return read_positions(connection)

    def oldest(self, source: str) -> int | None:
        """Return the offset of the oldest request that is kept of a log; ``None`` for none."""
        with self._readers.connection() as connection:
            return oldest(connection, source)

    def held_sources(self) -> list[str]:
        """List the logs of which requests are kept."""
        with self._readers.connection() as connection:
            return held_sources(connection)

    def requests_of(self, source: str) -> dict[int, int]:
        """Return the ids of the requests that are kept of a log, with the number of their items."""
        with self._readers.connection() as connection:
            return requests_of(connection, source)

    def sources_of(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the log of each of these requests that came from one."""
        with self._readers.connection() as connection:
            return sources_of(connection, ids)

    def spans_in_flight(self) -> int:
        """Count the spans received and not yet concluded."""
        with self._readers.connection() as connection:
            count: int = connection.execute(
                "SELECT coalesce(sum(items), 0) FROM requests WHERE signal = 'traces'"
                " AND id > (SELECT value FROM meta WHERE name = 'processed_through')"
            ).fetchone()[0]
        return count

    def totals(self) -> Deltas:
        """Copy the totals as of the last commit; cheap."""
        return self._mirror.totals()

    @property
    def processed_through(self) -> int:
        """Requests up to this id are concluded."""
        return self._mirror.processed_through

    @property
    def observation_sequence(self) -> int:
        """The last number given to an observation."""
        return self._mirror.observation_sequence

    @property
    def bytes_used(self) -> int:
        """Bytes of the request bodies kept."""
        return self._mirror.bytes_used

    @property
    def pending(self) -> int:
        """Requests kept."""
        return self._mirror.rows

    @property
    def errors(self) -> int:
        """Transactions that were rolled back since the journal was opened."""
        return self._writer.errors

    @property
    def writable(self) -> bool:
        """Whether the disk took what was last written."""
        return self._writer.writable

    @property
    def commits(self) -> int:
        """Transactions written since the journal was opened."""
        return self._writer.commits

    def close(self) -> None:
        """Write what is queued, empty the write-ahead file and unlock; a second call does nothing."""
        self._readers.close()
        self._writer.close()
        self._lock.release()


def _episode(row: Sequence[object]) -> EpisodeRow:
    return msgspec.convert(
        dict(zip(EpisodeRow.__struct_fields__, row, strict=True)), EpisodeRow, strict=False
    )
