"""Test that nothing secret gets into the store, wherever a producer puts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.config import Config, SampleConfig
from tests.e2e.instance import Clock, Instance
from tests.e2e.otlp import answered, asked, pairs, said, span, traces

ADDRESS = "mia.planted@example.com"
TABLES = (
    *("conversations", "turns", "tool_calls", "scores", "decisions", "observations"),
    *("otel_traces", "otel_traces_trace_id_ts"),
)


def talk() -> bytes:
    """Write a conversation in which every text that a producer chooses has an address in it."""
    spoken = [
        said("user", f"I am {ADDRESS}"),
        asked(f"find {ADDRESS}", "call_1", who=ADDRESS),
        answered("call_1", f"found {ADDRESS}"),
    ]
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": ADDRESS,
        "gen_ai.request.model": ADDRESS,
        "gen_ai.response.id": ADDRESS,
        "gen_ai.conversation.id": ADDRESS,
        "gen_ai.agent.name": ADDRESS,
        "gen_ai.agent.version": ADDRESS,
        "user.id": ADDRESS,
        "error.type": ADDRESS,
        "gen_ai.input.messages": spoken,
        "gen_ai.output.messages": [said("assistant", f"Hello {ADDRESS}")],
        "gen_ai.tool.definitions": [{"type": "function", "name": f"find {ADDRESS}"}],
        "huge": "[1e400," + "9" * 5_000 + f',"{ADDRESS}"]',
        "twice": f'{{"a":"{ADDRESS}","a":1}}',
    }
    chat = span(f"chat {ADDRESS}", failed=True, **attributes)
    chat.trace_state = f"vendor={ADDRESS}"
    chat.status.message = f"no {ADDRESS}"
    chat.attributes.add(key="raw").value.bytes_value = b"[\xff " + ADDRESS.encode()
    chat.events.append(Span.Event(name=ADDRESS, attributes=pairs({"at": ADDRESS})))
    chat.links.append(Span.Link(trace_id=b"1" * 16, span_id=b"2" * 8, trace_state=f"v={ADDRESS}"))
    request = ExportTraceServiceRequest.FromString(traces(chat))
    resource = request.resource_spans[0]
    resource.resource.attributes.extend(pairs({"deployment.environment.name": ADDRESS}))
    resource.scope_spans[0].scope.name = resource.scope_spans[0].scope.version = ADDRESS
    return request.SerializeToString()


@pytest.mark.parametrize("rate", [1.0, 0.0])
def test_no_secret_reaches_the_store(tmp_path: Path, rate: float) -> None:
    """Neither tables nor exports nor totals hold an address; one alias stands for the id."""
    sample = SampleConfig(rate=rate, keep_failing=False, keep_errors=False, keep_new_version=0)
    config = Config(sample=sample)
    with Instance(tmp_path, config=config, clock=Clock()) as instance:
        instance.send([talk()])
        instance.settle()
        instance.end(ADDRESS)
        instance.later(30)
        exported = {
            what: instance.export(what)
            for what in ("conversations", "scores", "decisions", "observations")
        }
        stored = {
            table: instance.path.store.query(f"SELECT * FROM {table}")  # noqa: S608  # ours
            for table in TABLES
        }
        assert "planted" not in repr((exported, stored, instance.path.journal.totals()))
        assert instance.total("episodes_total") == 1
        kept = ("turns", "tool_calls", "otel_traces")
        assert [bool(stored[table]) for table in kept] == [rate == 1.0] * 3
        assert all(stored[table] for table in ("conversations", "scores", "decisions"))
        ids = {row["conversation_id"] for rows in exported.values() for row in rows}
    assert len(ids) == 1
    assert ids.pop().startswith("id-")
