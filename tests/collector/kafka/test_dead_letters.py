"""Dead letters are limited, and counted once each, whatever becomes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from kafka.errors import KafkaTimeoutError

from collector.kafka.dead_letters import PATIENCE_S, QUIET_S, DeadLetters
from collector.kafka.messages import Poison
from tests.collector.kafka.build import Sent


class Answer:
    """What becomes of one message."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def get(self, timeout: float) -> None:
        """Wait for it."""
        if self._error is not None:
            raise self._error


class Producer:
    """Take messages, or none."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.tried: Callable[[], None] = lambda: None
        self.sent: list[tuple[str, bytes | None, bytes | None, dict[str, bytes]]] = []

    def send(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
    ) -> Any:
        """Take one."""
        self.tried()
        self.sent.append((topic, key, value, dict(headers)))
        return Answer(self.error)

    def close(self, timeout_ms: int | None = None) -> None:
        """Stop."""


class Desk:
    """Dead letters with everything around them."""

    def __init__(self, topic: str = "letters", error: Exception | None = None) -> None:
        self.producer = Producer(error)
        self.counted: Counter[str] = Counter()
        self.now = 100.0
        self.letters = DeadLetters(
            topic,
            producer=lambda: self.producer,
            count=self._count,
            max_bytes=100,
            rate=2.0,
            seconds=lambda: self.now,
            clock_ns=lambda: 1_700_000_000_000_000_000,
        )

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        assert name == "kafka_dead_letters_total"
        assert list(labels) == ["topic", "reason", "result"]
        self.counted[labels["result"]] += int(amount)


def letter(value: bytes = b"?", **more: Any) -> Poison:
    """Write one."""
    return Poison(message=Sent(value=value, **more), reason="malformed", detail="why")


def test_a_letter_says_where_it_stood_and_keeps_what_it_had() -> None:
    """Key, value and headers stay; ours come besides."""
    desk = Desk()
    desk.letters.send([letter(key=b"k", headers=[("theirs", b"1"), ("outrider.reason", b"lie")])])
    assert desk.producer.sent == [
        (
            "letters",
            b"k",
            b"?",
            {
                "theirs": b"1",
                "outrider.reason": b"malformed",
                "outrider.detail": b"why",
                "outrider.topic": b"otlp_spans",
                "outrider.partition": b"0",
                "outrider.offset": b"7",
                "outrider.time_unix_ms": b"1700000000000",
            },
        )
    ]
    assert desk.counted == {"sent": 1}


def test_more_than_the_rate_is_only_counted() -> None:
    """After a while there is room again."""
    desk = Desk()
    desk.letters.send([letter()] * 5)
    assert desk.counted == {"sent": 2, "over_rate": 3}
    desk.now += 0.5
    desk.letters.send([letter()] * 2)
    assert desk.counted == {"sent": 3, "over_rate": 4}


def test_a_large_letter_is_only_counted() -> None:
    """A topic has its own largest message."""
    desk = Desk()
    desk.letters.send([letter(b"x" * 101)])
    assert desk.counted == {"too_large": 1}
    assert desk.producer.sent == []


def test_a_letter_that_cannot_be_written_is_given_up() -> None:
    """The good messages behind it go on."""
    desk = Desk(error=KafkaTimeoutError())
    desk.letters.send([letter(), letter()])
    assert desk.counted == {"failed": 2}


def test_letters_that_cost_all_patience_are_not_tried_for_a_while() -> None:
    """A topic that is missing makes each try slow, and good messages wait behind them."""
    desk = Desk()

    def block() -> None:
        desk.now += 5.0
        raise KafkaTimeoutError

    desk.producer.tried = block
    start = desk.now
    for _ in range(3):
        desk.letters.send([letter()] * 300)
    assert desk.now == start + PATIENCE_S
    assert desk.counted["failed"] + desk.counted["over_rate"] == 900
    desk.producer.tried = lambda: None
    desk.now += QUIET_S
    desk.letters.send([letter()])
    assert desk.counted["sent"] == 1


def test_without_a_topic_letters_are_counted() -> None:
    """No producer is made."""
    desk = Desk(topic="")
    desk.letters.send([letter()])
    assert desk.counted == {"off": 1}
    assert desk.producer.sent == []
