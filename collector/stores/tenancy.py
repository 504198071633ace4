"""Show one tenant its own rows and no others, whatever is asked.

The engine itself filters each table wherever a query reads it, in subqueries too, so that no query
can forget to. A table without a column ``tenant`` has nothing to show then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from collector.stores.tables import TABLES


class Asked(Protocol):
    """A store that answers queries."""

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a query and return its rows."""

    def has_tables(self) -> bool:
        """Return whether anything can have been stored."""


class TenantStore:
    """The rows of one tenant."""

    def __init__(self, store: Asked, tenant: str) -> None:
        self._store = store
        self._filters = filters(tenant)

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a query and return what it finds among the tenant's rows."""
        has_settings = sql.rpartition("\n")[2].startswith("SETTINGS ")
        joint = ", " if has_settings else "\nSETTINGS "
        return self._store.query(f"{sql}{joint}{self._filters}", parameters)

    def has_tables(self) -> bool:
        """Return whether anything can have been stored."""
        return self._store.has_tables()


def of_tenant(store: Asked, tenant: str) -> Asked:
    """Return the store as a tenant sees it; with an empty one as who sees all does."""
    return TenantStore(store, tenant) if tenant else store


def filters(tenant: str) -> str:
    """Write the setting that leaves a tenant's rows in each table.

    No parameter can be bound here, so the name is spelled in hexadecimal digits, which end nothing.
    """
    own = f"tenant = unhex(\\'{tenant.encode().hex()}\\')"
    each = ", ".join(
        f"'{table}': '{own if 'tenant' in columns else '0'}'" for table, columns in TABLES.items()
    )
    return f"additional_table_filters = {{{each}}}"
