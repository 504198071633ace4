"""Test that a tenant is shown its own rows alone, on the embedded engine and over HTTP."""

from __future__ import annotations

import re

import msgspec

from collector.stores.clickhouse import ClickHouseStore
from collector.stores.export import export
from collector.stores.rows import rows_of
from collector.stores.tables import TABLES
from collector.stores.tenancy import filters, of_tenant
from tests.collector.stores.episodes import WHO, decided

HOSTILE = (
    "' OR 1=1 --",
    "\\') OR 1=1 --",
    "a'}, 'scores': '1",
    "{tenant:String}",
    "é\n\x00",
    "a" * 500,
)


def fill(store: ClickHouseStore, *tenants: str) -> None:
    """Store a conversation of each tenant."""
    for number, tenant in enumerate(tenants):
        who = msgspec.structs.replace(WHO, tenant=tenant)
        store.insert(rows_of(decided(f"conv-{number}", who=who, sequence=number + 1)))


def seen(store: ClickHouseStore, tenant: str) -> set[str]:
    """Return the conversations of which a tenant is shown anything."""
    kinds = ("conversations", "scores", "decisions", "observations")
    view = of_tenant(store, tenant)
    return {line["conversation_id"] for kind in kinds for line in export(view, kind)}  # type: ignore[arg-type]  # one of them


def test_each_its_own(store: ClickHouseStore) -> None:
    """A tenant sees its own, who has none sees all, and a stranger nothing."""
    fill(store, "acme", "brill", "")
    assert seen(store, "acme") == {"conv-0"}
    assert seen(store, "brill") == {"conv-1"}
    assert seen(store, "") == {"conv-0", "conv-1", "conv-2"}
    assert seen(store, "acm") == seen(store, "acme ") == set()


def test_names_that_are_no_sql(store: ClickHouseStore) -> None:
    """Whatever a tenant is called, it is a name."""
    fill(store, "acme", *HOSTILE)
    for number, tenant in enumerate(HOSTILE, start=1):
        assert seen(store, tenant) == {f"conv-{number}"}
        assert re.search(r"unhex\(\\'[0-9a-f]+\\'\)", filters(tenant))


def test_every_table(store: ClickHouseStore) -> None:
    """Every table is filtered however a query reads it; one that names no tenant shows nothing."""
    fill(store, "acme", "brill")
    view = of_tenant(store, "acme")
    for table, columns in TABLES.items():
        own = "tenant = 'acme'" if "tenant" in columns else "false"
        expected = store.query(f"SELECT count() AS n FROM {table} WHERE {own}")  # noqa: S608
        for sql in (
            f"SELECT count() AS n FROM {table}",  # noqa: S608
            f"SELECT count() AS n FROM {table} AS t\nSETTINGS max_execution_time = 9",  # noqa: S608
            f"SELECT count() AS n FROM (SELECT 1 FROM {store.database}.{table})",  # noqa: S608
            f"SELECT toUInt64((SELECT count() FROM {table})) AS n",  # noqa: S608
        ):
            assert view.query(sql) == expected, sql
    rows = view.query("SELECT conversation_id FROM scores_current")
    assert rows == [{"conversation_id": "conv-0"}]
