"""Talk to ClickHouse: the embedded engine in a directory, or a server over HTTP."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from collector.config import StoreConfig
from collector.directory_lock import DirectoryLock
from collector.errors import ConfigError, PoisonRowError, StoreUnavailableError
from collector.stores import migrations, retention
from collector.stores.tables import TABLES, Row, Rows

if TYPE_CHECKING:
    from collector.stores.connection import Connection

_CHUNK_BYTES = 32 * 1024 * 1024
"""Sent at once: an insert costs some 20 ms however small, a larger one more memory."""
_ROOM_BYTES = 64 * 1024 * 1024
"""Free space without which the embedded engine is not asked to make tables: on a full disk it
leaves an empty definition behind, and cannot read that again."""
_ENCODED_ROWS = 500
"""Rows encoded between looks at the size; about 6 MB of spans that carry full histories."""
_encoder = msgspec.json.Encoder()
_DATABASE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def open_store(
    config: StoreConfig, data_dir: Path, *, at_first_use: bool = False
) -> ClickHouseStore:
    """Open the store that the configuration names; a server is contacted at first use.

    Args:
        config: The section ``store``.
        data_dir: Where the embedded engine lives.
        at_first_use: Load the embedded engine when it is first used too; its directory is
            locked at once all the same.

    Raises:
        ConfigError: the URL or database name is wrong, ``chdb`` is not installed, or the
            engine's directory is held by another process or not writable.
    """
    if config.url:
        return ClickHouseStore.server(
            config.url,
            user=config.user,
            password=config.password,
            database=config.database,
            timeout_s=config.timeout,
        )
    return ClickHouseStore.embedded(
        data_dir / "store", database=config.database, at_first_use=at_first_use
    )


class ClickHouseStore:
    """Write rows to ClickHouse and read them back, the same way embedded and over HTTP.

    One thread may insert while others query: writing and reading have a connection each,
    on which calls wait for one another. The embedded engine frees the interpreter while
    it works.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        database: str,
        lock: DirectoryLock | None = None,
        room: Callable[[], int] | None = None,
    ) -> None:
        """Keep how to connect; nothing is contacted yet.

        Args:
            connect: Opens a connection.
            database: Name of our database.
            lock: Held until the store is closed.
            room: Gives the free bytes of the embedded engine's disk.

        Raises:
            ConfigError: the database name is not a plain identifier.
        """
        if not _DATABASE.fullmatch(database):
            raise ConfigError(
                f"store.database: {database!r} is not a name; use letters, digits and _"
            )
        self.database = database
        self._connect = connect
        self._lock = lock
        self._room = room
        self._connecting = threading.Lock()
        self._writer: Connection | None = None
        self._reader: Connection | None = None

    @classmethod
    def embedded(
        cls, directory: Path, *, database: str = "outrider", at_first_use: bool = False
    ) -> ClickHouseStore:
        """Open the embedded engine in a directory, made when missing.

        Args:
            directory: The engine's own.
            database: Name of our database.
            at_first_use: Load the engine when it is first used; what it says against the
                directory is raised then.

        Raises:
            ConfigError: ``chdb`` is not installed, or the directory is held by another
                process, not writable, or not the engine's.
        """
        if importlib.util.find_spec("chdb") is None:
            raise ConfigError(
                "store: the embedded engine is not installed; run pip install"
                " 'outrider[embedded]', or set store.url to a ClickHouse server"
            )

        def connect() -> Connection:
            from collector.stores.connection import to_engine  # noqa: PLC0415 - takes seconds

            return to_engine(directory)

        lock = DirectoryLock(directory.with_name(f"{directory.name}.lock"))
        try:
            store = cls(
                connect,
                database=database,
                lock=lock,
                room=lambda: shutil.disk_usage(directory).free,
            )
            _make(directory)
            if not at_first_use:
                store._writer = store._connect()
        except ConfigError:
            lock.release()
            raise
        return store

    @classmethod
    def server(
        cls,
        url: str,
        *,
        user: str = "default",
        password: str = "",
        database: str = "outrider",
        timeout_s: float = 60.0,
    ) -> ClickHouseStore:
        """Name a server by its HTTP(S) URL; it is contacted at first use.

        Raises:
            ConfigError: the URL is not ``http(s)://host[:port]``.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(f"store.url: {url!r} is not a URL; write http(s)://host:8123")

        def connect() -> Connection:
            from collector.stores.connection import to_server  # noqa: PLC0415 - takes a second

            return to_server(parts, user=user, password=password, timeout_s=timeout_s)

        return cls(connect, database=database)

    def migrate(
        self, *, dry_run: bool = False, ttl_days: int = 30, verdict_days: int = 400
    ) -> list[str]:
        """Bring the schema and the retention up to date.

        Args:
            dry_run: Only tell what would be run.
            ttl_days: Days that content (spans, turns, messages, tool calls) is kept; 0 for ever.
            verdict_days: Days that heads, verdicts and the ledger are kept; 0 for ever.

        Returns:
            The statements that were, or would be, run; empty when all is up to date.

        Raises:
            StoreUnavailableError: the server did not answer, or the engine's disk is full.
            PermanentError: a statement was refused.
        """
        if not dry_run and self._room is not None and self._room() < _ROOM_BYTES:
            # Nothing to do needs no room.
            if self.migrate(dry_run=True, ttl_days=ttl_days, verdict_days=verdict_days):
                raise StoreUnavailableError(
                    f"the disk has less than {_ROOM_BYTES // 1024**2} MiB free,"
                    " which the tables are not made on"
                )
            return []
        done = migrations.apply(self, dry_run=dry_run)
        return done + retention.apply(
            self, content_days=ttl_days, verdict_days=verdict_days, dry_run=dry_run
        )

    def insert(self, rows: Rows) -> None:
        """Write rows durably, table by table in the order of ``TABLES``.

        Writing the same rows again changes nothing that readers see.

        Raises:
            StoreUnavailableError: not everything was written; the same call may succeed later.
            PoisonRowError: one of the rows can never be written.
            InsertRefusedError: a row, the table or the server is at fault.
        """
        for table in TABLES:
            for block in _blocks(table, rows.get(table, ())):
                self._writing().insert(table, TABLES[table], block)

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a query and return its rows; ``{name:Type}`` in the text binds a parameter.

        Times come back as text unless the query converts them.

        Raises:
            StoreUnavailableError: the server did not answer.
            PermanentError: the query was refused.
        """
        body = self._reading().query(sql, parameters or {})
        rows: list[dict[str, Any]] = msgspec.json.decode(b"[" + b",".join(body.splitlines()) + b"]")
        return rows

    def command(self, sql: str, *, use_database: bool = True) -> None:
        """Run a statement without a result.

        Raises:
            StoreUnavailableError: the server did not answer.
            PermanentError: the statement was refused.
        """
        self._writing().command(sql, use_database=use_database)

    def has_database(self) -> bool:
        """Tell whether our database exists.

        Raises:
            StoreUnavailableError: the server did not answer.
        """
        found = self._writing().command(
            "SELECT count() FROM system.databases WHERE name = {name:String}",
            parameters={"name": self.database},
            use_database=False,
        )
        return found != 0

    def has_tables(self) -> bool:
        """Return whether the schema is complete, so that something can have been stored.

        Raises:
            StoreUnavailableError: the server did not answer.
        """
        if not self.has_database():
            return False
        found = self.query(
            "SELECT name FROM system.tables WHERE database = {database:String}",
            {"database": self.database},
        )
        return TABLES.keys() <= {row["name"] for row in found}

    def ping(self) -> None:
        """Ask for a sign of life.

        Raises:
            StoreUnavailableError: there is none.
        """
        self._reading().command("SELECT 1", use_database=False)

    def close(self) -> None:
        """Close the connections and free the engine's directory; a second call does nothing."""
        for client in (self._writer, self._reader):
            if client is not None:
                client.close()
        self._writer = self._reader = None
        if self._lock is not None:
            self._lock.release()

    def _writing(self) -> Connection:
        with self._connecting:
            if self._writer is None:
                self._writer = self._connect()
            self._writer.use(self.database)
            return self._writer

    def _reading(self) -> Connection:
        with self._connecting:
            if self._reader is None:
                self._reader = self._connect()
            self._reader.use(self.database)
            return self._reader


def _blocks(table: str, rows: Sequence[Row]) -> Iterator[bytes]:
    """Encode rows, one JSON array a line, in blocks of about ``_CHUNK_BYTES``."""
    parts: list[bytes] = []
    size = 0
    for start in range(0, len(rows), _ENCODED_ROWS):
        try:
            parts.append(_encoder.encode_lines(rows[start : start + _ENCODED_ROWS]))
        except (OverflowError, TypeError, UnicodeEncodeError) as error:
            raise PoisonRowError(f"{table}: {error}") from error
        size += len(parts[-1])
        if size >= _CHUNK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _make(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        refusal = "" if os.access(directory, os.R_OK | os.W_OK | os.X_OK) else "permission denied"
    except OSError as error:
        refusal = error.strerror or str(error)
    if refusal:
        raise ConfigError(
            f"store: cannot open {directory}: {refusal}; make it writable, or choose another"
            " --data-dir"
        )
