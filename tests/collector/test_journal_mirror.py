"""Test the journal's picture of itself in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import JournalFullError
from collector.journal_mirror import Mirror
from collector.journal_schema import open_writer
from collector.totals import series


def test_room_is_what_is_neither_kept_nor_set_aside(tmp_path: Path) -> None:
    """Bytes set aside count against the limit until they are given back or written."""
    connection = open_writer(tmp_path / "j", producer="p", now_ns=1)
    mirror = Mirror(connection, max_bytes=10)
    connection.close()
    mirror.reserve(6)
    with pytest.raises(JournalFullError, match="0 of 10 bytes"):
        mirror.reserve(5)
    mirror.release(6)
    mirror.reserve(10)
    mirror.committed(
        rows=1, written=10, freed=0, totals={}, processed_through=None, observation_sequence=None
    )
    assert (mirror.rows, mirror.bytes_used) == (1, 10)
    with pytest.raises(JournalFullError):
        mirror.reserve(1)


def test_totals_are_a_copy(tmp_path: Path) -> None:
    """A copy of the totals does not change with the next commit."""
    connection = open_writer(tmp_path / "j", producer="p", now_ns=1)
    mirror = Mirror(connection, max_bytes=10)
    connection.close()
    before = mirror.totals()
    mirror.committed(
        rows=0,
        written=0,
        freed=0,
        totals={series("late_spans_total", result="revised"): 2},
        processed_through=None,
        observation_sequence=None,
    )

    assert before == {}
    assert mirror.totals() == {series("late_spans_total", result="revised"): 2}
