"""Test that spans which others captured or exported normalise whole, each call counted once.

What stands in them is read here by code of the tests' own: what was said, and what was counted
by the spans of calls that have no other call below them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.journal_records import Entry
from collector.model import Conversation
from collector.otlp import Signal, parse
from collector.telemetry import Span
from collector.transcripts import read
from tests.capture.outrider import Request, conversations_of
from tests.capture.sent import words

CORPORA = Path(os.environ.get("OUTRIDER_CORPORA", "../shared/corpora"))
SETS = CORPORA / "spans"
EXPORTS = CORPORA / "recordings"
SIGNALS: tuple[Signal, ...] = ("traces", "logs")
SAID = {"content", "text", "arguments", "result", "value", "response", "document.content"}
"""What keys end in under which somebody's words stand."""
UNREAD = re.compile(r"<generator object \S+ at 0x\w+>\Z|Calling tools:\n").match
"""What is no text of anybody's; smolagents' calls are calls."""
THOUGHTS = {"reasoning", "thinking", "redacted_thinking"}
GIVEN = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
)
MADE = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
DETAILS = "langfuse.observation.usage_details"
SUMS = ("invoke_agent", "execute_event_loop_cycle", "AGENT", "CHAIN", "TOOL")
"""Kinds of spans whose counts are sums."""

pytestmark = [
    pytest.mark.capture,
    pytest.mark.corpora,
    pytest.mark.skipif(not SETS.is_dir(), reason=f"there are no spans in {SETS}"),
]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A span or a log record, as far as it is looked at here."""

    id: str = ""
    """Of a span."""
    parent: str | None = None
    attributes: Mapping[str, Any]
    more: Sequence[Any] = ()
    """What its events say, or its body."""


def recorded(name: str) -> tuple[list[Request], list[Part]]:
    """Return the requests of one set, and what is in them."""
    requests: list[Request] = []
    parts: list[Part] = []
    for signal in SIGNALS:
        file = SETS / "otlp" / f"{name}.{signal}.pb"
        if not file.exists():
            continue
        body = file.read_bytes()
        entry = Entry(
            received_ns=0, receiver="http", signal=signal, encoding="proto", items=1, body=body
        )
        batch = parse(signal, "proto", body)
        requests.append((entry, batch))
        for item in batch.items():
            if isinstance(item, Span):
                events = [event.attributes for event in item.events]
                part = Part(
                    id=item.span_id, parent=item.parent_id, attributes=item.attributes, more=events
                )
            else:
                part = Part(attributes=item.attributes, more=[item.body])
            parts.append(part)
    return requests, parts


def said_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield the words that stand inside a value, of those who spoke."""
    if isinstance(value, Mapping):
        if value.get("type") not in THOUGHTS:
            for name, inner in value.items():
                yield from said_in(inner, name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from said_in(inner, key)
    elif isinstance(value, str):
        opened = _opened(value)
        text = value.removeprefix("Observation:").strip()
        if opened is not None:
            yield from said_in(opened, key)
        elif key.rpartition(".")[2] in SAID and " " in text and not UNREAD(text):
            yield text


def _opened(text: str) -> Any:
    try:
        return msgspec.json.decode(text) if text[:1] in ("{", "[") else None
    except msgspec.DecodeError:
        return None


def told_by(conversations: Sequence[Conversation]) -> str:
    """Return everything that stands in conversations as one text."""
    return words("\n".join(_strings(msgspec.to_builtins(conversations))))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def counted(parts: Sequence[Part]) -> tuple[int, int]:
    """Add up what calls count that have no other call below them."""
    calls = {part.id: part for part in parts if part.id and _is_call(part.attributes)}
    above = {part.parent for part in calls.values()}
    usages = [_usage(part.attributes) for id_, part in calls.items() if id_ not in above]
    return sum(given for given, _ in usages), sum(made for _, made in usages)


def _is_call(attributes: Mapping[str, Any]) -> bool:
    kinds = (attributes.get("gen_ai.operation.name"), attributes.get("openinference.span.kind"))
    return any(key in attributes for key in (*GIVEN, DETAILS)) and not any(k in SUMS for k in kinds)


def _usage(attributes: Mapping[str, Any]) -> tuple[int, int]:
    if DETAILS in attributes:
        found = msgspec.json.decode(attributes[DETAILS])
        cached = found.get("cache_read_input_tokens", 0)
        # What was cached stands beside the input, where it is more.
        return found["input"] + (cached if cached > found["input"] else 0), found["output"]
    return _count(attributes, GIVEN), _count(attributes, MADE)


def _count(attributes: Mapping[str, Any], keys: Sequence[str]) -> int:
    return int(next((attributes[key] for key in keys if key in attributes), 0))


def spent(conversations: Sequence[Conversation]) -> tuple[int, int]:
    """Add up the tokens of the model calls of conversations."""
    usages = [call.usage for c in conversations for call in c.llm_calls if call.usage]
    return sum(usage.input for usage in usages), sum(usage.output for usage in usages)


def missing(parts: Sequence[Part], conversations: Sequence[Conversation]) -> list[str]:
    """Return what was said and stands in no conversation."""
    told = told_by(conversations)
    said = (text for part in parts for text in said_in([part.attributes, *part.more]))
    return [text for text in said if words(text) not in told]


@pytest.mark.parametrize("file", sorted(SETS.glob("otlp/*.traces.pb")), ids=lambda file: file.stem)
def test_requests_of_instrumentations(file: Path) -> None:
    """Each set is one run, of which every word arrives and every token counts once."""
    requests, parts = recorded(file.name.partition(".")[0])
    conversations = conversations_of(requests)
    assert len(conversations) == 1
    assert missing(parts, conversations) == []
    assert spent(conversations) == counted(parts)


@pytest.mark.parametrize("file", sorted(SETS.glob("*.json")), ids=lambda file: file.stem)
def test_spans_in_files(file: Path) -> None:
    """The same is true of the same spans in a file, as some exporter wrote them down."""
    found = msgspec.json.decode(file.read_bytes())
    parts = [
        Part(
            id=span["span"],
            parent=span["parent"],
            attributes=span["attributes"],
            more=[event["attributes"] for event in span["events"]],
        )
        for span in found["spans"]
    ]
    conversations = list(read(file))
    assert len(conversations) == 1
    assert missing(parts, conversations) == []
    assert spent(conversations) == counted(parts)


@pytest.mark.parametrize(
    "file", sorted(EXPORTS.glob("smoltrace/*_traces.json")), ids=lambda file: file.stem
)
def test_traces_of_runs(file: Path) -> None:
    """What the spans below which there are none count is what the calls of each run add up to."""
    traces = msgspec.json.decode(file.read_bytes())
    conversations = list(read(file))
    totals: dict[str, int] = {}
    for trace in traces:
        above = {span["parent_span_id"] for span in trace["spans"]}
        leaves = (span for span in trace["spans"] if span["span_id"] not in above)
        id_ = trace["trace_id"].removeprefix("0x").rjust(32, "0")
        totals[id_] = sum(span.get("total_tokens") or 0 for span in leaves)
    found = dict.fromkeys(totals, 0)
    for conversation in conversations:
        (id_,) = conversation.trace_ids
        found[id_] += sum(spent([conversation]))
    assert found == totals
    parts = [Part(attributes=span["attributes"]) for trace in traces for span in trace["spans"]]
    assert missing(parts, conversations) == []


@pytest.mark.parametrize(
    "file",
    sorted(EXPORTS.glob("langfuse-framework-traces/*.json")),
    ids=lambda file: file.stem,
)
def test_exports_of_observations(file: Path) -> None:
    """Generations that have no other below them are the calls; their words and tokens arrive."""
    observations = msgspec.json.decode(file.read_bytes())["observations"]
    generations = {o["id"]: o for o in observations if o["type"] == "GENERATION"}
    above = {o["parentObservationId"] for o in generations.values()}
    leaves = [o for id_, o in generations.items() if id_ not in above]
    (conversation,) = read(file)
    usages = [o["usageDetails"] for o in leaves if o.get("usageDetails")]
    if usages:
        assert spent([conversation]) == (
            sum(usage.get("input", 0) for usage in usages),
            sum(usage.get("output", 0) for usage in usages),
        )
        assert len([call for call in conversation.llm_calls if call.usage]) == len(usages)
    first, *later = (o["input"] for o in sorted(leaves, key=lambda o: o["startTime"]))
    outputs = [o["output"] for o in leaves]
    # Of agents that a conversation is handed to later, it does not keep the prompts.
    spoken = [[m for m in given if m.get("role") != "system"] for given in later if _is_list(given)]
    parts = [Part(attributes={}, more=[first, *spoken, *outputs])]
    assert missing(parts, [conversation]) == []


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


@pytest.mark.parametrize(
    "file", sorted(EXPORTS.glob("open-agent-traces/*.json")), ids=lambda file: file.stem
)
def test_requests_in_files(file: Path) -> None:
    """Lines of OTLP are read without complaint."""
    complaints: list[str] = []
    conversations = list(read(file, on_error=lambda line, text: complaints.append(text)))
    assert complaints == []
    parts = []
    for line in file.read_bytes().splitlines():
        items = parse("traces", "json", line).spans()
        parts += [
            Part(id=span.span_id, parent=span.parent_id, attributes=span.attributes)
            for span in items
        ]
    assert parts
    assert missing(parts, conversations) == []
    assert spent(conversations) == counted(parts)
