"""Brokers that come and go, and a process that dies meanwhile, change nothing of what is concluded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clickhouse_endpoint import Endpoint
from tests.e2e.checks import check_counts, check_exports
from tests.e2e.conftest import endpoint, engine
from tests.e2e.kafka.conftest import Topics
from tests.e2e.served import Served, eventually, summed
from tests.e2e.traffic import synthetic
from tests.faults.books import check_facts, planned, undisturbed

__all__ = ["endpoint", "engine"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Sent = tuple[bytes | None, bytes | None]
"""Key and value."""


def test_kafka_gone_and_back(tmp_path: Path, topics: Topics, endpoint: Endpoint) -> None:
    """Power cuts of the broker and `kill -9` in turns: the books are those of an undisturbed run."""
    conversations = synthetic(40, seed=760)
    requests = [(one.id.encode(), request) for one in conversations for request in planned([one])]
    want = undisturbed(tmp_path / "calm", [request for _, request in requests])
    sent: list[Sent] = [(key, request.body) for key, request in requests]
    settings = topics.settings(STORE__URL=endpoint.url, STORE__DATABASE="kafka_faults")
    with Served(tmp_path / "data", **settings) as served:
        for part in range(4):
            topics.broker.write(topics.traces, _quarter(sent, part))
            eventually(lambda: served.value("kafka_connected") == 1, "it is connected")
            if part % 2:
                served.kill()
            topics.broker.stop()
            if part % 2:
                served.start()
            topics.broker.start()
        series = served.settled(len(conversations))
        check_exports(served.export, conversations)
        check_counts(lambda name: summed(series, name), conversations)
        served.signal()
        assert served.ended() == 0
        check_facts(served, want)


def _quarter(sent: list[Sent], part: int) -> list[Sent]:
    size = -(-len(sent) // 4)
    return sent[part * size : (part + 1) * size]
