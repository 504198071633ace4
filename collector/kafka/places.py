"""Hold how far each partition that is ours has been read, and what its log holds beyond."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec
from kafka import OffsetAndMetadata, TopicPartition

from collector.journal_records import ReadPosition
from collector.kafka.ownership import mark
from collector.totals import SeriesKey


class Place(msgspec.Struct, kw_only=True):
    """One partition that is ours."""

    source: str
    next: int
    """Offset of the next message to take in."""
    taken: bool
    """Whether others have read here as well."""
    committed: int
    """Offset committed so far; it is never taken back."""
    end: int = 0
    """Offset after the last message of its log, as far as we know."""

    def position(self, next_offset: int) -> ReadPosition:
        """Spell how far it will have been read, for the journal."""
        return ReadPosition(source=self.source, next_offset=next_offset, taken=self.taken)


class Places:
    """Hold the partitions that are ours.

    Used by the thread that reads and, while that waits in ``poll``, by the client library's;
    gauges may be asked for on any thread.
    """

    def __init__(self, *, producer: str, oldest: Callable[[str], int | None]) -> None:
        """Take our id, and what tells the oldest offset that the journal holds of a source."""
        self._producer = producer
        self._oldest = oldest
        self._places: dict[TopicPartition, Place] = {}

    def __getitem__(self, partition: TopicPartition) -> Place:
        """Return one."""
        return self._places[partition]

    def __contains__(self, partition: TopicPartition) -> bool:
        """Say whether a partition is ours, and placed."""
        return partition in self._places

    def partitions(self) -> list[TopicPartition]:
        """List them."""
        return list(self._places)

    def add(self, partition: TopicPartition, place: Place) -> None:
        """Take one in."""
        self._places = {**self._places, partition: place}

    def remove(self, partitions: Collection[TopicPartition]) -> list[str]:
        """Let go of some, and return their sources."""
        gone = [self._places[one].source for one in partitions if one in self._places]
        self._places = {k: v for k, v in self._places.items() if k not in partitions}
        return gone

    def ends(self, ends: dict[TopicPartition, int]) -> None:
        """Note what the logs hold."""
        for partition, end in ends.items():
            if partition in self._places:
                self._places[partition].end = end

    def committable(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return what may be committed: the oldest message that anything undecided needs.

        Args:
            partitions: Which to look at, whether there is news or not; all with news if ``None``.
        """
        offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        for partition, place in self._places.items():
            if partitions is not None and partition not in partitions:
                continue
            oldest = self._oldest(place.source)
            offset = max(place.committed, place.next if oldest is None else oldest)
            if partitions is not None or offset > place.committed:
                metadata = mark(self._producer, read=place.next, taken=place.taken)
                offsets[partition] = OffsetAndMetadata(offset, metadata, -1)
        return offsets

    def committed(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        """Note what has been committed."""
        for partition, offset in offsets.items():
            if partition in self._places:
                place = self._places[partition]
                place.committed = max(place.committed, offset.offset)

    def gauges(self) -> dict[SeriesKey, float]:
        """Say how much of each log is yet to be read."""
        return {
            ("kafka_lag", (("topic", topic), ("partition", str(number)))): max(
                0, place.end - place.next
            )
            for (topic, number), place in self._places.items()
        }
