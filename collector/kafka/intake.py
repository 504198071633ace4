"""Take polled messages into the journal, in order, and hold them while that is not possible."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from kafka import TopicPartition

from collector.errors import (
    ConfigError,
    JournalFullError,
    OutriderError,
    PermanentError,
    RetryableError,
)
from collector.handoff import Handoff
from collector.journal import Journal
from collector.kafka.dead_letters import DeadLetters
from collector.kafka.elsewhere import Elsewhere
from collector.kafka.messages import RECEIVER, Message, Poison, Request, Setting, read
from collector.kafka.places import Place, Places
from collector.otlp import Signal

AHEAD = 2_000
"""Requests that may wait for the pipeline; over it nothing more is read, since the log keeps it."""


class Count(Protocol):
    """Raise a counter."""

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class _Waiting(msgspec.Struct, kw_only=True, eq=False):
    """Messages of one partition that are not in the journal yet."""

    partition: TopicPartition
    requests: list[Request]
    poison: list[Poison]
    next: int
    noted: bool = False
    """Whether what others decided of them is known."""


class Intake:
    """Take messages in; used by the thread that reads."""

    def __init__(
        self,
        topics: Mapping[str, Signal],
        *,
        setting: Setting,
        limit: int,
        journal: Journal,
        handoff: Handoff,
        elsewhere: Elsewhere | None,
        letters: DeadLetters,
        count: Count,
        clock_ns: Callable[[], int],
    ) -> None:
        """Keep what is needed.

        Args:
            topics: What each topic holds.
            setting: How messages are written.
            limit: Most bytes of a message.
            journal: Where requests become durable.
            handoff: Where they go on to the pipeline.
            elsewhere: Knows what others decided; ``None`` when nobody shares our store.
            letters: Where messages go that cannot be read.
            count: Takes ``kafka_messages_total{topic,result}``.
            clock_ns: Unix time in nanoseconds.
        """
        self._signals = dict(topics)
        self._setting = setting
        self._limit = limit
        self._journal = journal
        self._handoff = handoff
        self._elsewhere = elsewhere
        self._letters = letters
        self._count = count
        self._clock_ns = clock_ns
        self._waiting: deque[_Waiting] = deque()
        self._last = 0
        """Id of the last request that we wrote."""

    @property
    def topics(self) -> list[str]:
        """List the topics to read."""
        return list(self._signals)

    def add(self, partition: TopicPartition, messages: Sequence[Message], place: Place) -> None:
        """Read messages that follow each other; ``flush`` takes them in."""
        outcomes: list[Request | Poison | None] = [
            read(
                message,
                signal=self._signals[partition.topic],
                setting=self._setting,
                limit=self._limit,
                source=place.source,
                received_ns=self._clock_ns(),
            )
            for message in messages
        ]
        requests = [outcome for outcome in outcomes if isinstance(outcome, Request)]
        refused = sum(request.batch.rejected for request in requests)
        if refused:
            spans = self._signals[partition.topic] == "traces"
            name = "spans_rejected_total" if spans else "log_records_rejected_total"
            self._count(name, refused, {"receiver": RECEIVER, "reason": "invalid"})
        poison = [outcome for outcome in outcomes if isinstance(outcome, Poison)]
        for result, amount in (
            ("taken", len(requests)),
            ("unreadable", len(poison)),
            ("empty", len(outcomes) - len(requests) - len(poison)),
        ):
            if amount:
                self._count(
                    "kafka_messages_total", amount, {"topic": partition.topic, "result": result}
                )
        self._waiting.append(
            _Waiting(
                partition=partition,
                requests=requests,
                poison=poison,
                next=messages[-1].offset + 1,
            )
        )

    def flush(self, places: Places) -> bool:
        """Take in what waits; ``False`` when some of it must go on waiting, or enough is taken in."""
        while self._waiting:
            if not self._take(self._waiting[0], places[self._waiting[0].partition]):
                return False
            self._waiting.popleft()
        return self._last - self._journal.processed_through <= AHEAD

    def drop(self, partitions: Collection[TopicPartition]) -> None:
        """Forget what waits of partitions that are no longer ours; their next owner reads it."""
        self._waiting = deque(w for w in self._waiting if w.partition not in partitions)

    def close(self) -> None:
        """Stop writing dead letters."""
        self._letters.close()

    def _take(self, waiting: _Waiting, place: Place) -> bool:
        if waiting.poison:
            self._letters.send(waiting.poison)
            waiting.poison = []
        if self._elsewhere is not None and place.taken and not waiting.noted:
            try:
                self._elsewhere.note(waiting.requests)
            except OutriderError:
                return False  # the store is away, or its tables are not made yet
            waiting.noted = True
        try:
            self._append(waiting, place)
        except RetryableError:
            return False
        return True

    def _append(self, waiting: _Waiting, place: Place) -> None:
        """Make requests durable together with how far we have read: all at once, else one by one.

        Raises:
            RetryableError: Not all were written; those that were are no longer waiting.
        """
        at_once = len(waiting.requests)
        while waiting.requests or place.next < waiting.next:
            some = waiting.requests[:at_once]
            rest = waiting.requests[at_once:]
            after = rest[0].entry.source_offset if rest else waiting.next
            entries = [request.entry for request in some]
            try:
                ids = self._journal.append_all(entries, [place.position(after)]).result()
            except JournalFullError:
                if at_once <= 1:
                    raise
                at_once = 1
                continue
            except PermanentError:
                if at_once > 1:
                    at_once = 1
                    continue
                # Nothing that a message holds should come to this; it stays in its topic.
                self._count("kafka_errors_total", 1.0, {"error": "PermanentError"})
                some, ids = [], []
            waiting.requests = rest
            place.next = after
            for request, row in zip(some, ids, strict=True):
                self._handoff.offer(msgspec.structs.replace(request.entry, id=row), request.batch)
                self._last = row


def signals(*, traces: str, logs: str) -> dict[str, Signal]:
    """Say what each topic holds, from the two settings.

    Raises:
        ConfigError: there is none, or one for both.
    """
    if traces == logs:
        raise ConfigError("kafka.traces, kafka.logs: expected two topics, or one and an empty text")
    found: dict[str, Any] = {traces: "traces", logs: "logs"}
    found.pop("", None)
    return found
