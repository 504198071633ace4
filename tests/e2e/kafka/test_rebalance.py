"""Two instances share the partitions; whatever happens to them, each conversation is decided once."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from collector.model import Conversation
from scorers.registry import configured
from tests.clickhouse_endpoint import Endpoint
from tests.e2e.checks import expected, keyed
from tests.e2e.kafka.broker import Broker
from tests.e2e.kafka.conftest import Topics, topics_on
from tests.e2e.otlp import logs, record
from tests.e2e.served import PATIENCE_S, Served, eventually
from tests.e2e.traffic import synthetic
from tests.faults.books import planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PARTITIONS = 6


@pytest.fixture
def wide(broker: Broker) -> Topics:
    """Make topics of several partitions."""
    return topics_on(broker, partitions=PARTITIONS)


class Store:
    """Ask the shared store, whoever wrote to it."""

    def __init__(self, endpoint: Endpoint, database: str) -> None:
        self._url, self._database = endpoint.url, database

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Run a query."""
        answer = httpx.post(
            self._url,
            params={"database": self._database, "default_format": "JSONEachRow"},
            content=query,
            timeout=PATIENCE_S,
            trust_env=False,
        )
        if answer.status_code == 404:
            return []  # the tables are not made yet
        assert answer.status_code == 200, answer.text
        return [msgspec.json.decode(line) for line in answer.content.splitlines()]

    def decided(self) -> int:
        """Count the conversations that are there."""
        rows = self.rows("SELECT toInt32(uniqExact(episode_id)) AS n FROM conversations")
        return int(rows[0]["n"]) if rows else 0

    def check(self, conversations: Sequence[Conversation]) -> None:
        """Hold that each conversation was decided and observed once, and scored as offline."""
        heads = self.rows(
            "SELECT conversation_id, toInt32(episode) AS episode FROM conversations FINAL"
        )
        found = Counter((row["conversation_id"], row["episode"]) for row in heads)
        assert found == {(c.id, 1): 1 for c in conversations}
        scores = keyed(self.rows("SELECT * FROM scores FINAL"))
        assert scores == expected(conversations)
        observed = Counter(
            (row["conversation_id"], row["scorer"])
            for row in self.rows("SELECT conversation_id, scorer FROM observations FINAL")
        )
        assert set(observed.values()) == {1}
        ledger = Counter(
            (row["conversation_id"], row["scorer"])
            for row in self.rows("SELECT conversation_id, scorer FROM decisions FINAL")
        )
        assert ledger == {(c.id, s.name): 1 for c in conversations for s in configured({})}

    def decided_twice(self) -> list[dict[str, Any]]:
        """List the scores that two decisions wrote, though only one of them counts."""
        return self.rows(
            "SELECT conversation_id, scorer, target FROM scores"
            " GROUP BY score_id, conversation_id, scorer, target HAVING uniqExact(scored) > 1"
        )


def messages(conversations: Sequence[Conversation], seed: int) -> list[tuple[bytes, bytes]]:
    """Write every conversation's requests with its id as key, many conversations at once."""
    chance = random.Random(seed)  # noqa: S311 - a seeded test
    waiting = [
        [(one.id.encode(), request.body) for request in planned([one])] for one in conversations
    ]
    mixed: list[tuple[bytes, bytes]] = []
    while waiting:
        turn = chance.choice(waiting[:20])
        mixed.append(turn.pop(0))
        waiting = [rest for rest in waiting if rest]
    return mixed


def settings(topics: Topics, endpoint: Endpoint, database: str) -> dict[str, str]:
    """Return what both instances are started with."""
    return topics.settings(
        STORE__URL=endpoint.url, STORE__DATABASE=database, ASSEMBLE__TURN_QUIET="200ms"
    )


def owned(served: Served) -> int:
    """Count the partitions of spans that an instance has."""
    return sum(name == "kafka_lag" and "spans" in str(pairs) for name, pairs in served.series())


def write_slowly(topics: Topics, sent: list[tuple[bytes, bytes]]) -> None:
    """Write a few messages at a time."""
    for start in range(0, len(sent), 25):
        topics.broker.write(topics.traces, sent[start : start + 25])


@pytest.mark.parametrize("seed", [1, 2])
def test_one_of_two_is_killed_and_every_conversation_is_decided_once(
    tmp_path: Path, endpoint: Endpoint, wide: Topics, seed: int
) -> None:
    """The other takes over, the killed one comes back: all conversations, none twice."""
    conversations = synthetic(120, seed=500 + seed)
    sent = messages(conversations, seed)
    database = f"rebalance_{seed}"
    both = settings(wide, endpoint, database)
    store = Store(endpoint, database)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with (
        Served(tmp_path / "a" / "data", **both) as first,
        Served(tmp_path / "b" / "data", **both) as second,
    ):
        eventually(lambda: owned(first) > 0 and owned(second) > 0, "both have partitions")
        write_slowly(wide, sent[: len(sent) // 2])
        eventually(lambda: store.decided() > 5, "some are decided")
        first.kill()
        write_slowly(wide, sent[len(sent) // 2 :])
        eventually(lambda: owned(second) == PARTITIONS, "the other has all partitions")
        eventually(lambda: store.decided() == len(conversations), "every conversation is decided")
        first.start()
        eventually(lambda: owned(first) > 0, "the killed one has partitions again")
        eventually(lambda: first.value("outbox_rows") == 0, "it has nothing left to say")
        time.sleep(2)
        store.check(conversations)
        twice = store.decided_twice()
        assert not twice, twice
        for served in (first, second):
            served.signal()
            assert served.ended() == 0


def test_a_second_instance_comes_and_goes_in_order(
    tmp_path: Path, endpoint: Endpoint, wide: Topics
) -> None:
    """Partitions move to the newcomer and back while conversations are open; none is lost or doubled."""
    conversations = synthetic(120, seed=510)
    sent = messages(conversations, 3)
    third = len(sent) // 3
    both = settings(wide, endpoint, "moves")
    store = Store(endpoint, "moves")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with Served(tmp_path / "a" / "data", **both) as first:
        eventually(lambda: owned(first) == PARTITIONS, "it has all partitions")
        write_slowly(wide, sent[:third])
        with Served(tmp_path / "b" / "data", **both) as second:
            eventually(lambda: owned(second) > 0, "the second has partitions")
            write_slowly(wide, sent[third : 2 * third])
            second.signal()
            assert second.ended() == 0
        eventually(lambda: owned(first) == PARTITIONS, "the first has all again")
        write_slowly(wide, sent[2 * third :])
        eventually(lambda: store.decided() == len(conversations), "every conversation is decided")
        eventually(lambda: first.value("outbox_rows") == 0, "nothing is left to say")
        store.check(conversations)
        assert not store.decided_twice()
        assert first.value("kafka_conversations_moved_total", how="split") == 0


@pytest.mark.parametrize("table", ["conversations", "observations"])
def test_one_killed_between_two_tables_of_a_batch_observes_nothing_twice(
    tmp_path: Path, endpoint: Endpoint, wide: Topics, table: str
) -> None:
    """Whatever of a batch is stored when its instance dies, both together observe everything once."""
    conversations = synthetic(12, seed=520)
    database = f"torn_{table}"
    both = settings(wide, endpoint, database)
    store = Store(endpoint, database)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with Served(tmp_path / "a" / "data", **both) as first:
        eventually(lambda: owned(first) == PARTITIONS, "it has all partitions")
        endpoint.fault("error", status=503, match=f"INSERT INTO {table} ")
        write_slowly(wide, messages(conversations, 4))
        eventually(lambda: first.value("store_errors_total") > 0, "it is stopped before the table")
        first.kill()
        endpoint.fault("")
        with Served(tmp_path / "b" / "data", **both) as second:
            eventually(lambda: owned(second) == PARTITIONS, "the other has all partitions")
            eventually(lambda: store.decided() == len(conversations), "all are decided")
            eventually(lambda: second.value("outbox_rows") == 0, "the other has said everything")
            first.start()
            eventually(lambda: owned(first) > 0, "the killed one has partitions again")
            eventually(lambda: first.value("outbox_rows") == 0, "it has nothing left to say")
            store.check(conversations)


def test_outcomes_that_are_read_again_count_once(
    tmp_path: Path, endpoint: Endpoint, wide: Topics
) -> None:
    """A partition that moves is read from an open conversation on; its outcomes are known by then."""
    both = settings(wide, endpoint, "outcomes")
    talks = [f"talk-{number}" for number in range(24)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with Served(tmp_path / "a" / "data", **both) as first:
        eventually(lambda: owned(first) == PARTITIONS, "it has all partitions")
        for talk in talks:
            events = (
                record("gen_ai.user.message", gen_ai__conversation__id=talk, content="Hi"),
                record(
                    "outrider.outcome",
                    gen_ai__conversation__id=talk,
                    outrider__outcome__name="refund_issued",
                    outrider__outcome__value=True,
                ),
            )
            for one in events:
                one.time_unix_nano = time.time_ns()
            wide.broker.write(wide.logs, [(talk.encode(), logs(one)) for one in events])
        eventually(lambda: first.value("outcomes_total") == len(talks), "all are counted")
        eventually(lambda: first.value("outbox_rows") == 0, "all are stored")
        with Served(tmp_path / "b" / "data", **both) as second:
            eventually(lambda: owned(second) > 0, "the second has partitions")
            eventually(
                lambda: second.value("stage_items_total", stage="assemble_logs") > 0,
                "it reads again what the first has not decided",
            )
            eventually(lambda: second.value("kafka_lag") == 0, "it has read everything")
            eventually(lambda: second.value("spans_in_flight") == 0, "and processed it")
            assert second.value("outcomes_total") == 0
            assert second.value("stage_items_total", result="duplicate") > 0
