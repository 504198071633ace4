"""Open a real store for the tests of one file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector.stores.clickhouse import ClickHouseStore


@contextmanager
def embedded(directory: Path) -> Iterator[ClickHouseStore]:
    """Open and migrate an embedded store; retention off, so that test data stays."""
    store = ClickHouseStore.embedded(directory / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    try:
        yield store
    finally:
        store.close()


def emptied(store: ClickHouseStore, *tables: str) -> ClickHouseStore:
    """Empty some tables."""
    for table in tables:
        store.command(f"TRUNCATE TABLE {table}")
    return store
