"""Test how a journal entry becomes spans with facts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from collector.dialects.dialect import Dialect
from collector.journal_records import Entry
from collector.normalise import Normaliser
from collector.reading import Reader, key_of
from collector.telemetry import LogRecord
from tests.build import span
from tests.e2e.traffic import as_requests, synthetic


def fail(*_: object) -> Any:
    """Have a bug."""
    raise IndexError


BROKEN = Dialect(name="broken", matches=lambda _: True, read=fail, read_log=fail)
ENTRY = Entry(
    id=7,
    received_ns=1,
    receiver="test",
    signal="traces",
    encoding="proto",
    items=1,
    body=as_requests(synthetic(1, seed=1), batch=1)[0],
)


def test_an_error_in_a_dialect_costs_no_span() -> None:
    """The span stays as a plain one, its neighbours untouched; it is counted once, however often read."""
    counted: Counter[str] = Counter()
    reader = Reader(
        Normaliser([BROKEN]),
        read=lambda _: [ENTRY],
        count=lambda name, **_: counted.update([name]),
    )
    held = reader.held(ENTRY, 0, span())
    assert held is not None
    assert held.facts is not None
    assert held.facts.role == "other"
    assert counted == {"normalise_errors_total": 1}
    held.facts = held.span = None
    (again,) = reader.refill([held])
    assert again.facts is not None
    assert counted == {"normalise_errors_total": 1}


def test_a_record_without_a_trace_is_each_tenant_s_own() -> None:
    """What one tenant said is no duplicate when another says the same."""
    record = LogRecord(time_ns=7, body="yes", attributes={}, resource={})
    assert len({key_of(record, tenant) for tenant in ("", "acme", "brill")}) == 3
    assert key_of(record, "acme") == key_of(record, "acme")
