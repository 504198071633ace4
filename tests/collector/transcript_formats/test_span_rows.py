"""Exported spans become the spans that were sent, however the exporter writes them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import Conversation, Document, Usage
from collector.telemetry import LogRecord, Span
from collector.transcript_formats import span_rows
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.detection import rows_in
from collector.transcript_gathering import Gathering
from tests.build import agent, request, result, tool, user
from tests.collector.transcript_formats.span_shapes import (
    BEGAN,
    BEGAN_NS,
    CALL,
    CALLS,
    FLAT,
    ROOT,
    TOOL,
    TRACE,
)


def spans(row: Any) -> list[Span | LogRecord]:
    """Read one row."""
    return list(span_rows.read_row(row))


def conversation(*rows: Any) -> Conversation:
    """Put one conversation together."""
    gathering = Gathering()
    for row in rows:
        for kind, inner in rows_in(row):
            gathering.add(kind, inner, json.dumps(inner).encode())
    (found,) = gathering.conversations()
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_model_call(name: str) -> None:
    """Ids, times, messages, tool calls, definitions and tokens are what was sent."""
    row = CALLS[name]
    assert span_rows.is_span(row)
    (span,) = spans(row)
    assert isinstance(span, Span)
    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, CALL, ROOT)
    assert abs(span.start_ns - BEGAN_NS) < 10**6
    found = conversation(row)
    assert found.id == "s-1"
    assert found.messages == (
        user("Where is A-17?"),
        agent("", request("get_order", "t1", order="A-17")),
    )
    assert found.tools == (tool("get_order"),)
    (call,) = found.llm_calls
    assert (call.model, call.usage) == ("m-1", Usage(input=12, output=3))


TOOLS = (
    {
        "openinference.span.kind": "TOOL",
        "tool.name": "get_order",
        "input.value": '{"order": "A-17"}',
        "output.value": '{"status": "shipped"}',
    },
    {
        "openinference": {"span": {"kind": "TOOL"}},
        "tool": {"name": "get_order", "parameters": {"order": "A-17"}},
        "input": {"value": {"order": "A-17"}, "mime_type": "application/json"},
        "output": {"value": {"status": "shipped"}},
    },
)


@pytest.mark.parametrize("attributes", TOOLS)
def test_a_tool_span_brings_the_result(attributes: Any) -> None:
    """A tool's span, flat or nested, answers the call."""
    ran = CALLS["phoenix rest"] | {
        "context": {"trace_id": TRACE, "span_id": TOOL},
        "span_kind": "TOOL",
        "attributes": attributes,
    }
    found = conversation(CALLS["python sdk"], ran)
    (message,) = (m for m in found.messages if m.role == "tool")
    assert json.loads(message.text) == {"status": "shipped"}
    assert found.identity.agent == "shop"


def test_documents() -> None:
    """A retriever's documents are read from columns, nested objects and flat keys."""
    passage = {"id": "d1", "content": "Two years.", "score": 0.5, "metadata": {"page": 3}}
    shapes: tuple[Any, ...] = (
        {"attributes.retrieval.documents": [{f"document.{k}": v for k, v in passage.items()}]},
        {"attributes": {"retrieval": {"documents": [{"document": passage}]}}},
        {
            "attributes": {
                f"retrieval.documents.0.document.{k}": v
                for k, v in passage.items()
                if k != "metadata"
            }
        },
    )
    for shape in shapes:
        row = {"context.trace_id": TRACE, "context.span_id": CALL, "span_kind": "RETRIEVER"} | shape
        assert conversation(row).documents == (Document(id="d1", text="Two years.", score=0.5),)


def frames() -> Iterator[Any]:
    """Write two spans in every orientation of a data frame."""
    rows = [CALLS["phoenix data frame"] | {"context.span_id": i} for i in (CALL, TOOL)]
    bare = [{k: v for k, v in row.items() if k != "context.span_id"} for row in rows]
    yield rows
    yield {k: {"0": rows[0].get(k), "1": rows[1].get(k)} for k in rows[0]}
    yield {k: {CALL: bare[0][k], TOOL: bare[1][k]} for k in bare[0]}
    yield dict(zip((CALL, TOOL), bare, strict=True))
    yield {
        "columns": list(bare[0]),
        "index": [CALL, TOOL],
        "data": [list(r.values()) for r in bare],
    }
    yield {"schema": {"fields": []}, "data": rows}
    yield {"data": {"node": {"spans": {"edges": [{"node": row} for row in rows]}}}}


@pytest.mark.parametrize("frame", list(frames()))
def test_data_frames_and_answers(frame: Any) -> None:
    """Rows are found in every orientation of a frame, and inside the answers of an API."""
    found = [next(span_rows.read_row(row)) for kind, row in rows_in(frame) if kind == "spans"]
    assert [(s.trace_id, s.span_id) for s in found] == [(TRACE, CALL), (TRACE, TOOL)]


BARE_SPAN = {
    key: value for key, value in CALLS["otlp"].items() if key not in ("traceId", "resource")
}


def test_what_stands_around_spans() -> None:
    """A trace that holds its spans gives them its id, resource and scope, and is none itself."""
    shared = {"traceId": TRACE, "startTime": BEGAN, "status": "OK"}
    trace = {
        **shared,
        "resource": {"attributes": {"service.name": "shop"}},
        "scope": {"name": "x"},
        "rootSpan": BARE_SPAN,
        "spans": [BARE_SPAN],
    }
    found = conversation(trace)
    assert (found.identity.agent, found.span_count) == ("shop", 1)
    assert found.messages[0] == user("Where is A-17?")


def test_requests_that_nearly_are_otlp() -> None:
    """Ids in base64 and kinds by name, as protobuf's own JSON has them, are read."""
    ids = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes.fromhex(CALL)).decode(),
        "parentSpanId": base64.b64encode(bytes.fromhex(ROOT)).decode(),
    }
    attributes = [{"key": "service.name", "value": {"stringValue": "shop"}}]
    for more in (ids, ids | {"kind": "SPAN_KIND_CLIENT"}):
        scoped = {"scope": {"name": "x"}, "spans": [CALLS["otlp"] | more]}
        request_ = {
            "resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scoped]}]
        }
        found = conversation(request_)
        assert (found.trace_ids, found.identity.agent) == ((TRACE,), "shop")
        assert found.messages[0] == user("Where is A-17?")


def test_status_kind_events_and_scope() -> None:
    """What a span says beside its attributes is kept."""
    failed = {"name": "exception", "timestamp": BEGAN, "attributes": {"exception.type": "Boom"}}
    row = CALLS["python sdk"] | {
        "status": {"status_code": "ERROR", "description": "no"},
        "events": [failed],
        "instrumentation_scope": {"name": "x", "version": "2"},
    }
    (span,) = spans(row)
    assert isinstance(span, Span)
    assert (span.kind, span.status_code, span.status_message) == (3, 2, "no")
    assert (span.scope_name, span.scope_version) == ("x", "2")
    (event,) = span.events
    assert (event.time_ns, event.attributes) == (BEGAN_NS, {"exception.type": "Boom"})


def test_log_records() -> None:
    """Events that keep the content join the span they belong to."""
    chat = CALLS["plain"] | {"attributes": {"gen_ai.operation.name": "chat"}}
    said = {
        "body": {"content": "Hello"},
        "severity_number": 9,
        "timestamp": BEGAN,
        "trace_id": f"0x{TRACE}",
        "span_id": f"0x{CALL}",
        "attributes": {"gen_ai.system": "openai", "event.name": "gen_ai.user.message"},
    }
    assert isinstance(spans(said)[0], LogRecord)
    assert conversation(chat, said).messages == (user("Hello"),)


def test_rows_of_attributes_alone() -> None:
    """Attributes without ids make a span whose ids are its content's."""
    (one,), (again,) = spans(FLAT), spans(dict(FLAT))
    assert isinstance(one, Span)
    assert (one.attributes, len(one.trace_id), len(one.span_id)) == (FLAT, 32, 16)
    assert one == again


def test_what_is_no_span() -> None:
    """A row without a trace is none."""
    assert not span_rows.is_record({"name": "chat", "start_time": BEGAN, "attributes": {}})
    with pytest.raises(FormatError, match="without a trace id"):
        spans({"name": "chat"})


def test_results_stay_text() -> None:
    """What a store parsed is text again where instrumentations send text."""
    row = CALLS["phoenix rest"] | {
        "attributes": FLAT
        | {
            "llm.input_messages.1.message.role": "tool",
            "llm.input_messages.1.message.tool_call_id": "t0",
            "llm.input_messages.1.message.content": {"status": "lost"},
        }
    }
    assert conversation(row).messages[1] == result("", '{"status":"lost"}', "t0")


KEYS = st.sampled_from(
    [
        "name",
        "context",
        "trace_id",
        "span_id",
        "parent_id",
        "start_time",
        "attributes",
        "events",
        "status",
        "status_code",
        "resource",
        "scope",
        "body",
        "severity",
        "kind",
        "key",
        "value",
        "arrayValue",
        "values",
        "kvlistValue",
        "intValue",
        "llm",
        "input_messages",
        "message",
        "attributes.llm.input_messages",
        "context.trace_id",
        "openinference.span.kind",
        "traceId",
        "traces",
        "observations",
        "trace",
        "id",
        "type",
        "timestamp",
        "sessionId",
        "metadata",
        "input",
        "output",
        "usageDetails",
        "run_type",
        "extra",
        "child_runs",
        "columns",
        "index",
        "data",
    ]
)
WORDS = st.sampled_from(["LLM", "GENERATION", "TOOL", "llm", TRACE, CALL, BEGAN, "{", "[]", "{}"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(KEYS, JSON, max_size=9))
def test_any_row_is_read_or_refused(row: Any) -> None:
    """Whatever a row holds, it is read or reported, never a crash."""
    gathering = Gathering()
    for kind, inner in rows_in([row, {**row, "trace_id": TRACE, "attributes": row}]):
        try:
            gathering.add(kind, inner, b"{}")
        except FormatError:
            continue
    list(gathering.conversations())
