"""Test how the journal writes: in groups, through faults, and without growing."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from collector.errors import JournalFullError, PermanentError, RetryableError
from collector.journal import OutboxRow, Transaction
from collector.totals import series
from tests.collector.journals import WAIT_S, done, entry, episode, open_journal

TOTAL = series("stage_items_total", stage="pipeline", result="settled")


@contextmanager
def full_disk(largest_file: int) -> Iterator[None]:
    """Make writes beyond a file size fail, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_many_requests_share_a_commit(tmp_path: Path) -> None:
    """Requests that wait together are committed together, in the order they came."""
    journal = open_journal(tmp_path)
    futures = [journal.append(entry(b"x" * 1_000)) for _ in range(500)]

    assert [done(future) for future in futures] == list(range(1, 501))
    assert journal.commits < 250
    journal.close()


def test_disk_failure_fails_the_group_and_nothing_else(tmp_path: Path) -> None:
    """When the disk refuses, futures fail as retryable, nothing is half written, work goes on."""
    journal = open_journal(tmp_path)
    first = done(journal.append(entry(b"before")))
    assert journal.writable
    with full_disk(256 * 1024):
        failing = journal.append(entry(bytes(1024 * 1024)))
        with pytest.raises(RetryableError, match="cannot be written"):
            done(failing)

    assert journal.errors >= 1
    assert not journal.writable
    assert journal.ids() == [first]
    assert (journal.bytes_used, journal.pending) == (6, 1)
    assert journal.totals()[series("spans_received_total", receiver="otlp_http")] == 2
    done(journal.append(entry(bytes(1024 * 1024))))
    assert journal.writable
    assert journal.bytes_used == 6 + 1024 * 1024
    journal.close()


def test_transactions_get_through_when_only_requests_do_not_fit(tmp_path: Path) -> None:
    """A transaction in the group of a request that the disk refuses is tried without it."""
    journal = open_journal(tmp_path)
    with full_disk(512 * 1024):
        appended = [journal.append(entry(bytes(1024 * 1024))) for _ in range(3)]
        committed = journal.commit(Transaction(totals={TOTAL: 1}))
        wait(appended, timeout=WAIT_S)
        wait([committed], timeout=WAIT_S)

    assert all(isinstance(future.exception(), RetryableError) for future in appended)
    assert done(committed) == []
    assert journal.totals() == {TOTAL: 1}
    journal.close()


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    """A transaction with one impossible row leaves no trace of its other rows."""
    journal = open_journal(tmp_path)
    impossible = Transaction(
        processed_through=5,
        totals={TOTAL: 1},
        seen=[b"k" * 24],
        outbox=[OutboxRow(created_ns=1, payload=b"rows")],
        episodes=[episode("good"), episode("bad", number=cast("int", None))],
    )
    with pytest.raises(PermanentError):
        done(journal.commit(impossible))

    assert journal.processed_through == 0
    assert journal.totals() == {}
    assert b"k" * 24 not in journal.seen
    assert journal.outbox(1) == []
    assert journal.episode("good") is None
    journal.close()


def test_a_fault_is_brought_home_to_its_own_work(tmp_path: Path) -> None:
    """Work that cannot be written fails alone; what was queued with it is durable."""
    journal = open_journal(tmp_path)
    nonsense: Any = object()
    futures = [journal.append(entry(b"%d" % number)) for number in range(5)]
    bad = journal.commit(Transaction(free=[nonsense]))
    futures += [journal.append(entry(b"%d" % number)) for number in range(5)]

    with pytest.raises(PermanentError):
        done(bad)
    assert len([done(future) for future in futures]) == 10
    assert journal.pending == 10
    journal.close()


def test_a_cancelled_request_gives_its_room_back(tmp_path: Path) -> None:
    """A future cancelled in the queue is not written and its bytes are free again."""
    journal = open_journal(tmp_path, max_bytes=30 * 1024 * 1024)
    large = journal.append(entry(bytes(20 * 1024 * 1024)))
    small = journal.append(entry(bytes(9 * 1024 * 1024)))
    cancelled = small.cancel()
    done(large)
    if not cancelled:
        done(small)
    done(journal.commit(Transaction()))

    assert journal.pending == (1 if cancelled else 2)
    if cancelled:
        done(journal.append(entry(bytes(9 * 1024 * 1024))))
    with pytest.raises(JournalFullError):
        journal.append(entry(bytes(9 * 1024 * 1024)))
    journal.close()


def test_freed_space_is_used_again(tmp_path: Path) -> None:
    """The file does not grow while as much is freed as is appended."""
    journal = open_journal(tmp_path)
    sizes: list[int] = []
    for _ in range(30):
        ids = [journal.append(entry(bytes(100_000))) for _ in range(10)]
        done(journal.commit(Transaction(free=[done(future) for future in ids])))
        sizes.append(sum(file.stat().st_size for file in tmp_path.iterdir()))
    journal.close()

    assert max(sizes[15:]) <= max(sizes[:15]) + 1024 * 1024
    assert max(sizes) < 20 * 1024 * 1024


def test_the_file_shrinks_when_quiet(tmp_path: Path) -> None:
    """Freed space over the slack goes back to the file system once nothing is to be written."""
    journal = open_journal(tmp_path, slack_bytes=1024 * 1024, idle_s=0.001)
    ids = [done(journal.append(entry(bytes(512 * 1024)))) for _ in range(20)]
    done(journal.commit(Transaction(free=ids)))
    file = tmp_path / "journal.sqlite"
    deadline = time.monotonic() + WAIT_S
    while file.stat().st_size > 3 * 1024 * 1024 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert file.stat().st_size <= 3 * 1024 * 1024
    assert done(journal.append(entry())) == 21
    journal.close()


def test_old_span_keys_are_dropped_from_the_file(tmp_path: Path) -> None:
    """Span keys over the limit leave the file too, the oldest first."""
    journal = open_journal(tmp_path, seen_limit=300)
    keys = [number.to_bytes(24, "big") for number in range(2_000)]
    for start in range(0, 2_000, 50):
        done(journal.commit(Transaction(seen=keys[start : start + 50])))
    journal.close()

    journal = open_journal(tmp_path, seen_limit=300)

    assert all(key in journal.seen for key in keys[-300:])
    assert not any(key in journal.seen for key in keys[:1_600])
    assert len(journal.seen) <= 400
    journal.close()
