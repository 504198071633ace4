"""Test the life of one stream: learning, arming, firing, clearing."""

from __future__ import annotations

import random

import msgspec
import pytest

from alerts.detectors.evidence import CAP, Bets
from alerts.detectors.reference import Null
from alerts.detectors.stream import (
    CLEAR,
    LEAST,
    Key,
    StreamState,
    Turned,
    arm,
    learned,
    observe,
    silenced,
    view,
)
from tests.alerts.detectors.traffic import HOUR_NS, SETTINGS, START_NS

KEY = Key(agent="kettle", environment="production", scorer="looping", scorer_version="1")
NULL = Null(reference_rate=0.09, null_rate=0.1, overdispersion=1.0, per_hour=1.0)


def armed(**fields: object) -> StreamState:
    """Build a stream that is armed at a page threshold of 34,560 and a ticket threshold of 2,688."""
    state = StreamState(key=KEY, **fields)  # type: ignore[arg-type]  # checked by the struct
    arm(state, NULL, SETTINGS)
    return state


class Feed:
    """Feed one stream, a conversation a minute."""

    def __init__(self, state: StreamState) -> None:
        self.state = state
        self.bets = Bets(NULL.null_rate, NULL.overdispersion)
        self.minute = 0

    def give(self, shortfall: float, times: int = 1) -> list[Turned]:
        """Give the same shortfall several times and return what it turned on or off."""
        turned: list[Turned] = []
        for _ in range(times):
            self.minute += 1
            started_ns = START_NS + self.minute * HOUR_NS // 60
            turned += observe(
                self.state, self.bets, shortfall, started_ns, before_ns=self.state.last_ns
            )
        return turned


def test_a_stream_learns_until_it_has_hours_and_conversations() -> None:
    """Neither a busy hour nor a day of silence is a reference; both conditions must hold."""
    busy, thin = StreamState(key=KEY), StreamState(key=KEY)
    assert not any(learned(busy, 0.0, START_NS + i, SETTINGS) for i in range(5_000))
    assert not any(learned(thin, 0.0, START_NS + i * HOUR_NS, SETTINGS) for i in range(900))
    assert view(busy).phase == view(thin).phase == "learning"
    for hour in range(1, 24):
        assert not learned(busy, 0.0, START_NS + hour * HOUR_NS, SETTINGS)
    assert learned(busy, 1.0, START_NS + 24 * HOUR_NS, SETTINGS)
    assert busy.blocks == []
    shown = view(busy)
    assert (shown.phase, shown.learned, shown.learned_hours) == ("armed", 5_023, 24)


def test_the_threshold_is_the_budget_in_conversations() -> None:
    """Ninety days of an agent's traffic, times its scorers, times two for its slices."""
    state = StreamState(key=KEY)
    arm(state, msgspec.structs.replace(NULL, per_hour=200.0), SETTINGS)
    assert state.page == 200 * 24 * 90 * 8 * 2
    assert state.ticket == 200 * 24 * 7 * 8 * 2


def test_a_handful_of_conversations_a_day_needs_more_than_two_failures() -> None:
    """However short the budget, a threshold has a floor."""
    state = StreamState(key=KEY)
    arm(state, NULL, msgspec.structs.replace(SETTINGS, page_hours=0.1, ticket_hours=0.1))
    assert state.page == state.ticket == LEAST


def test_a_ticket_comes_before_a_page_and_goes_after_it() -> None:
    """One statistic has two thresholds; each alarm ends a factor of ten below its own."""
    feed = Feed(armed())
    assert feed.give(0.0, 100) == []
    fired = feed.give(1.0, 12)
    assert [(t.kind, t.severity) for t in fired] == [("fired", "ticket"), ("fired", "page")]
    assert view(feed.state).firing == ("ticket", "page")
    cleared = feed.give(0.0, 200)
    assert [(t.kind, t.severity, t.reason) for t in cleared] == [
        ("cleared", "page", "recovered"),
        ("cleared", "ticket", "recovered"),
    ]
    assert view(feed.state).firing == ()


def test_an_alarm_does_not_flap() -> None:
    """Between a tenth of the threshold and the threshold nothing turns."""
    feed = Feed(armed())
    feed.give(1.0, 9)
    assert view(feed.state).firing == ("ticket", "page")
    while feed.state.evidence >= feed.state.page:
        assert feed.give(0.0) == []
    for _ in range(30):  # around the threshold, again and again
        assert feed.give(1.0 if feed.state.evidence < feed.state.page else 0.0) == []
    assert feed.state.evidence > feed.state.page / CLEAR


def test_a_long_outage_is_over_soon_after_it_ended() -> None:
    """The cap bounds how long recovery takes, however long the trouble was."""
    short, long = Feed(armed()), Feed(armed())
    short.give(1.0, 20)
    long.give(1.0, 20_000)
    assert long.state.evidence == CAP * long.state.page
    passes = 0
    while view(long.state).firing:
        long.give(0.0)
        passes += 1
    assert passes < 400


def test_a_change_tells_since_when_and_how_bad() -> None:
    """The alarm holds the interval of the change and counts what came since."""
    feed = Feed(armed())
    feed.give(0.0, 300)
    fired = feed.give(1.0, 12)[-1]
    changed_ns = START_NS + 300 * HOUR_NS // 60
    assert fired.change.low_ns <= changed_ns <= fired.change.high_ns
    feed.give(1.0, 8)
    change = view(feed.state).change
    assert change is not None
    assert change.low_ns == fired.change.low_ns
    assert change.failures == 20
    assert change.failures <= change.observations < 40


def test_the_next_change_is_looked_for_after_the_last_one() -> None:
    """After an alarm ended, a second change is not dated to the first."""
    feed = Feed(armed())
    feed.give(1.0, 30)
    feed.give(0.0, 400)
    second_ns = START_NS + feed.minute * HOUR_NS // 60
    fired = feed.give(1.0, 14)[-1]
    assert fired.kind == "fired"
    assert second_ns - HOUR_NS <= fired.change.low_ns <= second_ns <= fired.change.high_ns


def test_silence_ends_an_alarm_and_forgets_its_evidence() -> None:
    """A version without traffic clears as silent, and begins anew when it comes back."""
    feed = Feed(armed())
    feed.give(1.0, 12)
    assert [(t.kind, t.severity, t.reason) for t in silenced(feed.state)] == [
        ("cleared", "ticket", "silent"),
        ("cleared", "page", "silent"),
    ]
    assert feed.state.evidence == 0.0
    assert feed.give(1.0) == []


@pytest.mark.parametrize("cut", [1, 57, 700, 1_399])
def test_a_state_survives_the_store_to_the_bit(cut: int) -> None:
    """Written as JSON and read back anywhere in between, the fold ends in the same state."""
    rng = random.Random(11)  # noqa: S311 - repeatable, not secret
    shortfalls = [rng.choice((0.0, 0.0, 0.0, 1.0, rng.random())) for _ in range(1_400)]
    straight, broken = Feed(armed()), Feed(armed())
    for index, shortfall in enumerate(shortfalls):
        straight.give(shortfall)
        if index == cut:
            broken.state = msgspec.json.decode(msgspec.json.encode(broken.state), type=StreamState)
        broken.give(shortfall)
    assert msgspec.json.encode(broken.state) == msgspec.json.encode(straight.state)
