"""What is committed is what nothing undecided needs, and never goes back."""

from __future__ import annotations

from kafka import TopicPartition

from collector.kafka.ownership import read_mark
from collector.kafka.places import Place, Places

ONE = TopicPartition("otlp_spans", 0)


def places(oldest: dict[str, int]) -> Places:
    """Hold one partition that was read to 30 and committed at 10."""
    held = Places(producer="me", oldest=oldest.get)
    held.add(ONE, Place(source="s", next=30, taken=False, committed=10, end=35))
    return held


def test_the_oldest_request_that_is_kept_holds_the_offset() -> None:
    """However far the log was read."""
    offset = places({"s": 12}).committable()[ONE]
    assert offset.offset == 12
    mark = read_mark(offset.metadata)
    assert (mark.outrider, mark.read, mark.taken) == ("me", 30, False)


def test_when_nothing_is_kept_everything_read_is_committed() -> None:
    """The offset is that of the next message."""
    assert places({}).committable()[ONE].offset == 30


def test_an_offset_never_goes_back() -> None:
    """Not even for a request from before we had the partition."""
    held = places({"s": 4})
    assert held.committable() == {}
    assert held.committable([ONE])[ONE].offset == 10


def test_what_is_committed_is_not_committed_again() -> None:
    """Unless the partition is handed over."""
    held = places({})
    held.committed(held.committable())
    assert held.committable() == {}
    assert held.committable([ONE])[ONE].offset == 30


def test_lag_is_measured_where_we_read() -> None:
    """It is gone with the partition."""
    held = places({"s": 12})
    key = ("kafka_lag", (("topic", "otlp_spans"), ("partition", "0")))
    assert held.gauges() == {key: 5}
    assert held.remove([ONE]) == ["s"]
    assert held.gauges() == {}
