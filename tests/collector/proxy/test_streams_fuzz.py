"""Fuzz what the proxy reads of calls: whatever a stream holds, its call is captured."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collector import otlp
from collector.errors import MalformedError
from collector.normalise import Normaliser
from collector.proxy.about import About
from collector.proxy.capture import SpanWriter
from collector.proxy.recorder import Recorded
from collector.proxy.upstream import Api
from tests.examples import EXAMPLES

APIS: tuple[Api, ...] = ("messages", "chat_completions", "responses")
KINDS = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
    "text_delta",
    "input_json_delta",
    "citations_delta",
    "text",
    "tool_use",
    "image",
    "tool_result",
    "web_search_tool_result",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "response.completed",
    "message",
    "function_call",
    "function_call_output",
    "web_search_call",
    "reasoning",
    "input_text",
    "custom",
    "user",
    "system",
    "assistant",
]
FIELDS = [
    "type",
    "role",
    "message",
    "messages",
    "content",
    "content_block",
    "index",
    "delta",
    "text",
    "partial_json",
    "citation",
    "usage",
    "input_tokens",
    "id",
    "name",
    "input",
    "output",
    "arguments",
    "system",
    "tools",
    "function",
    "choices",
    "tool_calls",
    "finish_reason",
    "error",
    "code",
    "response",
    "item",
    "output_index",
    "content_index",
    "model",
    "max_tokens",
    "temperature",
    "metadata",
    "user",
    "source",
    "image_url",
    "instructions",
    "previous_response_id",
    "conversation",
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(KINDS)
    | st.text(max_size=4)
)


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Put values into lists and objects of the keys that matter."""
    fields = st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    return scalars | st.lists(inner, max_size=3) | fields


json_values = deeper(deeper(deeper(scalars)))
objects = st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=6)
events = st.builds(
    lambda kind, said: json.dumps({"type": kind, **said}).encode(), st.sampled_from(KINDS), objects
)


def captured(api: Api, request: bytes, response: bytes, *, kind: str, status: int = 200) -> None:
    """Write the span of a call and read it again."""
    writer = SpanWriter(limit=1 << 20, version="1", secret=b"s", random_bytes=lambda n: b"r" * n)
    span = writer(
        Recorded(
            about=About(api=api, provider="p", server="p.example"),
            request=(request,),
            response=(response,),
            status=status,
            response_chunked=False,
            response_encoding="",
            response_type=kind,
            ending="complete",
            started_ns=1,
            first_byte_ns=2,
            ended_ns=3,
            size=9,
        )
    )
    batch = otlp.parse("traces", "proto", span.body)
    assert (batch.accepted, batch.rejected) == (1, 0)
    for item in batch.spans():
        assert Normaliser(intern_bytes=1_000).span(item).role in {"llm", "other"}


@EXAMPLES
def test_any_events_are_captured(examples: int) -> None:
    """Events of every kind with anything in their fields, and in the request's, make one span."""

    @settings(max_examples=examples, deadline=None)
    @given(
        st.sampled_from(APIS), objects, st.lists(events, max_size=8), st.sampled_from([200, 529])
    )
    def holds(api: Api, request: dict[str, Any], said: list[bytes], status: int) -> None:
        stream = b"".join(b"data: " + event + b"\n\n" for event in said)
        asked = json.dumps(request).encode()
        captured(api, asked, stream, kind="text/event-stream", status=status)
        for answer in said:
            captured(api, asked, answer, kind="application/json", status=status)

    holds()


@EXAMPLES
def test_any_bytes_are_captured(examples: int) -> None:
    """A stream of any bytes makes a span; a request of any bytes may be refused as no JSON."""

    @settings(max_examples=examples, deadline=None)
    @given(st.sampled_from(APIS), st.binary(max_size=40), st.lists(st.binary(max_size=12)))
    def holds(api: Api, request: bytes, said: list[bytes]) -> None:
        stream = b"data: ".join(said)
        captured(api, b"{}", stream, kind="text/event-stream")
        captured(api, b"{}", stream, kind="application/json")
        try:
            captured(api, request, stream, kind="")
        except MalformedError:
            return

    holds()


def test_an_index_that_is_none() -> None:
    """Events whose place in the stream is no number are left out, and the call is captured."""
    for kind in ("content_block_start", "content_block_delta", "response.output_text.delta"):
        event = json.dumps({"type": kind, "index": [], "output_index": {}, "delta": {}}).encode()
        for api in APIS:
            captured(api, b"{}", b"data: " + event + b"\n\n", kind="text/event-stream")
