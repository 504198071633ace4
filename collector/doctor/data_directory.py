"""Check the data directory and the disk under it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from collector.doctor.finding import Finding, fail, ok, warn
from collector.units import about_size

LEAST_FREE_BYTES = 1024 * 1024 * 1024
"""What the store's merges and a day of quiet traffic want; under it we warn."""
NOTHING_FREE_BYTES = 64 * 1024 * 1024
"""Under this a commit may fail at any moment."""
SLOW_SYNC_S = 0.05
"""Every acknowledgement waits for one sync."""
_SYNCS = 5
_WRITTEN = b"\0" * 4096


def data_directory(
    path: Path, *, journal_limit: int, seconds: Callable[[], float] = time.perf_counter
) -> Iterator[Finding]:
    """Look at who may read it, how much room there is, and how long a sync takes.

    Args:
        path: The directory; that it exists is the caller's to know.
        journal_limit: Bytes the journal may grow to (``journal.max_size``).
        seconds: Monotonic clock.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        yield warn(
            "data dir",
            f"{path} can be opened by others than its owner (mode {mode:o}), and the journal holds raw traffic",
            f"chmod 700 {path}",
        )
    else:
        yield ok("data dir", f"{path}, its owner's alone")
    yield _room(path, journal_limit)
    try:
        took = _sync_s(path, seconds)
    except OSError as error:
        yield fail(
            "disk", f"{path} cannot be written: {error.strerror}", "make room, or make it writable"
        )
        return
    said = f"4 KiB made durable in {took * 1e3:.1f} ms"
    if took > SLOW_SYNC_S:
        yield warn(
            "disk",
            f"{said}; every acknowledgement waits for one such sync",
            "put the data directory on a local SSD, not on a network file system",
        )
    else:
        yield ok("disk", said)


def _room(path: Path, journal_limit: int) -> Finding:
    free = shutil.disk_usage(path).free
    files = os.statvfs(path)
    if files.f_files and not files.f_favail:
        return fail(
            "disk", "no further file can be made on it: it has no inodes left", "remove files"
        )
    said = f"{about_size(free)} free"
    if free < NOTHING_FREE_BYTES:
        return fail(
            "disk",
            f"{said}: requests are or will be refused",
            "make room; stored content goes by store.ttl_days",
        )
    if free < max(LEAST_FREE_BYTES, journal_limit):
        return warn(
            "disk",
            f"{said}, less than the journal may take while the store is down (journal.max_size)",
            "make room, or lower journal.max_size so that senders are told to wait in time",
        )
    return ok("disk", said)


def _sync_s(path: Path, seconds: Callable[[], float]) -> float:
    """Return the median time of a small write with its sync."""
    times = []
    with tempfile.TemporaryFile(dir=path) as file:
        for _ in range(_SYNCS):
            began = seconds()
            os.pwrite(file.fileno(), _WRITTEN, 0)
            os.fsync(file.fileno())
            times.append(seconds() - began)
    return sorted(times)[_SYNCS // 2]
