"""What others wrote down of outcomes and labels is recognised in the store that we share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.config import RedactConfig
from collector.errors import StoreUnavailableError
from collector.journal_records import Entry
from collector.kafka.messages import Request
from collector.kafka.words_elsewhere import WordsElsewhere
from collector.otlp import parse
from collector.redaction import pseudonym_key, redactor_of
from collector.redactor import Redactor
from collector.sensitive import KINDS
from tests.e2e.instance import START_NS, Clock, Instance
from tests.e2e.otlp import logs, record

ADDRESS = "mia.planted@example.com"


def outcome(name: str, *, value: bool = True, at: float = 0.0, talk: str = ADDRESS) -> LogRecord:
    """Write an outcome."""
    return record(
        "outrider.outcome",
        at=at,
        gen_ai__conversation__id=talk,
        outrider__outcome__name=name,
        outrider__outcome__value=value,
    )


def label(author: str) -> LogRecord:
    """Write a label that knows its conversation by the trace."""
    return record(
        "gen_ai.evaluation.result",
        gen_ai__evaluation__name="tone",
        gen_ai__evaluation__score__label="pass",
        outrider__label__author=author,
    )


def read(*records: LogRecord) -> Request:
    """Read a message."""
    body = logs(*records)
    entry = Entry(
        received_ns=START_NS, receiver="kafka", signal="logs", encoding="proto", items=1, body=body
    )
    return Request(entry=entry, batch=parse("logs", "proto", body))


def test_what_the_store_has_is_recognised(tmp_path: Path) -> None:
    """Also what something newer replaced there; what it has not is not, nor what has no time."""
    old, new = outcome("changed", value=False), outcome("changed", at=5)
    stored = [outcome("said"), old, new, label("ana")]
    later = outcome("said", value=False, at=9)
    untimed = outcome("said")
    untimed.time_unix_nano = 0
    with Instance(tmp_path / "data", clock=Clock()) as instance:
        instance.send([logs(one) for one in stored], signal="logs")
        instance.settle()
        assert len(instance.export("outcomes")) == 2
        redact = RedactConfig()
        redactor = redactor_of(redact, pseudonym_key(redact, tmp_path / "data"))
        asked = WordsElsewhere(query=instance.path.store.query, redactor=redactor)
        keys = asked.seen([read(*stored)])
        assert len(set(keys)) == 4
        others = (later, untimed, outcome("new"), outcome("said", talk="other"), label("ben"))
        assert asked.seen([read(*others)]) == []


def test_a_store_that_is_away_is_asked_again() -> None:
    """Nothing is taken in that others may have written down."""

    def away(sql: str, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        del sql, parameters
        raise StoreUnavailableError("away")

    asked = WordsElsewhere(query=away, redactor=Redactor(tuple(KINDS)))
    assert asked.seen([read(record("gen_ai.user.message", content="Hi"))]) == []
    with pytest.raises(StoreUnavailableError):
        asked.seen([read(outcome("said"))])
