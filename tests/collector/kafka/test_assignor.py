"""Partitions are shared by number, evenly, and moved in two steps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kafka import TopicPartition

from collector.kafka.assignor import shared

TOPICS = ("logs", "spans")


def partitions(count: int) -> list[TopicPartition]:
    """List the partitions of both topics."""
    return [TopicPartition(topic, number) for topic in TOPICS for number in range(count)]


def settled(
    owners: dict[TopicPartition, str], members: list[str], count: int
) -> dict[str, list[TopicPartition]]:
    """Share until nothing moves any more."""
    for _ in range(3):
        shares = shared(partitions(count), owners, members)
        owners = {one: member for member, own in shares.items() for one in own}
    return shares


@given(
    count=st.integers(1, 12),
    members=st.lists(st.sampled_from("abcde"), min_size=1, unique=True),
    before=st.dictionaries(st.integers(0, 11), st.sampled_from("abcdexyz")),
)
def test_everybody_gets_an_equal_share_of_whole_numbers(
    count: int, members: list[str], before: dict[int, str]
) -> None:
    """All partitions are given out, the same numbers of both topics, whoever had them before."""
    owners = {one: before[one.partition] for one in partitions(count) if one.partition in before}
    shares = settled(owners, members, count)
    assert sorted(one for own in shares.values() for one in own) == sorted(partitions(count))
    numbers = [sorted(n for t, n in own if t == "logs") for own in shares.values()]
    assert numbers == [sorted(n for t, n in own if t == "spans") for own in shares.values()]
    assert max(map(len, numbers)) - min(map(len, numbers)) <= 1


def test_what_moves_is_first_given_to_nobody() -> None:
    """Its owner has to let go before the next one begins."""
    owners = dict.fromkeys(partitions(4), "a")
    shares = shared(partitions(4), owners, ["a", "b"])
    assert {number for _, number in shares["a"]} == {0, 1}
    assert shares["b"] == []
    owners = dict.fromkeys(shares["a"], "a")
    assert {n for _, n in shared(partitions(4), owners, ["a", "b"])["b"]} == {2, 3}


def test_members_keep_what_they_have() -> None:
    """A third member takes no more than its share."""
    owners = {one: "a" if one.partition < 3 else "b" for one in partitions(6)}
    shares = settled(owners, ["a", "b", "c"], 6)
    assert {n for _, n in shares["a"]} == {0, 1}
    assert {n for _, n in shares["b"]} == {3, 4}
