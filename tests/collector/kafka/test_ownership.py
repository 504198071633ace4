"""Where to go on follows from who committed last and what the journal holds."""

from __future__ import annotations

import pytest
from kafka import OffsetAndMetadata

from collector.journal_records import ReadPosition
from collector.kafka.ownership import Start, mark, read_mark, start


def place(next_offset: int, *, taken: bool = False) -> ReadPosition:
    """Say how far the journal has read."""
    return ReadPosition(source="s", next_offset=next_offset, taken=taken)


def committed(offset: int, by: str, *, taken: bool = False) -> OffsetAndMetadata:
    """Write what an instance committed."""
    return OffsetAndMetadata(offset, mark(by, read=offset + 5, taken=taken), -1)


def test_a_new_group_begins_where_its_setting_says() -> None:
    """There is nothing to go by."""
    assert start(None, None, producer="me") == Start(offset=None, taken=False, ours=False)


def test_we_go_on_behind_what_our_journal_holds() -> None:
    """The committed offset is older, and nothing is read twice."""
    found = start(committed(10, "me"), place(50), producer="me")
    assert found == Start(offset=50, taken=False, ours=True, floor=10)


def test_what_others_have_read_since_is_theirs() -> None:
    """We begin where they committed, and ask what they decided."""
    found = start(committed(10, "them"), place(50), producer="me")
    assert found == Start(offset=10, taken=True, ours=False, floor=10)


@pytest.mark.parametrize("taken", [False, True])
def test_what_we_gave_up_and_got_back_is_read_again(taken: bool) -> None:
    """Whether others were there before stands beside the offset."""
    found = start(committed(10, "me", taken=taken), None, producer="me")
    assert found == Start(offset=10, taken=taken, ours=False, floor=10)


def test_offsets_that_the_group_forgot_are_not_missed() -> None:
    """The journal knows where we were."""
    assert start(None, place(50), producer="me") == Start(offset=50, taken=False, ours=True)


@pytest.mark.parametrize("metadata", ["", "reset by hand", "[]", '{"other": 1}', "\ud800"])
def test_metadata_that_is_not_ours_is_nobodys(metadata: str) -> None:
    """An operator who moved the offset is obeyed."""
    assert read_mark(metadata).outrider == ""
    found = start(OffsetAndMetadata(3, metadata, -1), place(50), producer="me")
    assert found == Start(offset=3, taken=True, ours=False, floor=3)
