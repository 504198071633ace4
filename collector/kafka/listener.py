"""Hear from the group which partitions come and go.

The client library calls this on its own thread, while the thread that reads waits in ``poll``;
the other members of the group get what we give up once we return.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener


class Listener(AsyncConsumerRebalanceListener):  # type: ignore[misc]  # the library has no types
    """Hold new partitions back until they are placed, and let go of others in order."""

    def __init__(
        self,
        consumer: KafkaConsumer,
        *,
        arrived: Callable[[Collection[TopicPartition]], None],
        hand_over: Callable[[Collection[TopicPartition]], Mapping[TopicPartition, Any]],
        lose: Callable[[Collection[TopicPartition]], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Keep what is told.

        Args:
            consumer: Whose group it is.
            arrived: Told of partitions that are ours now; they are paused.
            hand_over: Lets go of partitions and returns what to commit for them.
            lose: Told of partitions that are others' already.
            failed: Told why the last commit was not taken.
        """
        self._consumer = consumer
        self._arrived = arrived
        self._hand_over = hand_over
        self._lose = lose
        self._failed = failed

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Read nothing before we know where to go on."""
        self._consumer.pause(*assigned)
        self._arrived(assigned)

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Let go while the offsets can still be committed."""
        offsets = self._hand_over(revoked)
        if not offsets:
            return
        try:
            await self._consumer.commit_async(dict(offsets))
        except Exception as error:  # noqa: BLE001 - whoever is next reads a little more again
            self._failed(error)

    async def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """Let go without a word: the group has gone on without us."""
        self._lose(lost)
