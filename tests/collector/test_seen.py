"""Test the bounded memory of decided spans."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.seen import LOAD, SeenKeys, packed, unpacked

KEYS = st.lists(st.integers(1, 60), max_size=300)


def seen_keys(limit: int, **more: Iterator[int]) -> SeenKeys:
    """Build a memory with a fixed salt."""
    return SeenKeys(limit=limit, salt=b"salt", **more)


def key(number: int) -> bytes:
    """Build a 24-byte span key."""
    return number.to_bytes(24, "big")


@settings(max_examples=60, deadline=None)
@given(KEYS)
def test_agrees_with_a_set_below_the_limit(numbers: list[int]) -> None:
    """Below its limit it says of every key what a set would say, however often one is added."""
    seen = seen_keys(60)
    seen.add(seen.hashed(key(number)) for number in numbers)

    assert [key(number) in seen for number in range(61)] == [n in set(numbers) for n in range(61)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 300))
def test_keeps_the_newest_and_never_more_than_its_capacity(limit: int, count: int) -> None:
    """The newest keys up to the limit are always held, and never more than the capacity in all."""
    seen = seen_keys(limit)
    seen.add(seen.hashed(key(number)) for number in range(count))

    assert all(key(number) in seen for number in range(max(0, count - limit), count))
    assert len(seen) <= seen.capacity
    assert sum(key(number) in seen for number in range(count)) == len(seen)


def test_a_key_that_comes_again_is_renewed() -> None:
    """A key added again is remembered as long as a new one."""
    seen = seen_keys(30)
    for number in range(200):
        seen.add([seen.hashed(key(0)), seen.hashed(key(number))])

    assert key(0) in seen
    assert key(1) not in seen


def test_holds_keys_whose_hashes_collide_in_the_table() -> None:
    """Hashes that fall on one slot, or on the last one, are told apart."""
    seen = seen_keys(30)
    slots = int(10 / LOAD) + 2
    hashes = [slots * number + slots - 1 for number in range(1, 10)]
    seen.add(hashes)
    seen.add(hashes)

    assert len(seen) == 9


def test_the_salt_decides_the_hash() -> None:
    """Two journals hash one key differently, so that nobody can prepare keys that collide."""
    assert seen_keys(1).hashed(key(1)) != SeenKeys(limit=1, salt=b"other").hashed(key(1))


def test_look_ups_wait_for_the_keys_of_an_earlier_run() -> None:
    """While earlier keys are loaded adding does not wait, a look-up does, and neither is lost."""
    hashes = seen_keys(1).hashed
    may_load = threading.Event()

    def earlier() -> Iterator[int]:
        may_load.wait(timeout=30)
        yield hashes(key(1))

    seen = seen_keys(10, earlier=earlier())
    seen.add([hashes(key(2))])
    answers: list[bool] = []
    reader = threading.Thread(
        target=lambda: answers.extend(key(number) in seen for number in (1, 2, 3))
    )
    reader.start()
    assert answers == []
    may_load.set()
    reader.join(timeout=30)

    assert answers == [True, True, False]


def test_packed_hashes_are_read_back() -> None:
    """Hashes written to the journal come back as they were, eight bytes each."""
    chance = random.Random(1)  # noqa: S311  # test data
    hashes = [chance.getrandbits(64) for _ in range(1_000)]

    assert list(unpacked(packed(hashes))) == hashes
    assert len(packed(hashes)) == 8_000
    assert packed([1]) == b"\x01" + bytes(7)
