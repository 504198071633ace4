"""Share partitions so that the same number of every topic goes to one member, and stays there.

What belongs together has one key, in the topic of spans and in that of logs, and so one
partition number in both: whoever reads the one must read the other. Members keep what they have
as far as everybody gets an equal share. It is cooperative (KIP-429): a partition that moves is
given to nobody first, so that its owner lets go of it before the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from kafka import TopicPartition
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor, RebalanceProtocol
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

VERSION = 1
"""Of the wire format; the first that says what a member has."""


class Together(AbstractPartitionAssignor):  # type: ignore[misc]  # the library has no types
    """Assign partitions by their number; see the module's docstring."""

    name = "outrider-together"

    def __init__(self, owned: Callable[[], Collection[TopicPartition]]) -> None:
        """Take what says which partitions this member has."""
        self._owned = owned

    def supported_protocols(self) -> list[RebalanceProtocol]:
        """Say that partitions move one by one."""
        return [RebalanceProtocol.COOPERATIVE]

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        """Tell the group what we read and have."""
        spelled = ConsumerProtocolSubscription.TopicPartition
        owned = by_topic(self._owned())
        return ConsumerProtocolSubscription(
            version=VERSION,
            topics=sorted(topics),
            user_data=b"",
            owned_partitions=[
                spelled(topic=topic, partitions=numbers) for topic, numbers in owned.items()
            ],
        )

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, Any]:
        """Decide for the group; called on its leader."""
        topics = sorted({topic for member in members for topic in member.metadata.topics})
        partitions = [
            TopicPartition(topic, number)
            for topic in topics
            for number in sorted(cluster.partitions_for_topic(topic) or ())
        ]
        owners: dict[TopicPartition, str] = {}
        for member in sorted(members, key=lambda member: member.member_id):
            for owned in member.metadata.owned_partitions or ():
                for number in owned.partitions:
                    owners.setdefault(TopicPartition(owned.topic, number), member.member_id)
        shares = shared(partitions, owners, [member.member_id for member in members])
        return {
            member: ConsumerProtocolAssignment(VERSION, sorted(by_topic(own).items()), b"")
            for member, own in shares.items()
        }

    def on_assignment(self, assignment: Any, generation: int) -> None:
        """Keep nothing: the consumer knows what it has."""


def shared(
    partitions: Collection[TopicPartition],
    owners: Mapping[TopicPartition, str],
    members: Collection[str],
) -> dict[str, list[TopicPartition]]:
    """Return who gets what now; what has to be let go of first is left out.

    Args:
        partitions: All there are.
        owners: Who has which.
        members: Everybody.
    """
    numbers = sorted({partition.partition for partition in partitions})
    holding: dict[str, list[int]] = {member: [] for member in sorted(members)}
    for number in numbers:
        has = [owners[one] for one in partitions if one.partition == number and one in owners]
        present = sorted(member for member in set(has) if member in holding)
        if present:
            holding[max(present, key=has.count)].append(number)
    least, more = divmod(len(numbers), len(holding))
    # Those who have most may keep one more where the shares are not even.
    ranked = sorted(holding, key=lambda member: -len(holding[member]))
    quota = {member: least + (place < more) for place, member in enumerate(ranked)}
    target = {number: m for m in ranked for number in holding[m][: quota[m]]}
    free = [number for number in numbers if number not in target]
    for member in ranked:
        for number in free[: quota[member] - min(quota[member], len(holding[member]))]:
            target[number] = member
            free.remove(number)
    shares: dict[str, list[TopicPartition]] = {member: [] for member in holding}
    for one in sorted(partitions):
        member = target[one.partition]
        if owners.get(one, member) == member or owners[one] not in holding:
            shares[member].append(one)
    return shares


def by_topic(partitions: Collection[TopicPartition]) -> dict[str, list[int]]:
    """Group partitions."""
    found: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        found.setdefault(topic, []).append(number)
    return found
