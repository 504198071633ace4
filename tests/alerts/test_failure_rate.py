"""Test the failure rates read from the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from alerts.failure_rate import FailureRates
from alerts.labels import Labels
from collector.errors import StoreUnavailableError
from collector.model import (
    Decided,
    Episode,
    Level,
    Sampling,
    ScoreRecord,
    VerdictName,
)
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.rows import rows_of
from tests.build import agent, conversation, identity, user

NOW = 1_790_000_000.0
SHOP = {"agent": "shop", "agent_version": "1", "environment": "prod", "variant": "production"}


class FakeStore:
    """Answer queries from a list; an error in it is raised."""

    def __init__(self, *answers: list[dict[str, Any]] | StoreUnavailableError) -> None:
        self.answers = list(answers)
        self.since: list[int] = []

    def query(self, sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the next answer."""
        assert "scores" in sql
        self.since.append(parameters["since"])
        answer = self.answers.pop(0)
        if isinstance(answer, StoreUnavailableError):
            raise answer
        return answer


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Counter:
    """Remember what was counted."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Count."""
        self.counted.append(name)


def row(failing: int, episodes: int, **more: str) -> dict[str, Any]:
    """Build one row as the store gives it."""
    return {**SHOP, "scorer": "looping", "failing": failing, "episodes": episodes, **more}


def rates(
    store: FakeStore | ClickHouseStore, clock: Clock, counter: Counter, **more: Any
) -> FailureRates:
    """Build failure rates over one window."""
    return FailureRates(
        store.query,
        labels=more.pop("labels", Labels(100)),
        clock=clock,
        count=counter,
        **{"windows": {"1h": 3600.0}, **more},
    )


def test_rate_and_its_interval() -> None:
    """Each window asks for its own stretch and gives a share with both bounds."""
    store, clock = FakeStore([row(1, 10)], [row(3, 100)]), Clock()
    found = rates(store, clock, Counter(), windows={"1h": 3600.0, "24h": 86400.0})
    assert found.gauges() == {}
    found.refresh()
    labels = (*SHOP.items(), ("scorer", "looping"), ("window", "1h"))
    gauges = found.gauges()
    assert gauges["failure_rate", labels] == 0.1
    assert gauges["failure_rate_low", labels] == pytest.approx(0.0179, abs=1e-4)
    assert gauges["failure_rate_high", labels] == pytest.approx(0.4042, abs=1e-4)
    assert len(gauges) == 6
    assert store.since == [int((NOW - 3600) * 1e9), int((NOW - 86400) * 1e9)]


def test_capped_labels_are_added_up() -> None:
    """Agents that are reported as other share one rate, weighted by their episodes."""
    store = FakeStore([row(1, 1), row(0, 9, agent="b"), row(5, 11, agent="c")])
    found = rates(store, Clock(), Counter(), labels=Labels(1))
    found.refresh()
    values = {
        dict(pairs)["agent"]: value
        for (name, pairs), value in found.gauges().items()
        if name == "failure_rate"
    }
    assert values == {"shop": 1.0, "other": 0.25}


def test_values_outlive_a_short_silence_only() -> None:
    """While the store is away the last rates are shown for a while, and each miss is counted."""
    away = StoreUnavailableError("no answer")
    clock, counter = Clock(), Counter()
    found = rates(FakeStore([row(1, 2)], away, away), clock, counter, keep_s=600)
    found.refresh()
    clock.now += 500
    found.refresh()
    assert len(found.gauges()) == 3
    clock.now += 200
    found.refresh()
    assert found.gauges() == {}
    assert counter.counted == ["failure_rate_errors_total"] * 2


def test_run_refreshes_until_told_to_stop() -> None:
    """The loop reads once at start and once after each wait."""
    store = FakeStore([], [], [])
    waits = iter([False, False, True])
    rates(store, Clock(), Counter()).run(lambda: next(waits))
    assert store.answers == []


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseStore]:
    """Open an empty embedded store."""
    directory: Path = tmp_path_factory.mktemp("rates") / "store"
    embedded = ClickHouseStore.embedded(directory)
    embedded.migrate(ttl_days=0, verdict_days=0)
    yield embedded
    embedded.close()


def decided(id: str, *verdicts: VerdictName, revision: int = 0, age_s: float = 60.0) -> Decided:
    """Build an episode with one tool-call verdict per name given."""
    level: Level = "tool_call"
    scored_ns = int((NOW - age_s) * 1e9)
    return Decided(
        episode_id=id,
        conversation=conversation(
            user("Hi"),
            agent("Hello"),
            id=id,
            who=identity(**SHOP),
            episode=Episode(started_ns=scored_ns, ended_ns=scored_ns),
        ),
        revision=revision,
        decided_ns=scored_ns,
        sampling=Sampling(kept=False, probability=0.5, rule="hash"),
        scores=tuple(
            ScoreRecord(
                score_id=f"{id}-{target}-{revision}",
                conversation_id=id,
                episode=1,
                level=level,
                target=str(target),
                scorer="tool_calls",
                scorer_version="1",
                revision=revision,
                verdict=verdict,
                value=1.0 if verdict == "pass" else 0.0,
                scored_ns=scored_ns,
            )
            for target, verdict in enumerate(verdicts)
        ),
    )


def test_the_store_is_asked_the_right_thing(store: ClickHouseStore) -> None:
    """Episodes count once, fail by their worst target, and by the newest verdict on each."""
    episodes = [
        decided("a", "pass", "fail"),
        decided("b", "pass", "pass"),
        decided("c", "fail"),
        decided("c", "pass", revision=1, age_s=30),
        decided("d", "skip"),
        decided("e", "failure", "pass"),
        decided("old", "fail", age_s=7200),
    ]
    for episode in [*episodes, episodes[0]]:
        rows = rows_of(episode)
        store.insert(rows)
    found = rates(store, Clock(), Counter())
    found.refresh()
    values = {
        name: value
        for (name, pairs), value in found.gauges().items()
        if dict(pairs)["scorer"] == "tool_calls" and dict(pairs)["agent"] == "shop"
    }
    # Of a, b, c and e one fails: d says nothing, and old is outside of the window.
    assert values["failure_rate"] == 0.25
