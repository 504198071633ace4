"""Messages become requests, or are told why they cannot."""

from __future__ import annotations

import pytest

from collector.kafka.messages import Poison, Request, Setting, encoding_of, read, source_of
from tests.collector.kafka.build import Sent
from tests.e2e.traffic import as_json, as_requests, synthetic

BODY = as_requests(synthetic(1, seed=1))[0]


def outcome(
    value: bytes | None, *, setting: Setting = "auto", limit: int = 1_000_000
) -> Request | Poison | None:
    """Read one message."""
    return read(
        Sent(value=value),
        signal="traces",
        setting=setting,
        limit=limit,
        source="otlp_spans/0/outrider",
        received_ns=5,
    )


@pytest.mark.parametrize(("value", "encoding"), [(BODY, "proto"), (as_json(BODY), "json")])
def test_a_message_in_either_encoding_becomes_a_request(value: bytes, encoding: str) -> None:
    """The request names its place in the log and its topic as the sender."""
    read_ = outcome(value)
    assert isinstance(read_, Request)
    entry = read_.entry
    assert (entry.receiver, entry.signal, entry.encoding) == ("kafka", "traces", encoding)
    assert (entry.source, entry.source_offset) == ("otlp_spans/0/outrider", 7)
    assert (entry.received_ns, entry.body, entry.items) == (5, value, read_.batch.accepted)
    assert entry.credential


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "empty"),
        (b"no telemetry", "malformed"),
        (b"{", "malformed"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00"}]}]}]}', "invalid"),
    ],
)
def test_what_cannot_be_read_is_poison_with_its_reason(value: bytes | None, reason: str) -> None:
    """No exception comes out, whatever the bytes are."""
    read_ = outcome(value)
    assert isinstance(read_, Poison)
    assert read_.reason == reason
    assert read_.detail


def test_a_message_over_the_limit_is_poison() -> None:
    """Its bytes are not looked at."""
    read_ = outcome(BODY, limit=len(BODY) - 1)
    assert isinstance(read_, Poison)
    assert read_.reason == "oversized"


@pytest.mark.parametrize("value", [b"", b"{}"])
def test_a_request_that_says_nothing_is_neither(value: bytes) -> None:
    """Exporters send empty batches now and then."""
    assert outcome(value) is None


def test_a_fixed_encoding_is_not_guessed() -> None:
    """What is set goes before what the bytes look like."""
    assert encoding_of(b"{", "otlp_proto") == "proto"
    assert encoding_of(b"\n", "otlp_json") == "json"


def test_no_two_partitions_and_groups_share_a_source() -> None:
    """A slash in a group's name makes no difference: topics have none."""
    names = {source_of(g, t, n) for g in ("a", "a/0") for t in ("x", "y") for n in (0, 1)}
    assert len(names) == 8
