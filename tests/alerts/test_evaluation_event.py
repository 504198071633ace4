"""Test the events that other tools read our verdicts from."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult

from alerts.evaluation_event import EvaluationEvents, Export, otlp_exporter
from collector.model import Evidence, ScoreRecord
from collector.otlp import parse
from collector.own_telemetry import is_own


class Counter:
    """Remember what was counted, from any thread."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}

    def __call__(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Count."""
        assert name == "evaluation_events_total"
        self.sums[labels["result"]] = self.sums.get(labels["result"], 0.0) + amount


class Blocked:
    """An exporter that hangs until it is let go, and then fails or raises."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()
        self.error = error

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Hang, then fail."""
        self.entered.set()
        self.go.wait(20)
        if self.error is not None:
            raise self.error
        return LogRecordExportResult.FAILURE

    def shutdown(self) -> None:
        """Let go."""
        self.go.set()


def score(**more: Any) -> ScoreRecord:
    """Build a verdict."""
    return ScoreRecord(
        **{
            "score_id": "s1",
            "conversation_id": "conv-1",
            "episode": 2,
            "level": "tool_call",
            "target": "call_7",
            "scorer": "tool_calls",
            "scorer_version": "3",
            "verdict": "fail",
            "value": 0.25,
            "reason": "The order id is missing.",
            "evidence": (Evidence(message=1), Evidence(span_id="00f067aa0ba902b7")),
            "scored_ns": 1_790_000_000_000_000_000,
            "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
            **more,
        }
    )


@contextmanager
def endpoint(status: int = 200) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Serve OTLP/HTTP on a loopback port and keep what was posted."""
    posted: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            posted.append((self.path, body))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", posted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def events(exporter: Export, counter: Counter, **more: Any) -> EvaluationEvents:
    """Build and start the sender."""
    sender = EvaluationEvents(exporter, version="1.2.3", count=counter, clock_ns=lambda: 7, **more)
    sender.start()
    return sender


def plain(pairs: Sequence[KeyValue]) -> dict[str, Any]:
    """Return attributes as Python values."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "") for pair in pairs}


def test_a_verdict_arrives_as_an_evaluation_event() -> None:
    """The bytes on the wire are the event of the conventions, on the scored span's context."""
    counter = Counter()
    with endpoint() as (url, posted):
        sender = events(otlp_exporter(url + "/"), counter)
        sender.emit([score()])
        sender.close()
    path, body = posted[0]
    assert path == "/v1/logs"
    resource = ExportLogsServiceRequest.FromString(body).resource_logs[0]
    assert plain(resource.resource.attributes) == {
        "service.name": "outrider",
        "service.version": "1.2.3",
    }
    record = resource.scope_logs[0].log_records[0]
    assert record.event_name == "gen_ai.evaluation.result"
    assert record.trace_id.hex() == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert record.span_id.hex() == "00f067aa0ba902b7"
    assert record.time_unix_nano == 1_790_000_000_000_000_000
    found = plain(record.attributes)
    assert found["gen_ai.evaluation.name"] == "tool_calls"
    assert found["gen_ai.evaluation.score.value"] == 0.25
    assert found["gen_ai.evaluation.score.label"] == "fail"
    assert found["gen_ai.evaluation.explanation"] == "The order id is missing."
    assert found["gen_ai.conversation.id"] == "conv-1"
    assert (found["outrider.episode"], found["outrider.score.target"]) == (2, "call_7")
    assert counter.sums == {"sent": 1.0}


def test_our_receiver_knows_its_own_events() -> None:
    """When events come back to us they are recognised, so that nothing scores itself."""
    with endpoint() as (url, posted):
        sender = events(otlp_exporter(url), Counter())
        sender.emit([score()])
        sender.close()
    items = parse("logs", "proto", posted[0][1]).items()
    assert [is_own(item) for item in items] == [True]


def test_skips_are_not_emitted_and_failures_name_their_error() -> None:
    """A skip says nothing; a failure carries an error instead of a score."""
    counter = Counter()
    with endpoint() as (url, posted):
        sender = events(otlp_exporter(url), counter)
        failure = score(
            verdict="failure", value=None, reason="TypeError: no", evidence=(), trace_id=""
        )
        sender.emit([score(verdict="skip", value=None), failure])
        sender.close()
    logs = ExportLogsServiceRequest.FromString(posted[0][1]).resource_logs[0].scope_logs[0]
    assert len(logs.log_records) == 1
    record = logs.log_records[0]
    found = plain(record.attributes)
    assert found["error.type"] == "TypeError"
    assert not {"gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"} & set(found)
    assert (record.trace_id, record.span_id) == (b"", b"")
    assert counter.sums == {"sent": 1.0}


def test_a_refusal_is_counted() -> None:
    """What the endpoint refuses is counted as failed and not tried for ever."""
    counter = Counter()
    with endpoint(status=400) as (url, _):
        sender = events(otlp_exporter(url), counter)
        sender.emit([score(), score()])
        sender.close()
    assert counter.sums == {"failed": 2.0}


@pytest.mark.parametrize("error", [None, RuntimeError("broken exporter")])
def test_a_hanging_endpoint_never_blocks_who_emits(error: Exception | None) -> None:
    """Over the queue's size events are dropped and counted, and nothing waits or is lost count of."""
    exporter, counter = Blocked(error=error), Counter()
    sender = events(exporter, counter, queue_size=3)
    sender.emit([score()])
    assert exporter.entered.wait(20)
    sender.emit([score()] * 5)
    assert counter.sums == {"dropped": 2.0}
    exporter.go.set()
    sender.close()
    sender.emit([score()])
    assert counter.sums == {"dropped": 3.0, "failed": 4.0}


def test_closing_does_not_wait_for_ever() -> None:
    """A sender whose endpoint hangs is closed in time, and what waited counts as dropped."""
    exporter, counter = Blocked(), Counter()
    sender = events(exporter, counter)
    sender.emit([score()])
    assert exporter.entered.wait(20)
    sender.emit([score()] * 2)
    sender.close(timeout_s=0)
    assert counter.sums["dropped"] == 2.0
