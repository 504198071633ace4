"""Test what is said of a journal, against files that a real journal wrote."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from collector.doctor.finding import Finding
from collector.doctor.journal_file import journal_file
from collector.journal import OutboxRow, Transaction
from tests.collector.journals import done, entry, open_journal

SECOND = 1_000_000_000
NOW = 1_000_000 * SECOND
LIMIT = 1_000


def looked(path: Path, *, running: bool = True, now_ns: int = NOW) -> dict[str, Finding]:
    """Return the worst finding of each check."""
    rank = {"ok": 0, "warn": 1, "fail": 2}
    found: dict[str, Finding] = {}
    for one in journal_file(path, limit=LIMIT, running=running, now_ns=now_ns):
        if one.check not in found or rank[one.status] > rank[found[one.check].status]:
            found[one.check] = one
    return found


def written(directory: Path, *, body: int = 10, age_s: int = 0, outbox: bool = False) -> Path:
    """Write a journal with one request, and a batch for the store if asked."""
    journal = open_journal(directory)
    received_ns = NOW - age_s * SECOND
    done(journal.append(entry(b"x" * body, received_ns=received_ns)))
    if outbox:
        row = OutboxRow(id=0, created_ns=received_ns, payload=b"rows")
        done(journal.commit(Transaction(processed_through=1, outbox=[row])))
    journal.close()
    return directory / "journal.sqlite"


def test_no_journal_yet(tmp_path: Path) -> None:
    """A directory that nobody served from is well."""
    assert looked(tmp_path / "journal.sqlite")["journal"].status == "ok"


def test_a_sound_journal(tmp_path: Path) -> None:
    """Nothing is to be done, and the figures are there."""
    found = looked(written(tmp_path, age_s=3))
    assert {one.status for one in found.values()} == {"ok"}
    assert "1 requests with 2 items" in found["watermark"].says


@pytest.mark.parametrize(("body", "status"), [(700, "ok"), (900, "warn"), (1_000, "fail")])
def test_room(tmp_path: Path, body: int, status: str) -> None:
    """A journal that fills up is seen before senders are turned away, and when they are."""
    assert looked(written(tmp_path, body=body))["journal"].status == status


@pytest.mark.parametrize(
    ("age_s", "running", "status"), [(30, True, "ok"), (90, True, "warn"), (90, False, "ok")]
)
def test_a_pipeline_that_is_behind(
    tmp_path: Path, age_s: int, status: str, *, running: bool
) -> None:
    """What waits long beside a process that runs is worth a look; without one it simply waits."""
    assert looked(written(tmp_path, age_s=age_s), running=running)["watermark"].status == status


@pytest.mark.parametrize(
    ("age_s", "running", "status"), [(30, True, "ok"), (900, True, "fail"), (900, False, "ok")]
)
def test_a_store_that_takes_nothing(
    tmp_path: Path, age_s: int, status: str, *, running: bool
) -> None:
    """A batch that does not get into the store is a failure."""
    found = looked(written(tmp_path, age_s=age_s, outbox=True), running=running)
    assert found["outbox"].status == status
    assert found["watermark"].says == "every request was read by the pipeline"


def test_a_clock_that_was_set_back(tmp_path: Path) -> None:
    """A request from the future is named as what it is."""
    found = looked(written(tmp_path), now_ns=NOW - 3_600 * SECOND)
    assert found["clock"].status == "warn"
    assert "1.0 h" in found["clock"].says


def test_a_damaged_journal(tmp_path: Path) -> None:
    """Damage to a page is found, and the file to move away is named."""
    path = written(tmp_path, body=100_000)
    with path.open("r+b") as file:
        file.seek(8192 * 3)
        file.write(b"\xff" * 8192 * 2)
    found = looked(path)
    assert found["journal"].status == "fail"
    assert str(path) in found["journal"].fix
    assert "\n" not in found["journal"].says
    assert list(found) == ["journal"]


def test_something_else(tmp_path: Path) -> None:
    """A text file and another program's database are not journals."""
    text = tmp_path / "text"
    text.write_text("no database at all, whatever its name says\n" * 99)
    assert looked(text)["journal"].status == "fail"
    other = tmp_path / "other"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    assert "another program" in looked(other)["journal"].says


def test_an_empty_file(tmp_path: Path) -> None:
    """Nobody's database is ours to fill, and an older one of ours to bring up to date."""
    path = tmp_path / "journal.sqlite"
    path.touch()
    assert (looked(path)["journal"].status, "is empty" in looked(path)["journal"].says) == (
        "ok",
        True,
    )
    path.unlink()
    written(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert looked(path)["journal"].says.startswith(f"{path} has format 1")


def test_a_newer_journal(tmp_path: Path) -> None:
    """A file from a later release is left alone."""
    path = written(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "newer version" in looked(path)["journal"].says


def test_a_long_check_is_cut_short(tmp_path: Path) -> None:
    """A journal too large to read through is checked in part, and that is said."""
    journal = open_journal(tmp_path)
    waiting = [
        journal.append(entry(b"x" * 300, received_ns=NOW + number)) for number in range(3_000)
    ]
    for future in waiting:
        done(future)
    journal.close()
    ticks = iter(range(0, 1_000_000, 1_000))
    found = list(
        journal_file(
            tmp_path / "journal.sqlite",
            limit=LIMIT * LIMIT,
            running=False,
            now_ns=NOW,
            seconds=lambda: float(next(ticks)),
        )
    )
    assert "in the first 20 s" in found[0].says
    assert found[1].says.startswith("3000 requests")
