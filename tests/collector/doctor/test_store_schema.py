"""Test what is said of a store, against the real engine over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from collector.doctor.finding import Finding
from collector.doctor.store_schema import store_schema
from collector.stores.clickhouse import ClickHouseStore
from tests.clickhouse_endpoint import Endpoint


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Serve the HTTP interface."""
    with Endpoint(tmp_path_factory.mktemp("endpoint") / "engine") as running:
        yield running


@pytest.fixture
def store(endpoint: Endpoint) -> Iterator[ClickHouseStore]:
    """Open a migrated store."""
    opened = ClickHouseStore.server(endpoint.url, timeout_s=20)
    opened.migrate(ttl_days=0, verdict_days=0)
    yield opened
    opened.close()


def looked(store: ClickHouseStore, *, ahead_s: float = 0.0) -> list[Finding]:
    """Look at a store by a clock that may be wrong."""
    return list(
        store_schema(store, where="here", clock_ns=lambda: time.time_ns() - round(ahead_s * 1e9))
    )


def test_a_sound_store(store: ClickHouseStore) -> None:
    """It answers, has our schema, and its clock is ours."""
    assert [one.status for one in looked(store)] == ["ok", "ok"]


def test_a_wrong_clock(store: ClickHouseStore) -> None:
    """Which of the two is ahead is said."""
    (clock,) = [one for one in looked(store, ahead_s=90) if one.check == "clock"]
    assert clock.status == "warn"
    assert "1.5 min ahead" in clock.says


def test_a_store_without_tables(endpoint: Endpoint) -> None:
    """An empty server is not broken; it waits for its tables."""
    opened = ClickHouseStore.server(endpoint.url, database="empty", timeout_s=20)
    (found,) = looked(opened)
    opened.close()
    assert found.status == "warn"
    assert "outrider migrate" in found.fix


def test_a_newer_schema(store: ClickHouseStore) -> None:
    """What a later release changed is not ours to write into."""
    store.command("INSERT INTO schema_migrations (version, name) VALUES (999, '0999_later')")
    found = looked(store)[0]
    store.command("TRUNCATE TABLE schema_migrations")
    assert found.status == "fail"
    assert "0999_later" in found.says
    assert looked(store)[0].status == "warn"


def test_a_store_that_is_down() -> None:
    """What it says is repeated, with the keys to correct."""
    opened = ClickHouseStore.server("http://127.0.0.1:9", timeout_s=2)
    (found,) = looked(opened)
    opened.close()
    assert found.status == "fail"
    assert "store.url" in found.fix
    assert found.says.endswith(
        "Failed to establish a new connection: [Errno 111] Connection refused"
    )
