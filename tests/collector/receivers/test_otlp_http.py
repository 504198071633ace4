"""Test what the OTLP/HTTP receiver takes, against the OTLP specification."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.journal_records import Entry
from collector.receivers.admission import HEAVY_BYTES
from tests.collector.receivers.desk import JSON, PROTO, TWO, Desk, json_traces, send, traces
from tests.collector.receivers.packing import PACKERS


def test_protobuf_traces() -> None:
    """A protobuf request is handed on as it was sent and answered with an empty response."""
    desk = Desk()
    answer = send(desk.app(), TWO)

    assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, PROTO, b"")
    (entry,) = desk.entries
    assert entry == Entry(
        received_ns=77,
        receiver="otlp_http",
        signal="traces",
        encoding="proto",
        items=2,
        body=TWO,
    )
    assert len(desk.batches[0].items()) == 2
    assert not desk.counts


def test_json_traces() -> None:
    """A JSON request gets a JSON response, whatever parameters its content type has."""
    desk = Desk()
    answer = send(desk.app(), json_traces("cd" * 8), type_="Application/JSON; charset=utf-8")

    assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
    assert answer.json() == {}
    assert (desk.entries[0].encoding, desk.entries[0].items) == ("json", 1)


def test_logs() -> None:
    """Log records arrive on their own path."""
    desk = Desk()
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=1)
    answer = send(desk.app(), request.SerializeToString(), path="/v1/logs")

    assert answer.status_code == 200
    assert (desk.entries[0].signal, desk.entries[0].items) == ("logs", 1)


def test_metrics_are_answered_and_dropped() -> None:
    """Metrics are answered with success, so that their exporter is content, and counted."""
    desk = Desk()
    assert send(desk.app(), b"\x0a\x00", path="/v1/metrics").content == b""
    assert send(desk.app(), b"{}", path="/v1/metrics", type_=JSON).json() == {}

    assert desk.entries == []
    assert desk.rejected() == {"metrics_not_stored": 2}


@pytest.mark.parametrize(("encoding", "pack"), PACKERS.items())
@pytest.mark.parametrize("filler", [1, HEAVY_BYTES])
def test_compressed(encoding: str, pack: Callable[[bytes], bytes], filler: int) -> None:
    """A compressed body is handed on decompressed, whether small or large."""
    desk = Desk()
    body = traces(b"a" * 8, filler=filler)
    answer = send(desk.app(), pack(body), content_encoding=encoding)

    assert answer.status_code == 200
    assert desk.entries[0].body == body


def test_large_plain_body() -> None:
    """A large body is taken like a small one."""
    desk = Desk()
    body = traces(b"a" * 8, filler=HEAVY_BYTES)

    assert send(desk.app(), body).status_code == 200
    assert desk.entries[0].body == body


@pytest.mark.parametrize("type_", [PROTO, JSON])
def test_empty_body(type_: str) -> None:
    """An empty body is a success and nothing is handed on."""
    desk = Desk()
    assert send(desk.app(), b"", type_=type_).status_code == 200
    assert desk.entries == []


def test_partial_success() -> None:
    """Spans that cannot be taken are reported and counted; the others are taken."""
    desk = Desk()
    answer = send(desk.app(), traces(b"a" * 8, bytes(8), b"short"))

    assert answer.status_code == 200
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_spans == 2
    assert partial.error_message
    assert desk.entries[0].items == 1
    assert desk.counts == {("spans_rejected_total", "otlp_http", "invalid"): 2}


def test_nothing_to_take() -> None:
    """A request whose spans are all rejected is answered, not handed on."""
    desk = Desk()
    answer = send(desk.app(), json_traces("zz"), type_=JSON)

    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert desk.entries == []
