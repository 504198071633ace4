"""The journal knows how far a log was read, what it holds of it, and what was taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.errors import JournalFullError
from collector.journal import Entry, Journal, Transaction
from collector.journal_records import ReadPosition

KEY = bytes(range(24))


def opened(path: Path, *, max_bytes: int = 1_000) -> Journal:
    """Open a small journal."""
    return Journal.open(
        path / "journal.db", max_bytes=max_bytes, seen_limit=100, clock_ns=lambda: 0
    )


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Give an empty journal."""
    journal = opened(tmp_path)
    yield journal
    journal.close()


def entry(offset: int, *, source: str = "s", size: int = 10) -> Entry:
    """Write a request that was read from a log."""
    return Entry(
        received_ns=1,
        receiver="kafka",
        signal="traces",
        encoding="proto",
        items=2,
        body=bytes(size),
        source=source,
        source_offset=offset,
    )


def place(next_offset: int, *, taken: bool = False) -> ReadPosition:
    """Say how far the log was read."""
    return ReadPosition(source="s", next_offset=next_offset, taken=taken)


def test_requests_and_position_become_durable_together(tmp_path: Path) -> None:
    """The next process finds both."""
    journal = opened(tmp_path)
    ids = journal.append_all([entry(3), entry(4)], [place(5, taken=True)]).result()
    journal.close()
    again = opened(tmp_path)
    assert again.positions() == {"s": place(5, taken=True)}
    assert [(e.id, e.source, e.source_offset) for e in again.read(ids)] == [
        (ids[0], "s", 3),
        (ids[1], "s", 4),
    ]
    assert again.oldest("s") == 3
    again.close()


def test_what_does_not_fit_as_a_whole_is_not_written(journal: Journal) -> None:
    """Neither a request nor the position."""
    with pytest.raises(JournalFullError):
        journal.append_all([entry(1, size=600), entry(2, size=600)], [place(3)])
    assert journal.positions() == {}
    assert journal.held_sources() == []
    assert journal.bytes_used == 0


def test_the_oldest_moves_as_requests_are_freed(journal: Journal) -> None:
    """Requests of other ways in are not of any log."""
    ids = journal.append_all([entry(3), entry(4)], [place(5)]).result()
    journal.append(entry(-1, source="")).result()
    assert journal.requests_of("s") == {ids[0]: 2, ids[1]: 2}
    assert journal.sources_of([*ids, 99]) == dict.fromkeys(ids, "s")
    journal.commit(Transaction(free=[ids[0]])).result()
    assert journal.oldest("s") == 4
    journal.commit(Transaction(free=[ids[1]])).result()
    assert journal.oldest("s") is None
    assert journal.oldest("") is None


def test_a_log_that_is_given_up_leaves_its_requests(journal: Journal) -> None:
    """They are like any other from then on."""
    (request,) = journal.append_all([entry(3)], [place(4)]).result()
    journal.commit(Transaction(drop_sources=["s"])).result()
    assert journal.positions() == {}
    assert journal.held_sources() == []
    assert [e.source for e in journal.read([request])] == [""]


def test_a_decision_that_is_taken_back_can_be_made_again(tmp_path: Path) -> None:
    """Across restarts, too."""
    journal = opened(tmp_path)
    journal.commit(Transaction(seen=[KEY])).result()
    assert journal.decided(KEY)
    journal.commit(Transaction(withdrawn=[KEY])).result()
    assert not journal.decided(KEY)
    journal.close()
    again = opened(tmp_path)
    assert not again.decided(KEY)
    again.commit(Transaction(seen=[KEY])).result()
    assert again.decided(KEY)
    again.close()
    third = opened(tmp_path)
    assert third.decided(KEY)
    third.close()
