"""Test the plan of the story and the order of what happens in it."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from collector.demo.dialogue import SECOND
from collector.demo.mistakes import BROKEN_VERSION, HEALTHY_VERSION, Regression
from collector.demo.story import HOUR, Story, events, rhythm

END = 1_790_000_000 * SECOND


def story(seed: int = 1, *, hours: float = 6.0) -> Story:
    """Plan a short story, with the switch in its middle."""
    return Story(
        random.Random(seed),  # noqa: S311 - repeatable, not secret
        end_ns=END,
        regression=Regression(),
        hours=hours,
        switch_hours=(hours / 2, hours / 2 + 0.5),
    )


def test_the_default_plan() -> None:
    """Two days that end at the given moment; the switch depends on the seed."""
    plans = [
        Story(random.Random(seed), end_ns=END, regression=None).plan  # noqa: S311 - not a secret
        for seed in range(20)
    ]
    assert {plan.end_ns - plan.start_ns for plan in plans} == {48 * HOUR}
    hours = [(plan.switch_ns - plan.start_ns) / HOUR for plan in plans]
    assert all(34 <= hour <= 38 for hour in hours)
    assert len(set(hours)) == 20


def test_arrivals() -> None:
    """Conversations come in order, about 100 an hour, and end before the story does."""
    conversations = list(story(hours=24).conversations())
    starts = [one.started_ns for one in conversations]
    assert starts == sorted(starts)
    assert starts[0] >= END - 24 * HOUR
    assert 2_150 < len(conversations) < 2_650
    assert all(one.ended_ns < END for one in conversations)


def test_the_switch() -> None:
    """Who comes before it meets the old version, who comes later the new one."""
    told = story()
    for one in told.conversations():
        new = one.started_ns >= told.plan.switch_ns
        assert one.agent_version == (BROKEN_VERSION if new else HEALTHY_VERSION)


def test_the_seed_decides() -> None:
    """The same seed tells the same story."""
    assert list(story().conversations()) == list(story().conversations())
    assert list(story().conversations()) != list(story(2).conversations())


def test_the_time_does_not_matter() -> None:
    """The same seed tells the same story at another time of the day."""
    one, later = (
        Story(random.Random(1), end_ns=END + shift * HOUR, regression=None, hours=6.0)  # noqa: S311 - repeatable
        for shift in (0, 7)
    )
    before = [(c.id, c.intent, c.started_ns + 7 * HOUR) for c in one.conversations()]
    assert before == [(c.id, c.intent, c.started_ns) for c in later.conversations()]


def test_the_day_has_a_rhythm() -> None:
    """The mean over a day is one, and the afternoon is busier than the night."""
    hours = [rhythm(hour * HOUR) for hour in range(24)]
    assert sum(hours) / 24 == pytest.approx(1.0)
    assert max(hours) == hours[15]


def test_events_are_in_order() -> None:
    """They come in the order of their times, conversations mixed; each turn begins and ends."""
    told = list(events(story().conversations()))
    times = [event.at_ns for event in told]
    assert times == sorted(times)
    open_turns: set[tuple[str, int]] = set()
    most = 0
    for event in told:
        turn = (event.conversation.id, event.turn)
        assert (turn in open_turns) is not event.begins
        if event.begins:
            open_turns.add(turn)
        elif event.step is None:
            open_turns.remove(turn)
        most = max(most, len(open_turns))
    assert not open_turns
    assert most > 1
    assert sum(event.last for event in told) == len(list(story().conversations()))


def test_going_on() -> None:
    """After the story conversations come every few seconds, and those under way are finished."""
    told = story()
    later = list(islice(told.afterwards(start_ns=END, every_s=4.0), 200))
    gap = (later[-1].started_ns - END) / SECOND / 200
    assert 3 < gap < 5
    assert later[0].agent_version == BROKEN_VERSION

    taken = 0

    def over() -> bool:
        nonlocal taken
        taken += 1
        return taken > 5

    last = list(events(told.afterwards(start_ns=END, every_s=4.0), over=over))
    assert sum(event.last for event in last) == 5
