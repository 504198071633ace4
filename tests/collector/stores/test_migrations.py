"""Test the schema and its retention on the embedded engine."""

from __future__ import annotations

import msgspec
import pytest

from collector.errors import StoreUnavailableError
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.migrations import MIGRATIONS, statements
from collector.stores.rows import rows_of
from collector.stores.tables import TABLES
from tests.collector.stores.episodes import decided

pytestmark = pytest.mark.parametrize("migrated", ["embedded"], indirect=True, scope="package")


def test_a_second_run_does_nothing(store: ClickHouseStore) -> None:
    """An up-to-date schema has nothing to run."""
    assert store.migrate(ttl_days=0, verdict_days=0) == []


def test_the_columns_are_those_of_the_rows(store: ClickHouseStore) -> None:
    """Each table's stored columns are those that rows carry, in order."""
    found: dict[str, list[str]] = {}
    for row in store.query(
        "SELECT table, name FROM system.columns WHERE database = currentDatabase()"
        " AND default_kind != 'MATERIALIZED' ORDER BY table, position"
    ):
        found.setdefault(row["table"], []).append(row["name"])
    assert {table: tuple(found[table]) for table in TABLES} == TABLES


def test_every_table_is_durable_on_insert(store: ClickHouseStore) -> None:
    """Each of our tables fsyncs what it is given."""
    rows = store.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase()"
        " AND engine LIKE '%MergeTree' AND engine_full NOT LIKE '%fsync_after_insert = 1%'"
    )
    assert [row["name"] for row in rows] == ["schema_migrations"]


def test_a_dry_run_tells_and_changes_nothing(migrated: ClickHouseStore) -> None:
    """A dry run on a missing database lists all statements and creates nothing."""
    other = ClickHouseStore(migrated._connect, database="other")  # noqa: SLF001  # same engine, second database
    planned = other.migrate(dry_run=True)
    assert planned[0] == "CREATE DATABASE IF NOT EXISTS other"
    assert len(planned) > sum(len(statements(name)) for name in MIGRATIONS)
    assert not other.has_database()
    other.close()


def test_an_interrupted_migration_is_finished(migrated: ClickHouseStore) -> None:
    """A migration that died half-way is run again from its start."""
    other = ClickHouseStore(migrated._connect, database="half")  # noqa: SLF001  # same engine, second database
    other.command("CREATE DATABASE half", use_database=False)
    other.command(statements("0001_traces")[0])
    assert other.migrate()
    assert other.migrate() == []
    other.command("DROP DATABASE half", use_database=False)
    other.close()


def test_retention_follows_the_setting(store: ClickHouseStore) -> None:
    """Days of retention are set, changed and taken away, each once."""
    changed = store.migrate(ttl_days=7, verdict_days=90)
    assert (
        "ALTER TABLE otel_traces MODIFY TTL toDateTime(Timestamp) + toIntervalDay(7)" in changed[0]
    )
    assert store.migrate(ttl_days=7, verdict_days=90) == []
    assert all(
        "toIntervalDay(9)" in statement for statement in store.migrate(ttl_days=9, verdict_days=90)
    )
    assert all("REMOVE TTL" in statement for statement in store.migrate(ttl_days=0, verdict_days=0))


def test_content_goes_and_the_head_stays(store: ClickHouseStore) -> None:
    """After its days an episode's content is gone, while its head and verdicts remain."""
    store.migrate(ttl_days=30, verdict_days=0)
    old = msgspec.structs.replace(decided(), decided_ns=10**18)
    store.insert(rows_of(old))
    for table in ("conversations", "tool_calls", "scores"):
        store.command(f"OPTIMIZE TABLE {table} FINAL")
    assert store.query("SELECT agent, messages, system_prompt, llm_calls FROM conversations") == [
        {"agent": "shop", "messages": "", "system_prompt": "", "llm_calls": ""}
    ]
    assert store.query("SELECT count() AS n FROM tool_calls") == [{"n": 0}]
    assert store.query("SELECT count() AS n FROM scores") == [{"n": 1}]
    store.migrate(ttl_days=0, verdict_days=0)


def test_a_full_disk_gets_no_tables(store: ClickHouseStore) -> None:
    """The embedded engine would leave half a table behind; without anything to do it needs no room."""
    room, usual, found = [0], store._room, store.database  # noqa: SLF001 - the disk's place
    store._room, store.database = lambda: room[0], "on_a_full_disk"  # noqa: SLF001 - as above
    try:
        with pytest.raises(StoreUnavailableError, match="less than 64 MiB free"):
            store.migrate()
        assert not store.has_database()
        room[0] = 1 << 30
        assert store.migrate()
        room[0] = 0
        assert store.migrate() == []
        store.command("DROP DATABASE on_a_full_disk", use_database=False)
    finally:
        store._room, store.database = usual, found  # noqa: SLF001 - as above
