"""Check how the store does: whether merges keep up, parts are whole, and rows go when they should."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from collector.doctor.finding import Finding, fail, ok, warn
from collector.doctor.store_schema import Store
from collector.errors import OutriderError
from collector.units import about_duration, about_size

MANY_PARTS = 300
"""Active parts in one partition; ClickHouse slows inserts down at 1,000 and refuses at 3,000."""
LONG_MERGE_S = 3_600.0
"""A merge that takes longer holds back those behind it."""
LEAST_FREE = 0.1
"""Share of a disk of the store; merges write a part anew before they drop the old ones."""

_OURS = "database = currentDatabase()"


def store_care(store: Store, *, retention: Callable[[], list[str]] | None) -> Iterator[Finding]:
    """Ask the engine about our tables; what it does not let us read is a finding of its own.

    Args:
        store: Open, and with our tables.
        retention: Returns the statements that would bring the tables to the configured retention;
            ``None`` where their schema is another anyway.
    """
    for look in (_parts, _damage, _mutations, _merges, _replicas, _disks, _dead_letters):
        try:
            yield from look(store)
        except OutriderError as error:
            yield _unreadable(look.__name__.strip("_").replace("_", " "), error)
    if retention is None:
        return
    try:
        yield from _retention(retention())
    except OutriderError as error:
        yield _unreadable("retention", error)


def _unreadable(what: str, error: OutriderError) -> Finding:
    return warn(
        "store",
        f"its {what} cannot be looked at: {error}",
        "let store.user read the tables of the database `system`",
    )


def _parts(store: Store) -> Iterator[Finding]:
    rows = store.query(
        f"SELECT table, count() AS parts FROM system.parts WHERE {_OURS} AND active"  # noqa: S608 - our own words
        " GROUP BY table, partition_id ORDER BY parts DESC LIMIT 1"
    )
    most = int(rows[0]["parts"]) if rows else 0
    if most > MANY_PARTS:
        yield warn(
            "store",
            f"{rows[0]['table']} has {most} parts in one partition: merges do not keep up",
            "raise store.flush_interval or store.batch_episodes, or give the server more disk and cores",
        )
    else:
        yield ok("store", f"{most} parts in the fullest partition")


def _damage(store: Store) -> Iterator[Finding]:
    rows = store.query(
        f"SELECT table, count() AS parts FROM system.detached_parts WHERE {_OURS}"  # noqa: S608 - our own words
        " AND startsWith(coalesce(reason, ''), 'broken') GROUP BY table ORDER BY table"
    )
    if rows:
        tables = ", ".join(f"{row['table']} ({row['parts']})" for row in rows)
        yield fail(
            "store",
            f"damaged parts were set aside and their rows are missing: {tables}",
            "look at the disk; restore these tables from a backup, or accept the loss and drop the"
            " detached parts",
        )


def _mutations(store: Store) -> Iterator[Finding]:
    rows = store.query(
        "SELECT table, latest_fail_reason AS reason FROM system.mutations"  # noqa: S608 - our own words
        f" WHERE {_OURS} AND NOT is_done AND latest_fail_reason != '' LIMIT 1"
    )
    for row in rows:
        yield warn(
            "store",
            f"a change of {row['table']} fails again and again: {' '.join(row['reason'].split())[:200]}",
            "mend what it says, or end it by KILL MUTATION",
        )


def _merges(store: Store) -> Iterator[Finding]:
    rows = store.query(
        f"SELECT table, max(elapsed) AS took FROM system.merges WHERE {_OURS}"  # noqa: S608 - our own words
        f" GROUP BY table HAVING took > {LONG_MERGE_S}"
    )
    for row in rows:
        yield warn(
            "store",
            f"a merge of {row['table']} goes on for {about_duration(float(row['took']))}",
            "see whether the server's disk is slow or full",
        )


def _replicas(store: Store) -> Iterator[Finding]:
    rows = store.query(f"SELECT table FROM system.replicas WHERE {_OURS} AND is_readonly")  # noqa: S608 - our own words
    for row in rows:
        yield fail(
            "store",
            f"the replica of {row['table']} is read-only, so that nothing can be written to it",
            "see whether Keeper can be reached from the server",
        )


def _disks(store: Store) -> Iterator[Finding]:
    rows = store.query(
        "SELECT name, free_space AS free, total_space AS total FROM system.disks"  # noqa: S608 - our own words
        f" WHERE total_space > 0 AND free_space < {LEAST_FREE} * total_space"
    )
    for row in rows:
        yield warn(
            "store",
            f"its disk {row['name']} has {about_size(int(row['free']))} of {about_size(int(row['total']))} left",
            "make room, or lower store.ttl_days",
        )


def _dead_letters(store: Store) -> Iterator[Finding]:
    (row,) = store.query(
        "SELECT count() AS rows, any(table_name) AS name, any(reason) AS reason FROM dead_letters FINAL"
    )
    if int(row["rows"]):
        yield warn(
            "store",
            f"{row['rows']} rows could not be stored and are in dead_letters, such as one of"
            f" {row['name']}: {' '.join(row['reason'].split())[:200]}",
            "please report the reason; TRUNCATE TABLE dead_letters when you have seen them",
        )


def _retention(statements: list[str]) -> Iterator[Finding]:
    if statements:
        yield warn(
            "store",
            f"{len(statements)} tables or columns keep rows for another time than store.ttl_days says",
            "run `outrider migrate`; `outrider serve` does so at its start",
        )
    else:
        yield ok("store", "content goes after store.ttl_days")
