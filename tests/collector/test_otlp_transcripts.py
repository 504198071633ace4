"""Recorded OTLP requests become the conversations that were replayed."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.model import Conversation
from collector.otlp_transcripts import otlp_conversations
from collector.replay import plan
from collector.transcripts import read

EXAMPLE = Path(__file__).parents[2] / "examples" / "support.jsonl"


def recorded(*, strip_ids: bool) -> list[bytes]:
    """Return the example as OTLP JSON lines, as a recording exporter writes them."""
    requests = plan(
        read(EXAMPLE), clock=lambda: 10**18, seed="a", strip_ids=strip_ids, interleave=5, batch=4
    )
    lines = []
    for request in requests:
        message = json_format.MessageToDict(
            ExportTraceServiceRequest.FromString(request.body), use_integers_for_enums=True
        )
        for span in _spans(message):
            for key in ("traceId", "spanId", "parentSpanId"):
                if key in span:
                    span[key] = _hex(span[key])
        lines.append(json.dumps(message).encode())
    return lines


def _spans(
    message: dict[str, list[dict[str, list[dict[str, list[dict[str, str]]]]]]],
) -> Iterator[dict[str, str]]:
    for resource in message["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _hex(text: str) -> str:
    return msgspec.convert(text, bytes).hex()


def fail(number: int, reason: str) -> None:
    """Accept no error."""
    raise AssertionError(f"request {number}: {reason}")


@pytest.mark.parametrize("strip_ids", [False, True])
def test_gives_the_same_conversations(strip_ids: bool) -> None:
    """The messages and tool calls are those of the transcript, with and without ids."""
    want = [(c.messages, [(t.name, t.result) for t in c.tool_calls]) for c in read(EXAMPLE)]
    found: list[Conversation] = list(
        otlp_conversations(recorded(strip_ids=strip_ids), on_error=fail)
    )
    got = [(c.messages, [(t.name, t.result) for t in c.tool_calls]) for c in found]
    assert sorted(map(_spoken, got)) == sorted(map(_spoken, want))
    assert all(c.explicit is not strip_ids for c in found)


def _spoken(item: tuple[object, object]) -> str:
    return json.dumps(msgspec.to_builtins(item))


def test_a_line_that_is_not_a_request_is_reported() -> None:
    """The other lines still give their conversations."""
    problems: list[int] = []
    lines = [b'{"resourceSpans": 5}', *recorded(strip_ids=False)]
    found = list(otlp_conversations(lines, on_error=lambda n, _: problems.append(n)))
    assert problems == [1]
    assert {c.id for c in found} == {f"bike-{n}" for n in range(1, 6)}
