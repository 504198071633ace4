"""Test what OTLP senders are answered, and how log records decode."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceResponse,
)

from collector import otlp
from collector.telemetry import AttributeValue, LogRecord
from tests.collector.test_otlp import (
    SPAN,
    TRACE,
    json_pairs,
    json_value,
    proto_value,
)


@pytest.mark.parametrize("encoding", ["proto", "json"])
def test_an_empty_request_is_a_success(encoding: otlp.Encoding) -> None:
    """A request without spans is accepted."""
    batch = otlp.parse("traces", encoding, b"" if encoding == "proto" else b"{}")
    assert (batch.accepted, batch.rejected, batch.items()) == (0, 0, [])


def test_log_records_decode_alike() -> None:
    """A log's event name is its field, else its attribute, in both encodings."""
    body: AttributeValue = {"content": "hi", "n": 1}
    in_json = json.dumps(
        {
            "resourceLogs": [
                {
                    "resource": {"attributes": json_pairs({"service.name": "shop"})},
                    "scopeLogs": [
                        {
                            "scope": {"name": "s"},
                            "logRecords": [
                                {
                                    "timeUnixNano": "0",
                                    "observedTimeUnixNano": "9",
                                    "traceId": TRACE,
                                    "spanId": SPAN,
                                    "severityNumber": 9,
                                    "body": json_value(body),
                                    "attributes": json_pairs({"event.name": "old"}),
                                },
                                {"eventName": "new", "traceId": "", "spanId": ""},
                                {"traceId": "12"},
                            ],
                        }
                    ],
                }
            ]
        }
    ).encode()
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    proto_value("shop", group.resource.attributes.add(key="service.name").value)
    scoped = group.scope_logs.add()
    scoped.scope.name = "s"
    record = scoped.log_records.add(
        observed_time_unix_nano=9,
        trace_id=bytes.fromhex(TRACE),
        span_id=bytes.fromhex(SPAN),
        severity_number=9,
    )
    proto_value(body, record.body)
    proto_value("old", record.attributes.add(key="event.name").value)
    scoped.log_records.add(event_name="new")
    scoped.log_records.add(trace_id=b"1")
    batches = [
        otlp.parse("logs", "json", in_json),
        otlp.parse("logs", "proto", request.SerializeToString()),
    ]
    for batch in batches:
        assert (batch.accepted, batch.rejected) == (2, 1)
        old, new = batch.logs()
        assert isinstance(old, LogRecord)
        assert (old.event_name, new.event_name) == ("old", "new")
        assert (old.time_ns, old.body, old.trace_id) == (9, body, TRACE.lower())
    assert batches[0].items() == batches[1].items()


def test_answers_are_in_the_senders_encoding() -> None:
    """A partial success tells how many were rejected, a full one says nothing."""
    traces = ExportTraceServiceResponse()
    traces.ParseFromString(otlp.response("traces", "proto", rejected=2, message="why"))
    assert traces.partial_success.rejected_spans == 2
    assert traces.partial_success.error_message == "why"
    logs = ExportLogsServiceResponse()
    logs.ParseFromString(otlp.response("logs", "proto", rejected=1, message=""))
    assert logs.partial_success.rejected_log_records == 1
    assert otlp.response("logs", "proto", rejected=0, message="") == b""
    assert json.loads(otlp.response("logs", "json", rejected=0, message="")) == {}
    assert json.loads(otlp.response("logs", "json", rejected=3, message="m")) == {
        "partialSuccess": {"rejectedLogRecords": "3", "errorMessage": "m"}
    }


def test_failures_are_rpc_statuses() -> None:
    """A failure is a google.rpc.Status: code in field 1, message in field 2."""
    message = "é" * 100
    assert otlp.failure("proto", code=3, message=message) == (
        b"\x08\x03\x12\xc8\x01" + message.encode()
    )
    assert otlp.failure("proto", code=0, message="") == b""
    assert json.loads(otlp.failure("json", code=3, message="m")) == {"code": 3, "message": "m"}
