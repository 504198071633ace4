"""Read LangSmith's runs as its API and its exports give them, children inside or on lines of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collector.telemetry import Attributes, Span
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.span_fields import (
    as_text,
    first,
    listing,
    mapping,
    nanoseconds,
    parsed,
    span_id,
    trace_id,
    word,
)

DEEPEST = 100
COUNTS = {
    "gen_ai.usage.input_tokens": ("prompt_tokens", "input_tokens"),
    "gen_ai.usage.output_tokens": ("completion_tokens", "output_tokens"),
}
MODELS = ("ls_model_name", "model", "model_name")


def is_run(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a run."""
    return isinstance(row.get("run_type"), str) and "id" in row


def read_row(row: Mapping[str, Any]) -> Iterator[Span]:
    """Read one run and the runs inside it.

    Raises:
        FormatError: it has no id.
    """
    yield from _spans(row, word(row, "trace_id") or word(row, "id"), DEEPEST)


def _spans(run: Mapping[str, Any], trace: str, depth: int) -> Iterator[Span]:
    if not word(run, "id"):
        raise FormatError("a LangSmith run without an id")
    yield _span(run, word(run, "trace_id") or trace)
    for child in listing(run.get("child_runs")):
        if isinstance(child, dict) and depth > 0:
            above = {"parent_run_id": word(run, "id")}
            yield from _spans(above | child, trace, depth - 1)


def _span(run: Mapping[str, Any], trace: str) -> Span:
    extra = mapping(run.get("extra"))
    metadata = mapping(extra.get("metadata"))
    invocation = mapping(extra.get("invocation_params"))
    attributes: Attributes = {
        "langsmith.span.kind": word(run, "run_type").lower(),
        **_content(run, "gen_ai.prompt", "inputs"),
        **_content(run, "gen_ai.completion", "outputs"),
        **{f"langsmith.metadata.{key}": value for key, value in metadata.items() if value},
    }
    model = word(metadata, *MODELS) or word(invocation, *MODELS)
    if model:
        attributes["gen_ai.request.model"] = model
    tools = listing(invocation.get("tools")) or listing(invocation.get("functions"))
    if tools:
        attributes["gen_ai.tool.definitions"] = as_text(tools)
    for key, names in COUNTS.items():
        counted = first(run, *names)
        if isinstance(counted, int) and not isinstance(counted, bool):
            attributes[key] = counted
    if "usage_metadata" in metadata:
        attributes["langsmith.metadata.usage_metadata"] = as_text(metadata["usage_metadata"])
    error = word(run, "error")
    start = nanoseconds(run.get("start_time"))
    return Span(
        trace_id=trace_id(trace),
        span_id=span_id(word(run, "id")),
        parent_id=span_id(word(run, "parent_run_id")),
        name=word(run, "name"),
        start_ns=start,
        end_ns=nanoseconds(run.get("end_time")) or start,
        status_code=2 if error else 0,
        status_message=error,
        attributes=attributes,
        scope_name="langsmith",
        resource=_resource(run),
    )


def _content(run: Mapping[str, Any], key: str, column: str) -> Attributes:
    value = parsed(run.get(column))
    return {} if value in (None, "", {}) else {key: as_text(value)}


def _resource(run: Mapping[str, Any]) -> Attributes:
    project = word(run, "session_name")
    return {"service.name": project} if project else {}
