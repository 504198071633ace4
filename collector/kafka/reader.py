"""Put together what reads from Kafka."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from kafka import KafkaProducer

from collector.assembler import Assembler
from collector.config import Config
from collector.handoff import Handoff
from collector.journal import Journal
from collector.kafka.claims import Claims
from collector.kafka.client import connection
from collector.kafka.consumer import Count, Reader
from collector.kafka.dead_letters import PATIENCE_S, DeadLetters
from collector.kafka.elsewhere import Elsewhere, Query
from collector.kafka.intake import Intake, signals
from collector.kafka.places import Places
from collector.kafka.words_elsewhere import WordsElsewhere
from collector.redactor import Redactor
from collector.stitcher import Stitcher
from collector.talk import Verdict


def kafka_reader(
    config: Config,
    *,
    journal: Journal,
    handoff: Handoff,
    claims: Claims,
    assembler: Assembler,
    stitcher: Stitcher,
    unstored: Callable[[], int],
    closed: threading.Event,
    query: Query,
    redactor: Redactor,
    count: Count,
    clock_ns: Callable[[], int],
) -> Reader:
    """Prepare the reader; nothing is asked of any broker yet.

    Raises:
        ConfigError: a file, user or password is missing or wrong.
    """
    kafka = config.kafka
    options = connection(kafka)
    # It tells the same fault in many ways, without end; we count it and say it once.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)

    def resume(key: str, number: int, verdicts: list[Verdict]) -> None:
        assembler.resumed[key, number] = verdicts

    def raise_number(key: str, number: int, ended_ns: int) -> None:
        talk = stitcher.talks.get(key)
        if talk is not None and talk.open is None and talk.number < number:
            talk.number = number
            talk.last_ended_ns = max(talk.last_ended_ns, ended_ns)

    def producer() -> Any:
        return KafkaProducer(
            **options,
            acks="all",
            delivery_timeout_ms=int(PATIENCE_S * 1_000),
            request_timeout_ms=int(PATIENCE_S * 1_000) // 2,
            max_block_ms=int(PATIENCE_S * 1_000) // 2,
            bootstrap_timeout_ms=int(PATIENCE_S * 1_000) // 2,
        )

    # An embedded store is one process's own: what others decided is not there.
    elsewhere = (
        Elsewhere(
            query=query,
            commit=lambda transaction: journal.commit(transaction).result(),
            conversation=journal.conversation,
            resume=resume,
            raise_number=raise_number,
            count=count,
            clock_ns=clock_ns,
            written=WordsElsewhere(query=query, redactor=redactor).seen,
        )
        if config.store.url
        else None
    )
    letters = DeadLetters(
        kafka.dead_letters,
        producer=producer,
        count=count,
        max_bytes=kafka.dead_letter_max,
        rate=kafka.dead_letter_rate,
        seconds=time.monotonic,
        clock_ns=clock_ns,
    )
    intake = Intake(
        signals(traces=kafka.traces, logs=kafka.logs),
        setting=kafka.encoding,
        limit=config.receive.max_decompressed,
        journal=journal,
        handoff=handoff,
        elsewhere=elsewhere,
        letters=letters,
        count=count,
        clock_ns=clock_ns,
    )
    return Reader(
        kafka,
        connection=options,
        journal=journal,
        claims=claims,
        elsewhere=elsewhere,
        intake=intake,
        places=Places(producer=journal.producer, oldest=journal.oldest),
        unstored=unstored,
        closed=closed,
        count=count,
    )
