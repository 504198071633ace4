"""Write journal records to their tables, inside a transaction that somebody else opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from collector.journal_cipher import BodyCipher
from collector.journal_records import Entry, OutboxRow, Transaction
from collector.totals import Deltas, SeriesKey

INDEX_ROWS = 1_000_000
"""Conversations, and tips, that are remembered; those touched longest ago go first."""

SEEN_ROWS_DROPPED = 1_000
"""Most rows of old span keys dropped in one transaction."""

ENTRY_COLUMNS = (
    "id, received_ns, receiver, signal, encoding, tenant, credential, items, body,"
    " source, source_offset"
)


class Freed(msgspec.Struct, frozen=True, kw_only=True):
    """What the deletion of requests gave back."""

    rows: int = 0
    size: int = 0
    """Bytes of their bodies."""


def insert_entry(
    connection: sqlite3.Connection, entry: Entry, cipher: BodyCipher | None = None
) -> int:
    """Insert a request, its body sealed if there is a cipher, and return its row id."""
    body = cipher.seal(entry.body, _about(entry)) if cipher else entry.body
    cursor = connection.execute(
        "INSERT INTO requests (received_ns, receiver, signal, encoding, tenant, credential, items,"
        " size, body, source, source_offset) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.received_ns,
            entry.receiver,
            entry.signal,
            entry.encoding,
            entry.tenant,
            entry.credential,
            entry.items,
            len(entry.body),
            body,
            entry.source,
            entry.source_offset,
        ),
    )
    return cursor.lastrowid or 0


def entry_of(row: Sequence[object], cipher: BodyCipher | None = None) -> Entry:
    """Read a request from its ``ENTRY_COLUMNS``.

    Raises:
        PermanentError: Its body was sealed and cannot be opened.
    """
    entry = msgspec.convert(dict(zip(Entry.__struct_fields__, row, strict=True)), Entry)
    if cipher is None:
        return entry
    return msgspec.structs.replace(entry, body=cipher.open(entry.body, _about(entry)))


def _about(entry: Entry) -> bytes:
    """Spell what a sealed body belongs to, so that it cannot be passed off as another's."""
    return msgspec.msgpack.encode(
        (
            entry.received_ns,
            entry.receiver,
            entry.signal,
            entry.encoding,
            entry.tenant,
            entry.credential,
        )
    )


def free_requests(connection: sqlite3.Connection, ids: Sequence[int]) -> Freed:
    """Delete requests; ids that are not there are passed over."""
    if not ids:
        return Freed()
    listed = (msgspec.json.encode(list(ids)).decode(),)
    rows, size = connection.execute(
        "SELECT count(*), coalesce(sum(size), 0) FROM requests"
        " WHERE id IN (SELECT value FROM json_each(?))",
        listed,
    ).fetchone()
    connection.execute("DELETE FROM requests WHERE id IN (SELECT value FROM json_each(?))", listed)
    return Freed(rows=rows, size=size)


def write_conclusions(connection: sqlite3.Connection, transaction: Transaction) -> None:
    """Write the watermarks, episodes, conversations and tips of a transaction."""
    _raise_meta(connection, "processed_through", transaction.processed_through)
    _raise_meta(connection, "observation_sequence", transaction.observation_sequence)
    connection.executemany(
        "DELETE FROM episodes WHERE episode_id = ?", _single(transaction.drop_episodes)
    )
    connection.executemany("DELETE FROM tips WHERE tip = ?", _single(transaction.drop_tips))
    connection.executemany(
        "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                row.episode_id,
                row.conversation_key,
                row.number,
                row.decided_ns,
                row.free_at_ns,
                row.stored,
                row.record,
            )
            for row in transaction.episodes
        ),
    )
    connection.executemany(
        "UPDATE episodes SET stored = 1 WHERE episode_id = ?",
        _single(transaction.stored_episodes),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO conversations VALUES (?, ?, ?)",
        ((row.key, row.touched_ns, row.record) for row in transaction.conversations),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO tips VALUES (?, ?, ?)",
        ((row.tip, row.key, row.touched_ns) for row in transaction.tips),
    )


def write_outbox(
    connection: sqlite3.Connection, *, drop: Sequence[int], rows: Sequence[OutboxRow]
) -> list[int]:
    """Delete what the store has, add what it must be given, and return the ids of the added."""
    connection.executemany("DELETE FROM outbox WHERE id = ?", _single(drop))
    ids: list[int] = []
    for row in rows:
        cursor = connection.execute(
            "INSERT INTO outbox (created_ns, payload) VALUES (?, ?)", (row.created_ns, row.payload)
        )
        ids.append(cursor.lastrowid or 0)
    return ids


def raise_totals(connection: sqlite3.Connection, deltas: Mapping[SeriesKey, float]) -> None:
    """Add to the totals."""
    connection.executemany(
        "INSERT INTO totals (name, labels, value) VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET value = value + excluded.value",
        (
            (name, msgspec.json.encode(labels).decode(), amount)
            for (name, labels), amount in deltas.items()
        ),
    )


def read_totals(connection: sqlite3.Connection) -> Deltas:
    """Read every total."""
    return {
        (name, msgspec.json.decode(labels, type=tuple[tuple[str, str], ...])): value
        for name, labels, value in connection.execute("SELECT name, labels, value FROM totals")
    }


def append_seen(connection: sqlite3.Connection, words: bytes, count: int) -> None:
    """Append a row of hashed span keys."""
    connection.execute("INSERT INTO seen (count, keys) VALUES (?, ?)", (count, words))


def drop_old_seen(connection: sqlite3.Connection, surplus: int) -> int:
    """Delete the oldest rows of span keys, at most ``surplus`` keys, and return how many went."""
    dropped = 0
    last = 0
    rows = connection.execute(
        "SELECT id, count FROM seen ORDER BY id LIMIT ?", (SEEN_ROWS_DROPPED,)
    ).fetchall()
    for row_id, count in rows:
        if dropped + count > surplus:
            break
        dropped += count
        last = row_id
    connection.execute("DELETE FROM seen WHERE id <= ?", (last,))
    return dropped


def read_seen(connection: sqlite3.Connection) -> bytes:
    """Read all hashed span keys, the oldest first."""
    return b"".join(keys for (keys,) in connection.execute("SELECT keys FROM seen ORDER BY id"))


def drop_old_index(connection: sqlite3.Connection, limit: int = INDEX_ROWS) -> int:
    """Delete the conversations and tips touched longest ago over ``limit``; return how many."""
    dropped = 0
    for table, key in (("conversations", "key"), ("tips", "tip")):
        surplus = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] - limit  # noqa: S608  # names from the line above
        if surplus > 0:
            cursor = connection.execute(
                f"DELETE FROM {table} WHERE {key} IN"  # noqa: S608  # as above
                f" (SELECT {key} FROM {table} ORDER BY touched_ns LIMIT ?)",
                (surplus,),
            )
            dropped += cursor.rowcount
    return dropped


def read_meta(connection: sqlite3.Connection, name: str) -> int | str:
    """Read one of the journal's own values."""
    value: int | str = connection.execute(
        "SELECT value FROM meta WHERE name = ?", (name,)
    ).fetchone()[0]
    return value


def _raise_meta(connection: sqlite3.Connection, name: str, value: int | None) -> None:
    if value is not None:
        connection.execute("UPDATE meta SET value = max(value, ?) WHERE name = ?", (value, name))


def _single(values: Iterable[object]) -> Iterable[tuple[object]]:
    return ((value,) for value in values)
