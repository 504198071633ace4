"""Test that messages are read a few at a time, and slow ones in nobody's way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from collector.errors import RetryableError, SlowError
from collector.receivers.reading_places import ReadingPlaces

LONG_S = 60.0


def run(steps: Callable[[], Awaitable[None]]) -> None:
    """Run on an event loop."""

    async def bounded() -> None:
        async with asyncio.timeout(LONG_S / 2):
            await steps()

    asyncio.run(bounded())


async def read(places: ReadingPlaces, going_on: asyncio.Event) -> str:
    """Read a message for as long as it takes, and say what came of it."""
    try:
        async with places.place():
            await going_on.wait()
    except (RetryableError, SlowError) as error:
        return type(error).__name__
    return "read"


def test_those_that_wait_take_the_places_of_the_slow() -> None:
    """As many that read for long make room as there are that wait; the others go on."""

    async def steps() -> None:
        places = ReadingPlaces(3, within_s=LONG_S, patience_s=0.02)
        never, now = asyncio.Event(), asyncio.Event()
        now.set()
        slow = [asyncio.create_task(read(places, never)) for _ in range(3)]
        await asyncio.sleep(0)
        assert await asyncio.gather(*[read(places, now) for _ in range(2)]) == ["read"] * 2
        ended = [task.result() for task in slow if task.done()]
        assert ended == ["SlowError"] * len(ended)
        assert 1 <= len(ended) <= 2
        assert not slow[2].done()
        never.set()
        assert await slow[2] == "read"

    run(steps)


def test_more_that_wait_than_places() -> None:
    """Everybody has a turn, however many slow ones stand in line before."""

    async def steps() -> None:
        places = ReadingPlaces(2, within_s=LONG_S, patience_s=0.01)
        never, now = asyncio.Event(), asyncio.Event()
        now.set()
        slow = [asyncio.create_task(read(places, never)) for _ in range(10)]
        await asyncio.sleep(0)
        assert await read(places, now) == "read"
        for task in slow:
            task.cancel()

    run(steps)


def test_nobody_hurries_who_reads_alone() -> None:
    """Without others that wait a message has its whole time, and no more."""

    async def steps() -> None:
        places = ReadingPlaces(1, within_s=0.3, patience_s=0.001)
        now = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, now.set)
        assert await read(places, now) == "read"
        assert await read(places, asyncio.Event()) == "SlowError"
        assert await read(places, now) == "read"

    run(steps)


@pytest.mark.parametrize("bounds", [{"wait_s": 0.02}, {"waiting": 1}])
def test_no_place(bounds: dict[str, float]) -> None:
    """Who finds no place in time, or no room to wait, is told to try again."""

    async def steps() -> None:
        places = ReadingPlaces(
            1,
            within_s=LONG_S,
            patience_s=LONG_S,
            wait_s=bounds.get("wait_s", LONG_S),
            waiting=int(bounds.get("waiting", 10)),
        )
        never = asyncio.Event()
        first = asyncio.create_task(read(places, never))
        await asyncio.sleep(0)
        second = asyncio.create_task(read(places, never))
        await asyncio.sleep(0)
        assert await read(places, never) == "RetryableError"
        never.set()
        assert await first == "read"
        assert await second == ("read" if "waiting" in bounds else "RetryableError")

    run(steps)


def test_a_reader_that_leaves_gives_its_place_back() -> None:
    """A call that is cancelled, or fails, while it reads or waits holds nothing."""

    async def steps() -> None:
        places = ReadingPlaces(1, within_s=LONG_S, patience_s=LONG_S)
        never, now = asyncio.Event(), asyncio.Event()
        now.set()
        for _ in range(3):
            tasks = [asyncio.create_task(read(places, never)) for _ in range(3)]
            await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(LookupError):
            async with places.place():
                raise LookupError
        assert await read(places, now) == "read"

    run(steps)
