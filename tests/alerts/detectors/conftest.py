"""Give the detection tests a store that is empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.stores.clickhouse import ClickHouseStore


# Closed with the module: a process can hold one engine's directory at a time.
@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open and migrate a store; retention off, so that the tests' years do not matter."""
    directory: Path = tmp_path_factory.mktemp("detection") / "store"
    store = ClickHouseStore.embedded(directory)
    store.migrate(ttl_days=0, verdict_days=0)
    yield store
    store.close()


@pytest.fixture
def store(migrated: ClickHouseStore) -> ClickHouseStore:
    """Empty the tables."""
    for table in ("observations", "detector_state", "detector_points", "alert_events"):
        migrated.command(f"TRUNCATE TABLE {table}")
    return migrated
