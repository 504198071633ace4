"""Test that requests which are needed again soon are read once."""

from __future__ import annotations

from collections.abc import Sequence

from collector.journal_records import Entry
from collector.lately import Items, Lately
from collector.telemetry import Span
from tests.build import span


class Journal:
    """Hold requests of ten bytes, one span each, and note who is read and decoded."""

    def __init__(self, *ids: int) -> None:
        self.kept = set(ids)
        self.read: list[int] = []
        self.decoded: list[int] = []

    def __call__(self, ids: Sequence[int]) -> list[Entry]:
        """Read."""
        self.read += ids
        return [
            Entry(
                id=number,
                received_ns=0,
                receiver="test",
                signal="traces",
                encoding="proto",
                items=1,
                body=b"x" * 10,
            )
            for number in ids
            if number in self.kept
        ]

    def decode(self, entry: Entry) -> Items:
        """Decode."""
        self.decoded.append(entry.id)
        return [span(name=str(entry.id))]


def names(lately: Lately, *ids: int) -> list[tuple[int, str]]:
    """Ask for requests."""
    return [(entry.id, item.name) for entry, (item,) in lately(ids) if isinstance(item, Span)]


def test_what_was_read_lately_is_not_read_again() -> None:
    """Each request comes with what it holds, in order, and is decoded once while there is room."""
    journal = Journal(1, 2, 3)
    lately = Lately(journal, journal.decode, limit=100)
    assert names(lately, 1, 2) == [(1, "1"), (2, "2")]
    assert names(lately, 1, 2, 3) == [(1, "1"), (2, "2"), (3, "3")]
    assert journal.decoded == journal.read == [1, 2, 3]


def test_memory_is_bounded_by_the_size_of_the_bodies() -> None:
    """Over the limit what was used longest ago goes, even in the middle of one question."""
    journal = Journal(*range(1, 9))
    lately = Lately(journal, journal.decode, limit=30)
    for _ in range(3):
        assert names(lately, *range(1, 9)) == [(n, str(n)) for n in range(1, 9)]
        assert lately.size <= 30
    assert len(journal.decoded) > 16
    journal.decoded.clear()
    names(lately, 6, 7, 8)
    assert journal.decoded == []


def test_one_that_is_larger_than_the_limit_is_given_all_the_same() -> None:
    """A request that does not fit is returned, and makes room for the next."""
    journal = Journal(1, 2)
    lately = Lately(journal, journal.decode, limit=5)
    assert names(lately, 1, 2) == [(1, "1"), (2, "2")]
    assert lately.size == 10


def test_requests_that_are_gone_are_left_out() -> None:
    """What the journal no longer has costs nothing else."""
    journal = Journal(1, 3)
    lately = Lately(journal, journal.decode, limit=100)
    assert names(lately, 1, 2, 3) == [(1, "1"), (3, "3")]
