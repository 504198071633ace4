"""Connect to ClickHouse through clickhouse-connect, and name what it refuses.

Imported when a store is first used: the client and the engine take seconds to load, and
receiving does not wait for them.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from urllib3.exceptions import HTTPError

from collector.errors import ConfigError, StoreUnavailableError
from collector.stores.refusals import insert_error, line, query_error

_SETTINGS = {
    "async_insert": 0,  # acknowledged means written, and fsync_after_insert means durable
    "date_time_input_format": "basic",  # `best_effort` misreads times near 1970
    "input_format_parallel_parsing": 0,  # twice the processor time for our batch sizes
    "max_partitions_per_insert_block": 0,  # a replay of old recordings touches many days
    "output_format_json_quote_64bit_integers": 0,
}
_REFUSALS = (ClickHouseError, HTTPError, OSError)


class Connection:
    """One connection; calls on it wait for one another."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def use(self, database: str) -> None:
        """Name the database; at connect time that fails until it exists."""
        self._client.database = database

    def insert(self, table: str, columns: Sequence[str], block: bytes) -> None:
        """Insert rows spelled as one JSON array a line.

        Raises:
            StoreUnavailableError: the same call may succeed later.
            PoisonRowError: one of the rows can never be written.
            InsertRefusedError: a row, the table or the server is at fault.
        """
        try:
            self._client.raw_insert(table, columns, block, fmt="JSONCompactEachRow")
        except _REFUSALS as error:
            raise insert_error(error) from error

    def query(self, sql: str, parameters: Mapping[str, Any]) -> bytes:
        """Run a query; one JSON object a line.

        Raises:
            StoreUnavailableError: the server did not answer.
            PermanentError: the query was refused.
        """
        try:
            body: bytes = self._client.raw_query(
                sql, parameters=dict(parameters), fmt="JSONEachRow"
            )
        except _REFUSALS as error:
            raise query_error(error) from error
        return body

    def command(
        self, sql: str, *, parameters: Mapping[str, Any] | None = None, use_database: bool = True
    ) -> object:
        """Run a statement and return its single value, if it has one.

        Raises:
            StoreUnavailableError: the server did not answer.
            PermanentError: the statement was refused.
        """
        try:
            found: object = self._client.command(
                sql, parameters=dict(parameters or {}), use_database=use_database
            )
        except _REFUSALS as error:
            raise query_error(error) from error
        return found

    def close(self) -> None:
        """Close it."""
        self._client.close()


def to_engine(directory: Path) -> Connection:
    """Connect to the embedded engine in a directory.

    Raises:
        ConfigError: the engine cannot be loaded or cannot open the directory.
    """
    try:
        return Connection(
            clickhouse_connect.get_client(
                interface="chdb",
                path=str(directory),
                settings=dict(_SETTINGS),
                show_clickhouse_errors="scrub",
            )
        )
    except ImportError as error:
        raise ConfigError(f"store: the embedded engine cannot be loaded: {error}") from error
    except _REFUSALS as error:
        raise ConfigError(
            f"store: cannot open {directory}: {line(error)}; stop the process that holds it,"
            " make it writable, or choose another --data-dir"
        ) from error


def to_server(url: SplitResult, *, user: str, password: str, timeout_s: float) -> Connection:
    """Connect to a server over HTTP(S).

    Raises:
        StoreUnavailableError: it did not answer, or did not let us in.
    """
    # The client logs a traceback with each lost connection; we raise it and count it.
    logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
    try:
        return Connection(
            clickhouse_connect.get_client(
                interface=url.scheme,
                host=url.hostname,
                port=url.port or (8443 if url.scheme == "https" else 8123),
                proxy_path=url.path,
                username=url.username or user,
                password=url.password or password,
                settings=dict(_SETTINGS),
                show_clickhouse_errors="scrub",
                autogenerate_session_id=False,
                connect_timeout=min(10, math.ceil(timeout_s)),
                send_receive_timeout=math.ceil(timeout_s),
                query_retries=0,
                client_name="outrider",
                dedicated_pool=True,
            )
        )
    except _REFUSALS as error:
        raise StoreUnavailableError(line(error)) from error
