"""Open the journal's SQLite file: its tables, its pragmas, and what to say when it cannot be used."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from collector.errors import ConfigError

APPLICATION_ID = 0x4F545231
"""``OTR1`` in the file's header: how we know our own file from somebody else's database."""

PAGE_BYTES = 8192
"""Bodies are tens of kilobytes, so a page larger than SQLite's 4 KiB saves chain links."""

WAL_LIMIT_BYTES = 64 * 1024 * 1024
"""To what the write-ahead file is cut back after a checkpoint."""

CHECKPOINT_PAGES = 128
"""Pages in the write-ahead file that start a checkpoint: 1 MiB, since whoever waits for a commit
waits for the checkpoint too; 32 MiB made the slowest acknowledgements ten times slower."""

CHECKED_BYTES = 64 * 1024 * 1024
"""Largest file that is checked throughout when opened; receiving must not wait for a longer read."""

LOCK_WAIT_S = 5.0
"""How long another program, such as a backup, may hold the file when it is opened."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # AUTOINCREMENT: an id must not be given twice, or the watermark would hide a new row.
        """CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            received_ns INTEGER NOT NULL,
            receiver TEXT NOT NULL,
            signal TEXT NOT NULL,
            encoding TEXT NOT NULL,
            tenant TEXT NOT NULL,
            credential TEXT NOT NULL,
            items INTEGER NOT NULL,
            size INTEGER NOT NULL,
            body BLOB NOT NULL
        )""",
        """CREATE TABLE episodes (
            episode_id TEXT PRIMARY KEY,
            conversation_key TEXT NOT NULL,
            number INTEGER NOT NULL,
            decided_ns INTEGER NOT NULL,
            free_at_ns INTEGER NOT NULL,
            stored INTEGER NOT NULL,
            record BLOB NOT NULL
        )""",
        """CREATE TABLE conversations (
            key TEXT PRIMARY KEY,
            touched_ns INTEGER NOT NULL,
            record BLOB NOT NULL
        )""",
        "CREATE INDEX conversations_touched ON conversations (touched_ns)",
        """CREATE TABLE tips (
            tip BLOB PRIMARY KEY,
            key TEXT NOT NULL,
            touched_ns INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX tips_touched ON tips (touched_ns)",
        """CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            created_ns INTEGER NOT NULL,
            payload BLOB NOT NULL
        )""",
        """CREATE TABLE totals (
            name TEXT NOT NULL,
            labels TEXT NOT NULL,
            value REAL NOT NULL,
            PRIMARY KEY (name, labels)
        ) WITHOUT ROWID""",
        """CREATE TABLE seen (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            count INTEGER NOT NULL,
            keys BLOB NOT NULL
        )""",
        """CREATE TABLE meta (
            name TEXT PRIMARY KEY,
            value NOT NULL
        ) WITHOUT ROWID""",
    ),
    (
        "ALTER TABLE requests ADD COLUMN source TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE requests ADD COLUMN source_offset INTEGER NOT NULL DEFAULT -1",
        """CREATE INDEX requests_source ON requests (source, source_offset)
            WHERE source <> ''""",
        """CREATE TABLE positions (
            source TEXT PRIMARY KEY,
            next_offset INTEGER NOT NULL,
            taken INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE TABLE withdrawn (key BLOB PRIMARY KEY) WITHOUT ROWID",
    ),
)
"""Statements that lead from each ``user_version`` to the next; only ever appended to."""


def open_writer(
    path: Path, *, producer: str, now_ns: int, lock_wait_s: float = LOCK_WAIT_S
) -> sqlite3.Connection:
    """Open the one connection that writes, creating or migrating the file; a new one is its owner's.

    Args:
        path: The journal's file; its directory exists.
        producer: The id that a new journal gets.
        now_ns: When a new journal was made.
        lock_wait_s: How long to wait for whoever holds the file.

    Raises:
        ConfigError: The file is damaged, not a journal, newer than this program, or locked.
    """
    try:
        # SQLite gives the files beside it the mode of this one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=lock_wait_s
        )
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: cannot be opened ({reason}); make it writable") from None
    try:
        _prepare(connection, path)
        _migrate(connection, path, producer=producer, now_ns=now_ns)
    except sqlite3.OperationalError as error:
        connection.close()
        raise ConfigError(
            f"{path}: cannot be used ({error}); make the directory writable, and stop whatever"
            " holds the file, or choose another --data-dir"
        ) from None
    except sqlite3.DatabaseError as error:
        connection.close()
        raise ConfigError(
            f"{path}: is damaged or not a journal ({error}); move it away, or choose another"
            " --data-dir"
        ) from None
    except ConfigError:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Open one read-only connection; raises ``sqlite3.Error``."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=30,
    )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Check whose file it is before the first byte of it is changed, then set the pragmas."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise ConfigError(
            f"{path}: is another program's database; move it away, or choose another --data-dir"
        )
    if version > len(MIGRATIONS):
        raise ConfigError(
            f"{path}: was written by a newer version (format {version}, this one knows"
            f" {len(MIGRATIONS)}); upgrade, or choose another --data-dir"
        )
    for pragma in (
        f"page_size = {PAGE_BYTES}",
        "auto_vacuum = INCREMENTAL",
        "journal_mode = WAL",
        "synchronous = FULL",
        "fullfsync = ON",
        "checkpoint_fullfsync = ON",
        f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
        f"journal_size_limit = {WAL_LIMIT_BYTES}",
        # Some builds default to ON, which writes every freed body once more, as zeros.
        "secure_delete = FAST",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _migrate(connection: sqlite3.Connection, path: Path, *, producer: str, now_ns: int) -> None:
    """Bring the file to this version, one transaction a step."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        for statement in MIGRATIONS[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    connection.executemany(
        "INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)",
        (
            ("producer", producer),
            ("created_ns", now_ns),
            ("processed_through", 0),
            ("observation_sequence", 0),
        ),
    )
    if path.stat().st_size <= CHECKED_BYTES:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
