"""Check the journal: whether it is whole, what waits in it, and whether the pipeline follows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from collector.doctor.finding import Finding, fail, ok, warn
from collector.journal_schema import APPLICATION_ID, MIGRATIONS, open_reader
from collector.units import about_duration, about_size

FULL = 0.8
"""Share of ``journal.max_size`` from which we warn: the store is down, or episodes stay open."""
BEHIND_S = 60.0
"""How long a request may wait for the pipeline of a running instance."""
UNSTORED_S = 300.0
"""How long a decided episode may wait for the store."""
AHEAD_S = 5.0
"""How far in the future a request may have been received, by this clock."""
CHECK_S = 20.0
"""Longest that the pages are checked; a larger file is checked in part."""
_STEPS = 10_000
"""Of the database's machine, between looks at the clock."""


def journal_file(
    path: Path,
    *,
    limit: int,
    running: bool,
    now_ns: int,
    seconds: Callable[[], float] = time.monotonic,
) -> Iterator[Finding]:
    """Read the file beside whoever writes it.

    Args:
        path: The file.
        limit: Bytes of bodies it may hold (``journal.max_size``).
        running: Whether a process serves from it, so that what waits should move.
        now_ns: Unix time in nanoseconds.
        seconds: Monotonic clock, for the longest check.
    """
    if not path.exists():
        yield ok("journal", "there is none yet; `outrider serve` makes it")
        return
    try:
        connection = open_reader(path)
        try:
            yield from _looked_at(
                connection, path, limit=limit, running=running, now_ns=now_ns, seconds=seconds
            )
        finally:
            connection.close()
    except sqlite3.Error as error:
        yield fail("journal", f"{path} cannot be read: {error}", _DAMAGED.format(path=path))


_DAMAGED = (
    "stop the instance, keep a copy of {path} with its -wal file, and move it away; what it held and"
    " the store has not is lost, and totals start again"
)


def _looked_at(
    connection: sqlite3.Connection,
    path: Path,
    *,
    limit: int,
    running: bool,
    now_ns: int,
    seconds: Callable[[], float],
) -> Iterator[Finding]:
    def one(sql: str, *values: object) -> tuple[int, ...]:
        row: tuple[int, ...] = connection.execute(sql, values).fetchone()
        return row

    ((application,), (version,)) = one("PRAGMA application_id"), one("PRAGMA user_version")
    if not (application or version or one("SELECT count(*) FROM sqlite_schema")[0]):
        yield ok("journal", f"{path} is empty; `outrider serve` makes its tables")
        return
    if application != APPLICATION_ID:
        yield fail(
            "journal",
            f"{path} is another program's database",
            "move it away, or choose another --data-dir",
        )
        return
    if version > len(MIGRATIONS):
        yield fail(
            "journal",
            f"{path} was written by a newer version (format {version}, this one knows {len(MIGRATIONS)})",
            "upgrade, or choose another --data-dir",
        )
        return
    if version < len(MIGRATIONS):
        yield ok(
            "journal",
            f"{path} has format {version}; `outrider serve` brings it to {len(MIGRATIONS)}",
        )
    pages = _pages(connection, path, seconds)
    yield pages
    if pages.status == "fail":
        return
    count, size, oldest, newest = one(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(min(received_ns), 0),"
        " coalesce(max(received_ns), 0) FROM requests"
    )
    yield _room(count, size, limit, oldest=oldest, now_ns=now_ns)
    if newest > now_ns + AHEAD_S * 1e9:
        yield warn(
            "clock",
            f"the newest request was received {about_duration((newest - now_ns) / 1e9)} from now: the clock was set back",
            "let a time service (chrony, systemd-timesyncd) keep the clock; until then nothing is decided by time",
        )
    waiting, spans, since = one(
        "SELECT count(*), coalesce(sum(items), 0), coalesce(min(received_ns), 0) FROM requests"
        " WHERE id > (SELECT value FROM meta WHERE name = 'processed_through')"
    )
    yield _watermark(waiting, spans, age_s=(now_ns - since) / 1e9, running=running)
    rows, since = one("SELECT count(*), coalesce(min(created_ns), 0) FROM outbox")
    yield _outbox(rows, age_s=(now_ns - since) / 1e9, running=running)


def _pages(connection: sqlite3.Connection, path: Path, seconds: Callable[[], float]) -> Finding:
    until = seconds() + CHECK_S
    connection.set_progress_handler(lambda: int(seconds() > until), _STEPS)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if "interrupt" not in str(error):
            raise
        return ok("journal", f"no damage found in the first {CHECK_S:.0f} s of reading it")
    finally:
        connection.set_progress_handler(None, 0)
    if verdict != "ok":
        said = " ".join(str(verdict).replace("*** in database main ***", "").split())
        return fail("journal", f"{path} is damaged: {said}", _DAMAGED.format(path=path))
    return ok("journal", f"{path} is whole")


def _room(count: int, size: int, limit: int, *, oldest: int, now_ns: int) -> Finding:
    said = f"{count} requests, {about_size(size)} of {about_size(limit)}"
    if count:
        said += f", the oldest from {about_duration(max(0.0, (now_ns - oldest) / 1e9))} ago"
    if size >= limit:
        return fail(
            "journal",
            f"{said}: full, senders are turned away",
            "see the store below; when it is well, raise journal.max_size or lower assemble.max_episode",
        )
    if size > FULL * limit:
        return warn(
            "journal",
            f"{said}: nearly full",
            "see the store below; when it is well, raise journal.max_size or lower assemble.max_episode",
        )
    return ok("journal", said)


def _watermark(waiting: int, spans: int, *, age_s: float, running: bool) -> Finding:
    if not waiting:
        return ok("watermark", "every request was read by the pipeline")
    said = f"{waiting} requests with {spans} items wait for the pipeline"
    if not running:
        return ok("watermark", f"{said}; the next `outrider serve` reads them first")
    if age_s > BEHIND_S:
        return warn(
            "watermark",
            f"{said}, the first for {about_duration(age_s)}",
            "one pipeline is one core: send less, or see the log for an error that repeats",
        )
    return ok("watermark", said)


def _outbox(rows: int, *, age_s: float, running: bool) -> Finding:
    if not rows:
        return ok("outbox", "everything decided is in the store")
    said = f"{rows} batches wait for the store, the first for {about_duration(max(0.0, age_s))}"
    if running and age_s > UNSTORED_S:
        return fail("outbox", said, "see the store below and the log: the batch's error is there")
    return ok("outbox", said)
