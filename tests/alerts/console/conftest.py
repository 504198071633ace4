"""Give each test of the console an empty, migrated store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collector.stores.clickhouse import ClickHouseStore


# Closed with the package: a process can hold one engine's directory at a time.
@pytest.fixture(scope="package")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open and migrate a store; retention off, so that old test data stays."""
    store = ClickHouseStore.embedded(tmp_path_factory.mktemp("console") / "store")
    store.migrate(ttl_days=0, verdict_days=0)
    yield store
    store.close()


@pytest.fixture
def store(migrated: ClickHouseStore) -> ClickHouseStore:
    """Empty the tables."""
    emptied(migrated)
    return migrated


def emptied(migrated: ClickHouseStore) -> None:
    """Leave no row in any table."""
    for row in migrated.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
        " AND name != 'schema_migrations'"
    ):
        migrated.command(f"TRUNCATE TABLE {row['name']}")
