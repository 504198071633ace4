"""Test what the OTLP/gRPC receiver takes, against the OTLP specification."""

from __future__ import annotations

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.journal_records import Entry
from collector.receivers.admission import HEAVY_BYTES
from collector.receivers.bearer import credential_hash
from collector.receivers.otlp_grpc import compression_of
from tests.collector.receivers.desk import TWO, Desk, traces
from tests.collector.receivers.grpc_desk import LOGS, METRICS, TOKEN, call, channel, served
from tests.collector.receivers.http2_wire import answer, begin, connect, data, message
from tests.collector.receivers.packing import PACKERS

COMPRESSIONS = [None, grpc.Compression.Gzip, grpc.Compression.Deflate]


def test_traces() -> None:
    """A request is handed on as it was sent and answered with an empty response."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        assert call(through, TWO, authorization="Bearer of-a-proxy") == b""

    (entry,) = desk.entries
    assert entry == Entry(
        received_ns=77,
        receiver="otlp_grpc",
        signal="traces",
        encoding="proto",
        credential=credential_hash("Bearer of-a-proxy"),
        items=2,
        body=TWO,
    )
    assert len(desk.batches[0].items()) == 2
    assert not desk.counts


def test_logs() -> None:
    """Log records arrive by their own method."""
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=1)
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        call(through, request.SerializeToString(), method=LOGS)

    assert (desk.entries[0].signal, desk.entries[0].items) == ("logs", 1)


def test_metrics_are_answered_and_dropped() -> None:
    """Metrics are answered with success, so that their exporter is content, and counted."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        assert call(through, b"\x0a\x00", method=METRICS) == b""

    assert desk.entries == []
    assert desk.rejected() == {"metrics_not_stored": 1}


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressed(compression: grpc.Compression | None) -> None:
    """A message is handed on decompressed, whether small or large; an empty one is a success."""
    bodies = [traces(b"a" * 8, filler=filler) for filler in (0, 40, HEAVY_BYTES)]
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        for body in [*bodies, b""]:
            assert call(through, body, compression=compression) == b""

    assert [entry.body for entry in desk.entries] == bodies


def test_partial_success() -> None:
    """Spans that cannot be taken are reported and counted; the others are taken."""
    desk = Desk()
    with served(desk) as serving, channel(serving) as through:
        got = call(through, traces(b"a" * 8, bytes(8), b"short"))

    partial = ExportTraceServiceResponse.FromString(got).partial_success
    assert partial.rejected_spans == 2
    assert partial.error_message
    assert desk.entries[0].items == 1
    assert desk.counts == {("spans_rejected_total", "otlp_grpc", "invalid"): 2}


def test_the_token() -> None:
    """With a token, a call that shows it is taken."""
    desk = Desk()
    with served(desk, token=TOKEN) as serving, channel(serving) as through:
        call(through, TWO, authorization=f"bearer {TOKEN}")

    assert len(desk.entries) == 1


def test_a_message_in_small_parts() -> None:
    """A message may come in frames of any size, and uncompressed in a call that announces gzip."""
    desk = Desk()
    with served(desk) as serving, connect(serving.address) as wire:
        wire.sendall(begin(grpc_encoding="gzip"))
        sent = message(TWO)
        for at in range(len(sent)):
            wire.sendall(data(sent[at : at + 1], end=at == len(sent) - 1))
        assert b"grpc-status\x010" in answer(wire, b"grpc-status\x010")

    assert desk.entries[0].body == TWO


def test_how_a_message_is_compressed() -> None:
    """The compression is told from how a message begins; an export request is none."""
    for name in ("gzip", "deflate"):
        assert compression_of(PACKERS[name](TWO)) == name
    for body in (TWO, traces(b"a" * 8), b"", b"\x78", b"\x1f"):
        assert compression_of(body) == "identity"
