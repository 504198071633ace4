"""Read topics into the journal, and commit behind what is decided and stored.

One thread polls, places new partitions and takes messages in. While the journal is full, the
store is needed and away, or the pipeline is behind, partitions are paused and polling goes on, so
that nothing that is slow makes the group take our partitions away.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Protocol

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import MemberState

from collector.config import KafkaConfig
from collector.errors import OutriderError, RetryableError
from collector.fault import told
from collector.journal import Journal
from collector.journal_records import Transaction
from collector.kafka.assignor import Together
from collector.kafka.claims import Claims
from collector.kafka.elsewhere import Elsewhere
from collector.kafka.intake import Intake
from collector.kafka.listener import Listener
from collector.kafka.messages import source_of
from collector.kafka.ownership import Start, mark, start
from collector.kafka.places import Place, Places
from collector.totals import SeriesKey

POLL_MS = 200
COMMIT_S = 1.0
LOOK_S = 5.0
"""How often the ends of the logs are asked for; that is also how a lost broker is noticed."""
ANSWER_MS = 10_000
"""Longest a broker is waited for where nothing can go on without its answer."""
NEWS_MS = 15_000
"""How soon topics and partitions are found that are made while we run."""
DRAIN_S = 8.0
"""Longest a stop waits for the pipeline, which then has nothing left to decide."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
_MAX_RECORDS = 500
_FETCH_BYTES = 16 * 1024 * 1024
_PARTITION_BYTES = 4 * 1024 * 1024
_LOG = logging.getLogger(__name__)


class Count(Protocol):
    """Raise a counter."""

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add ``amount`` to the series ``name`` with these labels."""


class Reader:
    """Read the topics of one group; see the module's docstring."""

    def __init__(
        self,
        config: KafkaConfig,
        *,
        connection: Mapping[str, Any],
        journal: Journal,
        claims: Claims,
        elsewhere: Elsewhere | None,
        intake: Intake,
        places: Places,
        unstored: Callable[[], int],
        closed: threading.Event,
        count: Count,
    ) -> None:
        """Keep what is needed.

        Args:
            config: The section ``kafka``.
            connection: What the client library is told about the brokers.
            journal: Where positions are kept.
            claims: Lets the pipeline know what is ours.
            elsewhere: Knows what others decided; ``None`` when nobody shares our store.
            intake: Takes messages in.
            places: The partitions that are ours; empty.
            unstored: Says how many decisions the store does not have yet.
            closed: Set once the pipeline will conclude nothing more.
            count: Raises counters.
        """
        self._config = config
        self._connection = connection
        self._journal = journal
        self._claims = claims
        self._elsewhere = elsewhere
        self._intake = intake
        self._places = places
        self._unstored = unstored
        self._closed = closed
        self._count = count
        self._arrivals: set[TopicPartition] = set()
        self._connected = False
        self._stopping = False
        self._told: set[str] = set()
        self._pause_s = FIRST_PAUSE_S
        self._stop = threading.Event()
        self._committed_s = self._looked_s = 0.0

    def gauges(self) -> dict[SeriesKey, float]:
        """Say whether brokers answer, and how far behind we read."""
        return {("kafka_connected", ()): float(self._connected), **self._places.gauges()}

    def run(self, stop: threading.Event) -> None:
        """Read until told to stop; what goes wrong is counted, and tried again."""
        self._stop = stop
        while not stop.is_set():
            try:
                self._session()
            except Exception as error:  # noqa: BLE001 - whatever brokers send, we come back
                self._note(error)
            self._connected = False
            stop.wait(self._pause_s)
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self._intake.close()

    # --- one connection

    def _session(self) -> None:
        try:
            consumer = self._consumer()
        except KafkaError as error:
            where = f"no broker of kafka.bootstrap ({self._config.bootstrap}) lets us in"
            self._note(error, f"{where}: {type(error).__name__}")
            return
        try:
            listener = Listener(
                consumer,
                arrived=self._arrivals.update,
                hand_over=self._hand_over,
                lose=self._lose,
                failed=self._note,
            )
            topics = self._intake.topics
            consumer.subscribe(topics, listener=listener)
            while not self._stop.is_set():
                self._turn(consumer)
        finally:
            if self._stop.is_set():
                # Offsets are committed last, when nothing more will be decided.
                self._stopping = self._closed.wait(DRAIN_S)
            consumer.close(autocommit=False, timeout_ms=2_000)
            self._arrivals.clear()
            self._intake.drop(self._places.partitions())
            self._places.remove(self._places.partitions())

    def _consumer(self) -> KafkaConsumer:
        session_ms = int(self._config.session_timeout * 1_000)
        made: list[KafkaConsumer] = []
        assignor = Together(lambda: made[0].assignment() if made else ())
        consumer = KafkaConsumer(
            **self._connection,
            group_id=self._config.group,
            enable_auto_commit=False,
            auto_offset_reset=self._config.start,
            partition_assignment_strategy=[assignor],
            session_timeout_ms=session_ms,
            heartbeat_interval_ms=min(3_000, session_ms // 4),
            max_poll_records=_MAX_RECORDS,
            fetch_max_bytes=_FETCH_BYTES,
            max_partition_fetch_bytes=_PARTITION_BYTES,
            bootstrap_timeout_ms=ANSWER_MS,
            metadata_max_age_ms=NEWS_MS,
        )
        made.append(consumer)
        return consumer

    def _turn(self, consumer: KafkaConsumer) -> None:
        """Do everything once."""
        try:
            self._place(consumer)
        except OutriderError as error:
            self._note(error)  # partitions stay paused; asked again in the next turn
        open_ = self._intake.flush(self._places)
        ours = self._places.partitions()
        if open_:
            consumer.resume(*ours)
        else:
            consumer.pause(*ours)
        if consumer.group_metadata().state is MemberState.REBALANCING:
            # A join that new partitions began and that took longer than one poll is forgotten by
            # the library (3.0.12): it would wait for ever.
            consumer._coordinator.request_rejoin()  # noqa: SLF001
        for partition, messages in consumer.poll(timeout_ms=POLL_MS).items():
            if partition in self._places:
                self._intake.add(partition, messages, self._places[partition])
                self._places.ends({partition: consumer.highwater(partition) or 0})
        self._intake.flush(self._places)
        now = time.monotonic()
        if now >= self._committed_s + COMMIT_S:
            self._committed_s = now
            self._commit(consumer)
        if now >= self._looked_s + LOOK_S:
            self._looked_s = now
            self._look(consumer)

    def _look(self, consumer: KafkaConsumer) -> None:
        """Ask how much there is to read, and see whether anybody answers."""
        try:
            partitions = self._places.partitions()
            if partitions:
                self._places.ends(consumer.end_offsets(partitions, timeout_ms=2_000))
            elif consumer.group_metadata().state is not MemberState.STABLE:
                self._connected = False
                return
        except KafkaError as error:
            self._connected = False
            self._note(error)
            return
        self._connected = True
        self._told.clear()
        self._pause_s = FIRST_PAUSE_S

    def _commit(self, consumer: KafkaConsumer) -> None:
        offsets = self._places.committable()
        if not offsets:
            return

        def answered(sent: dict[TopicPartition, OffsetAndMetadata], answer: Any) -> None:
            failed = isinstance(answer, Exception)
            self._count("kafka_commits_total", 1.0, {"result": "failed" if failed else "ok"})
            if not failed:
                self._places.committed(sent)

        consumer.commit_async(offsets, callback=answered)

    # --- partitions that come

    def _place(self, consumer: KafkaConsumer) -> None:
        """Find out where to go on in new partitions, and what of the old process is ours."""
        if not self._claims.recovered.is_set():
            return
        stable = consumer.group_metadata().state is MemberState.STABLE
        if not self._arrivals and not (stable and self._claims.unsure):
            return
        local = self._journal.positions()
        starts: dict[TopicPartition, Start] = {}
        for partition in sorted(self._arrivals):
            committed = consumer.committed(partition, metadata=True, timeout_ms=ANSWER_MS)
            source = self._source(partition)
            starts[partition] = start(committed, local.get(source), producer=self._journal.producer)
        kept = {self._source(partition) for partition, found in starts.items() if found.ours}
        placed = {self._places[partition].source for partition in self._places.partitions()}
        lost = {*self._journal.held_sources(), *local} - kept - placed
        self._settle(lost=lost, kept=kept)
        for partition, found in starts.items():
            self._begin(consumer, partition, found)
        self._connected = True
        if starts:
            self._count("kafka_rebalances_total", 1.0, {"event": "assigned"})

    def _settle(self, *, lost: Collection[str], kept: Collection[str]) -> None:
        """Let the pipeline drop what is others', and go on with what is ours."""
        heads: dict[str, str] = {}
        if self._elsewhere is not None:
            heads = self._elsewhere.decided(self._claims.undelivered(lost))
            self._elsewhere.forget()
        if not lost and not self._claims.unsure.intersection(kept):
            return
        done = self._claims.settle(lost=lost, kept=kept, heads=heads)
        while not self._stop.is_set():
            try:
                done.result(POLL_MS / 1_000)
            except FutureTimeoutError:
                continue
            return
        raise RetryableError("told to stop")

    def _begin(self, consumer: KafkaConsumer, partition: TopicPartition, found: Start) -> None:
        offset = found.offset
        if offset is None:
            offset = consumer.position(partition, timeout_ms=ANSWER_MS)
            if offset is None:
                return  # asked again in the next turn
        place = Place(
            source=self._source(partition),
            next=offset,
            taken=found.taken,
            committed=found.floor,
        )
        if not found.ours:
            position = place.position(offset)
            self._journal.commit(Transaction(positions=[position])).result()
            # Says that we have it now, whoever had it before; a start at "latest" stays where it is.
            metadata = mark(self._journal.producer, read=offset, taken=found.taken)
            consumer.commit(
                {partition: OffsetAndMetadata(offset, metadata, -1)}, timeout_ms=ANSWER_MS
            )
            place.committed = offset
        consumer.seek(partition, offset)
        self._places.add(partition, place)
        self._arrivals.discard(partition)

    def _source(self, partition: TopicPartition) -> str:
        return source_of(self._config.group, partition.topic, partition.partition)

    # --- partitions that go; on the client library's thread

    def _hand_over(
        self, revoked: Collection[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Stop with partitions, and return what to commit for them."""
        # Before anything is dropped, so that what we have not decided is read again.
        offsets = self._places.committable(revoked)
        self._drop(revoked)
        self._count("kafka_rebalances_total", 1.0, {"event": "revoked"})
        return offsets

    def _lose(self, lost: Collection[TopicPartition]) -> None:
        self._drop(lost)
        self._count("kafka_rebalances_total", 1.0, {"event": "lost"})

    def _drop(self, partitions: Collection[TopicPartition]) -> None:
        self._arrivals.difference_update(partitions)
        self._intake.drop(partitions)
        sources = self._places.remove(partitions)
        if not sources or self._stopping or self._stop.is_set():
            return  # a stopped process decides nothing; the next one asks whose they are
        until = time.monotonic() + min(DRAIN_S, self._config.session_timeout / 4)
        try:
            self._claims.settle(lost=sources, heads={}).result(until - time.monotonic())
        except FutureTimeoutError:
            _LOG.warning("the pipeline did not let go of %s in time", ", ".join(sources))
        # What is stored before the next owner asks is not decided again.
        while self._unstored() and time.monotonic() < until:
            time.sleep(0.01)

    def _note(self, error: Exception, said: str = "") -> None:
        kind = type(error).__name__
        self._count("kafka_errors_total", 1.0, {"error": kind})
        if kind not in self._told:
            self._told.add(kind)
            text = said or told(error)
            _LOG.warning("Kafka: %s; tried again, further %s are only counted", text, kind)
