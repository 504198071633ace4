"""Know how far each log that can be read again was read, and what is still held from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from collector.journal_records import ReadPosition


def write_positions(connection: sqlite3.Connection, positions: Sequence[ReadPosition]) -> None:
    """Note how far logs were read."""
    connection.executemany(
        "INSERT OR REPLACE INTO positions (source, next_offset, taken) VALUES (?, ?, ?)",
        ((place.source, place.next_offset, place.taken) for place in positions),
    )


def drop_sources(connection: sqlite3.Connection, sources: Sequence[str]) -> None:
    """Forget logs; requests that were read from them stay, as if they had been sent to us."""
    for source in sources:
        connection.execute("DELETE FROM positions WHERE source = ?", (source,))
        connection.execute("UPDATE requests SET source = '' WHERE source = ?", (source,))


def read_positions(connection: sqlite3.Connection) -> dict[str, ReadPosition]:
    """Return how far each log was read, by source."""
    return {
        source: ReadPosition(source=source, next_offset=offset, taken=bool(taken))
        for source, offset, taken in connection.execute(
            "SELECT source, next_offset, taken FROM positions"
        )
    }


def oldest(connection: sqlite3.Connection, source: str) -> int | None:
    """Return the offset of the oldest request that is kept of a log; ``None`` for none."""
    found: int | None = connection.execute(
        "SELECT min(source_offset) FROM requests WHERE source = ? AND source <> ''", (source,)
    ).fetchone()[0]
    return found


def held_sources(connection: sqlite3.Connection) -> list[str]:
    """List the logs of which requests are kept."""
    return [
        row[0]
        for row in connection.execute("SELECT DISTINCT source FROM requests WHERE source <> ''")
    ]


def requests_of(connection: sqlite3.Connection, source: str) -> dict[int, int]:
    """Return the ids of the requests that are kept of a log, with the number of their items."""
    return dict(
        connection.execute(
            "SELECT id, items FROM requests WHERE source = ? AND source <> '' ORDER BY id",
            (source,),
        ).fetchall()
    )


def sources_of(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the log of each of these requests that came from one."""
    return dict(
        connection.execute(
            "SELECT id, source FROM requests WHERE source <> ''"
            " AND id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(ids)).decode(),),
        ).fetchall()
    )
