"""Tell alarms to real receivers, out of a real store."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from alerts.console.alarm_log import read_events
from alerts.incident import Query
from alerts.metrics import CATALOGUE
from alerts.notification_outbox import NotificationOutbox
from alerts.notifier import FIRST_PAUSE_S, LONGEST_PAUSE_S, POLL_S, REFUSALS, Notifier
from alerts.stream_view import Severity
from alerts.webhook import Webhook
from collector.errors import PermanentError, StoreUnavailableError
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.alarms import NOW_NS, SECOND, alarm, rows
from tests.alerts.embedded import embedded, emptied
from tests.alerts.receiver import Receiver

DAY_S = 86_400.0


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open one store for all tests of this file."""
    with embedded(tmp_path_factory.mktemp("notifier")) as store:
        yield store


@pytest.fixture
def store(opened: ClickHouseStore) -> ClickHouseStore:
    """Give it without alarms."""
    return emptied(opened, "alert_events")


class Bench:
    """A notifier with a clock that the test sets, and what it counted."""

    def __init__(
        self,
        store: ClickHouseStore,
        receiver: Receiver,
        *,
        severity: Severity = "page",
        query: Query | None = None,
        timeout_s: float = 0.5,
    ) -> None:
        self.store = store
        self.receiver = receiver
        self.now_ns = NOW_NS
        self.counted: Counter[tuple[str, str]] = Counter()
        self.writable = self.ready = True
        self.stop = threading.Event()
        query = query or store.query
        self.notifier = Notifier(
            NotificationOutbox(query, self.write, channel="webhook", severity=severity),
            Webhook(receiver.url, clock_ns=self.clock, timeout_s=timeout_s),
            query=query,
            console="http://console",
            max_age_s=DAY_S,
            ready=lambda: self.ready,
            clock_ns=self.clock,
            count=self.count,
            random=lambda: 1.0,
        )

    def clock(self) -> int:
        """Return the time."""
        return self.now_ns

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Count, as the tally does."""
        assert tuple(labels) == CATALOGUE[name].labels
        self.counted[name, labels.get("result", "")] += int(amount)

    def write(self, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Write to the store, where it takes anything."""
        if not self.writable:
            raise StoreUnavailableError("read-only")
        self.store.insert(rows)

    def step(self, later_s: float = 0.0) -> list[str]:
        """Let time pass, do one step and return the ids of the alarms posted in it."""
        self.now_ns += int(later_s * SECOND)
        before = len(self.receiver.posts)
        self.notifier.step(self.stop)
        return [body["event_id"][0] + body["kind"][0] for body in self.receiver.bodies[before:]]

    def pending(self) -> float:
        """Return what the gauge says."""
        return sum(self.notifier.gauges().values())

    def results(self) -> dict[str, int]:
        """Return the counted results that are not nought."""
        return {
            result: n
            for (name, result), n in self.counted.items()
            if name == "notifications_total" and n
        }


def kinds(store: ClickHouseStore) -> list[str]:
    """Return the kinds of all events."""
    return [row["kind"] for row in store.query("SELECT kind FROM alert_events ORDER BY at, kind")]


def test_an_alarm_is_told_once(store: ClickHouseStore) -> None:
    """What was delivered is noted in the store and not told again, by this process or the next."""
    store.insert(rows(alarm("a")))
    store.insert(rows(alarm("a")))  # the detectors write at least once
    with Receiver() as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        assert bench.step(60) == []
        assert Bench(store, receiver).step() == []
    (post,) = receiver.posts
    assert post.headers["idempotency-key"] == post.body["event_id"] == "a" * 32
    assert bench.results() == {"delivered": 1}
    assert bench.pending() == 0
    assert kinds(store)[-1] == "delivered"
    page = read_events(store.query, limit=10)  # what the console shows
    assert ([event.event_id for event in page.events], page.unreadable) == (["a" * 32], 0)


def test_a_store_without_tables(store: ClickHouseStore) -> None:
    """Until it has them nothing is asked of it, and nothing is counted as an error."""
    store.insert(rows(alarm("a")))
    with Receiver() as receiver:
        bench = Bench(store, receiver)
        bench.ready = False
        assert bench.step() == []
        assert ("notification_errors_total", "") not in bench.counted
        bench.ready = True
        assert bench.step() == ["af"]


def test_every_result_is_counted_from_nought(store: ClickHouseStore) -> None:
    """A rise from nothing to one can be seen by an alerting rule."""
    with Receiver() as receiver:
        bench = Bench(store, receiver)
    assert {r for (n, r) in bench.counted if n == "notifications_total"} == {
        "delivered",
        "failed",
        "refused",
        "expired",
    }


def test_a_failing_receiver_is_tried_again_ever_more_slowly(store: ClickHouseStore) -> None:
    """An error of the receiver is repeated after growing pauses, until it takes the alarm."""
    store.insert(rows(alarm("a")))
    with Receiver(500, 502, 503) as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        assert bench.step(FIRST_PAUSE_S - 0.1) == []
        assert bench.pending() == 1
        assert bench.step(0.2) == ["af"]
        assert bench.step(2 * FIRST_PAUSE_S - 0.1) == []
        assert bench.step(0.2) == ["af"]
        assert bench.step(4 * FIRST_PAUSE_S + 0.1) == ["af"]
    assert bench.results() == {"failed": 3, "delivered": 1}


def test_a_receiver_that_asks_for_time_gets_it(store: ClickHouseStore) -> None:
    """Retry-After holds for all alarms, not only for the one that was answered so."""
    store.insert(rows(alarm("a", age_s=90), alarm("b", age_s=30, version="2.5.0")))
    with Receiver((429, {"Retry-After": "40"})) as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        assert bench.step(39) == []
        assert sorted(bench.step(2)) == ["af", "bf"]


def test_an_alarm_that_fails_does_not_hold_up_others(store: ClickHouseStore) -> None:
    """One that the receiver chokes on is tried beside the others and never before them."""
    store.insert(rows(alarm("a", age_s=90), alarm("b", age_s=30, version="2.5.0")))
    with Receiver(500, 200) as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af", "bf"]
        assert bench.step(60) == ["af"]


@pytest.mark.parametrize("step", ["hang", "garbage"])
def test_a_silent_receiver_is_left_alone(store: ClickHouseStore, step: str) -> None:
    """A receiver that does not answer costs one wait a round, not one for each alarm."""
    store.insert(rows(alarm("a", age_s=90), alarm("b", age_s=30, version="2.5.0")))
    with Receiver(step, step) as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        assert bench.step(FIRST_PAUSE_S + 0.1) == ["bf"]
        assert bench.step(LONGEST_PAUSE_S) == ["af", "bf"]
    assert bench.results() == {"failed": 2, "delivered": 2}


def test_a_refused_alarm_is_given_up_soon(store: ClickHouseStore) -> None:
    """A wrong address is not tried for a day; the end of that alarm is not told either."""
    store.insert(rows(alarm("a")))
    with Receiver(*[404] * REFUSALS) as receiver:
        bench = Bench(store, receiver)
        for _ in range(REFUSALS + 3):
            bench.step(60)
        store.insert(rows(alarm("c", kind="cleared", age_s=-500)))
        assert bench.step(600) == []
        assert Bench(store, receiver).step() == []
    assert len(receiver.posts) == REFUSALS
    assert bench.results() == {"failed": REFUSALS - 1, "refused": 1}
    (noted,) = store.query("SELECT detail FROM alert_events WHERE kind = 'undeliverable'")
    assert msgspec.json.decode(noted["detail"]) == {
        "of": "a" * 32,
        "channel": "webhook",
        "why": "refused: 404",
    }


def test_an_alarm_that_is_too_old_is_given_up(store: ClickHouseStore) -> None:
    """After `alerts.max_age` nobody is woken for it any more, and the counter says so."""
    store.insert(rows(alarm("a")))
    with Receiver(*[500] * 3) as receiver:
        bench = Bench(store, receiver)
        bench.step()
        bench.step(60)
        bench.step(DAY_S)
        assert bench.step(60) == []
    assert bench.results() == {"failed": 2, "expired": 1}
    assert "undeliverable" in kinds(store)


def test_old_alarms_are_not_dug_up(store: ClickHouseStore) -> None:
    """Who sets a webhook today is not told of last month's alarms, nor of their end."""
    store.insert(rows(alarm("a", age_s=DAY_S * 30), alarm("c", kind="cleared", age_s=30)))
    with Receiver() as receiver:
        assert Bench(store, receiver).step() == []


def test_the_end_follows_its_beginning(store: ClickHouseStore) -> None:
    """While the beginning cannot be delivered its end waits; then both are told in order."""
    store.insert(rows(alarm("a", age_s=600), alarm("c", kind="cleared", age_s=60)))
    with Receiver(500) as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        assert [bench.step(10), bench.step(10)] == [["af"], ["cc"]]
    assert receiver.bodies[-1]["kind"] == "cleared"
    assert "back to usual" in receiver.bodies[-1]["text"]


def test_the_end_of_an_alarm_told_long_ago_is_told(store: ClickHouseStore) -> None:
    """An alarm may outlast `alerts.max_age`; whoever heard of it hears of its end."""
    store.insert(rows(alarm("a")))
    with Receiver() as receiver:
        bench = Bench(store, receiver)
        assert bench.step() == ["af"]
        store.insert(rows(alarm("c", kind="cleared", age_s=-9 * DAY_S)))
        after = Bench(store, receiver)
        assert after.step(9 * DAY_S + 60) == ["cc"]


def test_an_end_belongs_to_the_latest_beginning(store: ClickHouseStore) -> None:
    """The second alarm of a stream is paired with its own end, not with the first one's."""
    store.insert(
        rows(
            alarm("a", age_s=3 * DAY_S),
            alarm("b", age_s=2 * DAY_S, kind="cleared"),
            alarm("d", age_s=600),
            alarm("e", age_s=60, kind="cleared"),
        )
    )
    with Receiver() as receiver:
        assert Bench(store, receiver).step() == ["df", "ec"]


@pytest.mark.parametrize(("least", "told"), [("page", ["bf"]), ("ticket", ["af", "bf"])])
def test_only_what_is_severe_enough_is_told(
    store: ClickHouseStore, least: Severity, told: list[str]
) -> None:
    """Tickets are told only where they are asked for; what is learned is told nobody."""
    store.insert(
        rows(
            alarm("x", kind="armed", age_s=900),
            alarm("a", severity="ticket", age_s=300),
            alarm("b", age_s=60),
        )
    )
    with Receiver() as receiver:
        assert Bench(store, receiver, severity=least).step() == told


def test_a_crash_before_the_note_tells_twice_with_one_key(store: ClickHouseStore) -> None:
    """Delivered and not noted means delivered again after a restart: never lost, same key."""
    store.insert(rows(alarm("a")))
    with Receiver() as receiver:
        bench = Bench(store, receiver)
        bench.writable = False
        assert bench.step() == ["af"]
        assert bench.step(60) == []  # this process knows
        assert Bench(store, receiver).step() == ["af"]
    assert len({post.headers["idempotency-key"] for post in receiver.posts}) == 1
    assert bench.counted["notification_errors_total", ""] == 2


def test_a_note_is_written_when_the_store_is_back(store: ClickHouseStore) -> None:
    """A store that refuses for a while is given the note later, and the end is told then."""
    store.insert(rows(alarm("a"), alarm("c", kind="cleared", age_s=30)))
    with Receiver() as receiver:
        bench = Bench(store, receiver)
        bench.writable = False
        assert bench.step() == ["af", "cc"]
        bench.writable = True
        assert bench.step(60) == []
    assert kinds(store).count("delivered") == 2


def test_a_store_that_does_not_answer_is_counted(store: ClickHouseStore) -> None:
    """While alarms cannot be read nothing is told and nothing ends."""

    def away(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        raise StoreUnavailableError("no answer")

    with Receiver() as receiver:
        bench = Bench(store, receiver, query=away)
        assert bench.step() == []
    assert bench.counted["notification_errors_total", ""] == 1


def test_without_its_facts_an_alarm_is_told_all_the_same(store: ClickHouseStore) -> None:
    """A page without examples is better than none."""
    store.insert(rows(alarm("a")))

    def partly(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        if "FROM scores" in sql:
            raise PermanentError("memory limit")
        return store.query(sql, parameters)

    with Receiver() as receiver:
        bench = Bench(store, receiver, query=partly)
        assert bench.step() == ["af"]
    assert receiver.bodies[0]["failing_conversations"] == []
    assert bench.counted["notification_errors_total", ""] == 1


def test_an_event_that_cannot_be_read_is_passed_over(store: ClickHouseStore) -> None:
    """An event of another release does not silence the others."""
    broken = rows(alarm("b", age_s=90))
    broken["alert_events"][0][5] = '{"severity":"page","agent":3}'
    store.insert(broken)
    store.insert(rows(alarm("a")))
    with Receiver() as receiver:
        assert Bench(store, receiver).step() == ["af"]


def test_a_stop_ends_it_while_the_receiver_hangs(store: ClickHouseStore) -> None:
    """The thread ends when told to, in the middle of a post; the alarm is told after the restart."""
    store.insert(rows(alarm("a")))
    with Receiver("hang") as receiver:
        bench = Bench(store, receiver, timeout_s=60)
        thread = threading.Thread(target=bench.notifier.run, args=(bench.stop,))
        thread.start()
        assert receiver.arrived.wait(60)
        bench.stop.set()
        thread.join(60)
        assert not thread.is_alive()
        assert Bench(store, receiver).step() == ["af"]
    assert bench.results() == {}


def test_it_goes_on_after_an_error_of_ours(
    store: ClickHouseStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong in a step is counted by its kind, and the next step comes."""
    asked = threading.Event()

    def strange(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.set()
        raise ValueError("http://secret")

    with Receiver() as receiver:
        bench = Bench(store, receiver, query=strange)
        thread = threading.Thread(target=bench.notifier.run, args=(bench.stop,))
        thread.start()
        assert asked.wait(60)
        bench.stop.set()
        thread.join(60 + POLL_S)
    assert bench.counted["notification_errors_total", ""] == 1
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text
