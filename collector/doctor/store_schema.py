"""Check the store: whether it answers, whether its tables are ours, and whether its clock is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from collector.doctor.finding import Finding, fail, ok, warn
from collector.errors import OutriderError
from collector.stores.migrations import MIGRATIONS
from collector.units import about_duration

SKEW_S = 5.0
"""Between the store's clock and ours; TTL and charts go by both."""


class Store(Protocol):
    """What is asked of the store."""

    def has_tables(self) -> bool:
        """Tell whether all our tables are there."""

    def query(self, sql: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a query."""


def store_schema(store: Store, *, where: str, clock_ns: Callable[[], int]) -> Iterator[Finding]:
    """Ask the store; whatever it refuses is a finding.

    Args:
        store: Open.
        where: How a person knows it: its URL without credentials, or its directory.
        clock_ns: Unix time in nanoseconds.
    """
    try:
        yield from _asked(store, where, clock_ns)
    except OutriderError as error:
        yield fail(
            "store",
            f"{where} refuses: {error}",
            "start it, or correct store.url, store.user, store.password; traffic stays in the journal meanwhile",
        )


def _asked(store: Store, where: str, clock_ns: Callable[[], int]) -> Iterator[Finding]:
    if not store.has_tables():
        yield warn(
            "store",
            f"{where} answers, and has not all of our tables",
            "start `outrider serve`, or run `outrider migrate`",
        )
        return
    applied = {row["name"] for row in store.query("SELECT name FROM schema_migrations")}
    missing, unknown = set(MIGRATIONS) - applied, applied - set(MIGRATIONS)
    if unknown:
        yield fail(
            "store",
            f"{where} was migrated by a newer version ({', '.join(sorted(unknown))})",
            "upgrade this one, or set store.database to another",
        )
    elif missing:
        yield warn(
            "store",
            f"{where} lacks the schema changes {', '.join(sorted(missing))}",
            "run `outrider migrate`; `outrider serve` does so at its start",
        )
    else:
        yield ok("store", f"{where} answers, schema {MIGRATIONS[-1]}")
    before = clock_ns()
    (row,) = store.query("SELECT toUnixTimestamp64Nano(now64(9)) AS now_ns")
    skew_s = (int(row["now_ns"]) - (before + clock_ns()) / 2) / 1e9
    if abs(skew_s) > SKEW_S:
        yield warn(
            "clock",
            f"the store's clock is {about_duration(abs(skew_s))} {'ahead' if skew_s > 0 else 'behind'}",
            "let a time service keep both clocks",
        )
    else:
        yield ok("clock", "the store's clock agrees with ours")
