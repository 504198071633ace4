"""Give each store test an empty, migrated store: embedded, and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.stores.clickhouse import ClickHouseStore
from tests.clickhouse_endpoint import Endpoint


@pytest.fixture(scope="package")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Serve the HTTP interface."""
    with Endpoint(tmp_path_factory.mktemp("endpoint") / "engine") as running:
        yield running


# Closed with the package: a process can hold one engine's directory at a time.
@pytest.fixture(scope="package", params=["embedded", "http"])
def migrated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClickHouseStore]:
    """Open and migrate a store; retention off, so that old test data stays."""
    if request.param == "embedded":
        directory: Path = tmp_path_factory.mktemp("embedded") / "store"
        store = ClickHouseStore.embedded(directory)
    else:
        store = ClickHouseStore.server(request.getfixturevalue("endpoint").url, timeout_s=20)
    store.migrate(ttl_days=0, verdict_days=0)
    yield store
    store.close()


@pytest.fixture
def store(migrated: ClickHouseStore) -> ClickHouseStore:
    """Empty the tables."""
    for row in migrated.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0"
        " AND name != 'schema_migrations'"
    ):
        migrated.command(f"TRUNCATE TABLE {row['name']}")
    return migrated
