"""Test what is said of a directory and its disk."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from collector.doctor.data_directory import data_directory


def statuses(path: Path, *, journal_limit: int = 1, tick_s: float = 0.0) -> list[str]:
    """Look at a directory with a clock that goes one tick a look."""
    ticks = (tick_s * number for number in count())
    return [
        found.status
        for found in data_directory(path, journal_limit=journal_limit, seconds=lambda: next(ticks))
    ]


def test_a_private_directory(tmp_path: Path) -> None:
    """One that is ours alone, with room, on a fast disk, is well, and nothing stays in it."""
    tmp_path.chmod(0o700)
    assert statuses(tmp_path) == ["ok", "ok", "ok"]
    assert not list(tmp_path.iterdir())


def test_others_may_read(tmp_path: Path) -> None:
    """The journal holds raw traffic, so a directory that others can open is named."""
    tmp_path.chmod(0o755)
    assert statuses(tmp_path)[0] == "warn"


@pytest.mark.parametrize(("tick_s", "status"), [(0.01, "ok"), (0.2, "warn")])
def test_a_slow_disk(tmp_path: Path, tick_s: float, status: str) -> None:
    """Every acknowledgement waits for a sync, so a slow one is named."""
    tmp_path.chmod(0o700)
    assert statuses(tmp_path, tick_s=tick_s)[2] == status


def test_a_journal_larger_than_the_disk(tmp_path: Path) -> None:
    """A limit that the disk cannot hold is named before it is reached."""
    tmp_path.chmod(0o700)
    assert statuses(tmp_path, journal_limit=2**60)[1] == "warn"
