"""Give the Kafka tests one broker; each test uses topics and groups of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import msgspec
import pytest

from tests.e2e.kafka.broker import Broker


class Topics(msgspec.Struct, frozen=True, kw_only=True):
    """Names that nobody else uses."""

    broker: Broker
    group: str
    traces: str
    logs: str
    letters: str

    def settings(self, **more: str) -> dict[str, str]:
        """Return what an instance is started with."""
        return {
            "KAFKA__BOOTSTRAP": self.broker.bootstrap,
            "KAFKA__GROUP": self.group,
            "KAFKA__TRACES": self.traces,
            "KAFKA__LOGS": self.logs,
            "KAFKA__DEAD_LETTERS": self.letters,
            "KAFKA__SESSION_TIMEOUT": "6s",
            **more,
        }


def topics_on(broker: Broker, *, partitions: int) -> Topics:
    """Make topics with names of their own."""
    name = uuid.uuid4().hex[:12]
    topics = Topics(
        broker=broker,
        group=f"group-{name}",
        traces=f"spans-{name}",
        logs=f"logs-{name}",
        letters=f"letters-{name}",
    )
    broker.topic(topics.traces, topics.logs, partitions=partitions)
    broker.topic(topics.letters)
    return topics


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Run a broker."""
    with Broker(tmp_path_factory.mktemp("kafka") / "broker") as running:
        yield running


@pytest.fixture
def topics(broker: Broker) -> Topics:
    """Make topics of two partitions."""
    return topics_on(broker, partitions=2)
