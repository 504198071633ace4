"""Send what cannot be read to a topic of its own, within limits.

A message in the dead-letter topic is the key and the value as they were, with headers that
say where it stood and why it is there. Its partition is not read any further until the letter
is written or given up, which takes ``PATIENCE_S`` at most: one bad message in a broken cluster
must not keep the good ones. Given up letters are counted, and still stand where they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kafka.errors import KafkaError

from collector.kafka.messages import Message, Poison

PATIENCE_S = 10.0
"""Longest that letters are waited for; where that is not enough, the next are not even tried."""
QUIET_S = 60.0
"""How long they are not tried, so that a topic that is missing costs the good messages little."""
DETAIL_LENGTH = 500


class Producer(Protocol):
    """What writes to a topic."""

    def send(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
    ) -> Any:
        """Queue a message; the future's ``get`` waits for it."""

    def close(self, timeout_ms: int | None = None) -> None:
        """Stop."""


class Count(Protocol):
    """Raise a counter."""

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class DeadLetters:
    """Write dead letters; used by one thread."""

    def __init__(
        self,
        topic: str,
        *,
        producer: Callable[[], Producer],
        count: Count,
        max_bytes: int,
        rate: float,
        seconds: Callable[[], float],
        clock_ns: Callable[[], int],
    ) -> None:
        """Keep what is needed.

        Args:
            topic: Where letters go; empty to only count them.
            producer: Makes what writes them, when the first one is due.
            count: Takes ``kafka_dead_letters_total{topic,reason,result}``.
            max_bytes: Largest message that is sent.
            rate: Letters a second, after as many at once.
            seconds: Monotonic clock.
            clock_ns: Unix time in nanoseconds.
        """
        self._topic = topic
        self._make = producer
        self._producer: Producer | None = None
        self._count = count
        self._max_bytes = max_bytes
        self._rate = rate
        self._seconds = seconds
        self._clock_ns = clock_ns
        self._allowance = max(1.0, rate)
        self._filled_s = seconds()
        self._until_s = seconds()
        """When the letters under way are given up."""
        self._silent_until_s = seconds()

    def send(self, poison: Sequence[Poison]) -> None:
        """Write letters and wait for them; whatever happens they are counted, once each."""
        self._until_s = self._seconds() + PATIENCE_S
        waited = [(letter, self._start(letter)) for letter in poison]
        for letter, sent in waited:
            if sent is None:
                continue
            try:
                sent.get(max(0.1, self._until_s - self._seconds()))
            except KafkaError:
                self._note(letter, "failed")
            else:
                self._note(letter, "sent")
        if self._seconds() >= self._until_s:
            self._silent_until_s = self._seconds() + QUIET_S

    def close(self) -> None:
        """Stop."""
        if self._producer is not None:
            self._producer.close(timeout_ms=1_000)

    def _start(self, letter: Poison) -> Any:
        """Queue a letter; ``None`` when it will not be sent."""
        message = letter.message
        if not self._topic:
            return self._note(letter, "off")
        if len(message.value or b"") + len(message.key or b"") > self._max_bytes:
            return self._note(letter, "too_large")
        if not self._allowed():
            return self._note(letter, "over_rate")
        if not self._silent_until_s <= self._seconds() < self._until_s:
            return self._note(letter, "failed")
        try:
            if self._producer is None:
                self._producer = self._make()
            return self._producer.send(
                self._topic,
                key=message.key,
                value=message.value,
                headers=headers_of(letter, now_ns=self._clock_ns()),
            )
        except (KafkaError, AssertionError, OSError):  # it asserts what it does not take
            return self._note(letter, "failed")

    def _allowed(self) -> bool:
        now = self._seconds()
        most = max(1.0, self._rate)
        self._allowance = min(most, self._allowance + (now - self._filled_s) * self._rate)
        self._filled_s = now
        if self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True

    def _note(self, letter: Poison, result: str) -> None:
        labels = {"topic": letter.message.topic, "reason": letter.reason, "result": result}
        self._count("kafka_dead_letters_total", 1.0, labels)


def headers_of(letter: Poison, *, now_ns: int) -> list[tuple[str, bytes]]:
    """Say where a message stood and why it cannot be read, after the headers that it had."""
    message: Message = letter.message
    ours = {
        "outrider.reason": letter.reason,
        "outrider.detail": letter.detail[:DETAIL_LENGTH],
        "outrider.topic": message.topic,
        "outrider.partition": str(message.partition),
        "outrider.offset": str(message.offset),
        "outrider.time_unix_ms": str(now_ns // 1_000_000),
    }
    theirs = [(key, value) for key, value in message.headers if key not in ours]
    return [*theirs, *((key, text.encode("utf-8", "replace")) for key, text in ours.items())]
