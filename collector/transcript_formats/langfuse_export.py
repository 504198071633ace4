"""Read Langfuse's exports: traces, observations and sessions, as downloaded or exported in bulk.

The user interface and the API write camel case, the export to blob storage snake case. An
observation becomes a span again. Where OpenTelemetry brought it, Langfuse keeps the span's
attributes and takes the content out of them; it is put back, so that the instrumentation's
own dialect reads it. Everything else reads as the Langfuse SDK's spans do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collector.telemetry import Attributes, Span
from collector.transcript_formats.content import FormatError
from collector.transcript_formats.langfuse_content import (
    OTEL_MARKS,
    restored,
    tool_named,
    with_tools,
)
from collector.transcript_formats.span_attributes import attributes_of
from collector.transcript_formats.span_fields import (
    SPAN_DIGITS,
    amount,
    as_text,
    digest,
    first,
    mapping,
    nanoseconds,
    parsed,
    span_id,
    trace_id,
    word,
)

TYPES = frozenset(
    (
        "AGENT",
        "CHAIN",
        "EMBEDDING",
        "EVALUATOR",
        "EVENT",
        "GENERATION",
        "GUARDRAIL",
        "RETRIEVER",
        "SPAN",
        "TOOL",
    )
)
TRACE = ("traceId", "trace_id")
SESSION = ("sessionId", "session_id")
USER = ("userId", "user_id")
PARENT = ("parentObservationId", "parent_observation_id")
USAGE = ("usageDetails", "usage_details", "usage")
COST = ("costDetails", "cost_details")
MODEL = ("model", "providedModelName", "provided_model_name")
LEVEL_OF_ERROR = "ERROR"
COUNTS = {
    "input": ("inputUsage", "promptTokens", "input_usage", "prompt_tokens"),
    "output": (
        "outputUsage",
        "completionTokens",
        "output_usage",
        "completion_tokens",
    ),
    "total": ("totalUsage", "totalTokens", "total_usage", "total_tokens"),
}
"""Columns that say what older rows have no usage object for."""
OTEL_COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read.input_tokens",
    "cached_tokens": "cache_read.input_tokens",
    "cache_creation": "cache_creation.input_tokens",
    "cache_write": "cache_creation.input_tokens",
    "reasoning": "reasoning.output_tokens",
}
"""OTel's names for what usage is detailed under; the later ones stand inside of longer names."""
DETAILS = frozenset(list(OTEL_COUNTS)[2:])


def is_observation(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is one observation."""
    kind = row.get("type")
    return isinstance(kind, str) and kind.upper() in TYPES and bool(word(row, *TRACE))


def is_trace(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a trace, with or without its observations."""
    if "id" not in row or "timestamp" not in row or "type" in row or word(row, *TRACE):
        return False
    known = ("sessionId", "session_id", "observations", "htmlPath", "bookmarked", "release")
    return any(key in row for key in known) and not is_score(row)


def is_score(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a score, of which we make nothing."""
    return "id" in row and ("dataType" in row or "data_type" in row) and "source" in row


def is_export(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is any of Langfuse's."""
    whole = isinstance(row.get("trace"), dict) and isinstance(row.get("observations"), list)
    session = isinstance(row.get("traces"), list) and "id" in row and "createdAt" in row
    return whole or session or is_observation(row) or is_trace(row) or is_score(row)


def read_row(row: Mapping[str, Any]) -> Iterator[Span]:
    """Read a trace with its observations, a session with its traces, or one of either alone.

    Raises:
        FormatError: it has no id.
    """
    if isinstance(row.get("trace"), dict):
        yield from _trace(row["trace"], row.get("observations"))
    elif isinstance(row.get("traces"), list):
        for trace in row["traces"]:
            if isinstance(trace, dict):
                session = word(trace, *SESSION) or word(row, "id")
                yield from _trace({**trace, "sessionId": session}, trace.get("observations"))
    elif is_observation(row):
        yield _span(row, row)
    elif not is_score(row):
        yield from _trace(row, row.get("observations"))


def _trace(trace: Mapping[str, Any], observations: Any) -> Iterator[Span]:
    inner = [o for o in observations or () if isinstance(o, dict)] if observations else []
    for observation in inner:
        yield _span({"traceId": trace.get("id")} | observation, trace)
    if not inner:
        yield _root(trace)


def _root(trace: Mapping[str, Any]) -> Span:
    """Make a span of a trace's own row, whose observations stand elsewhere or nowhere."""
    id_ = word(trace, "id")
    if not id_:
        raise FormatError("a Langfuse trace without an id")
    start = nanoseconds(first(trace, "timestamp"))
    attributes: Attributes = {"langfuse.observation.type": "span", **_who(trace)}
    for side in ("input", "output"):
        if trace.get(side) not in (None, ""):
            attributes[f"langfuse.trace.{side}"] = as_text(parsed(trace[side]))
    seconds = amount(trace, "latency") or 0.0
    return Span(
        trace_id=trace_id(id_),
        span_id=digest(f"trace {id_}", SPAN_DIGITS),
        name=word(trace, "name"),
        start_ns=start,
        end_ns=start + int(min(max(seconds, 0.0), 10**9) * 10**9),
        attributes=attributes,
        scope_name="langfuse",
        resource=_resource(mapping(trace.get("metadata")), trace),
    )


def _span(row: Mapping[str, Any], trace: Mapping[str, Any]) -> Span:
    """Make a span of an observation; ``trace`` says what the whole trace shares."""
    trace_of_it, own = word(row, *TRACE), word(row, "id")
    if not trace_of_it or not own:
        raise FormatError("a Langfuse observation without its id or its trace's")
    metadata = mapping(row.get("metadata"))
    kept = attributes_of(metadata.get("attributes"))
    scope = mapping(metadata.get("scope"))
    start = nanoseconds(first(row, "startTime", "start_time"))
    return Span(
        trace_id=trace_id(trace_of_it),
        span_id=span_id(own),
        parent_id=span_id(word(row, *PARENT)),
        name=word(row, "name"),
        start_ns=start,
        end_ns=nanoseconds(first(row, "endTime", "end_time")) or start,
        status_code=2 if word(row, "level") == LEVEL_OF_ERROR else 0,
        status_message=word(row, "statusMessage", "status_message"),
        attributes=_attributes(row, kept, metadata) | _who(trace) | _who(row),
        scope_name=word(scope, "name") or "langfuse",
        scope_version=word(scope, "version"),
        resource=_resource(metadata, trace),
    )


def _attributes(
    row: Mapping[str, Any], kept: Attributes, metadata: Mapping[str, Any]
) -> Attributes:
    kind = word(row, "type").upper()
    given, returned = (
        None if row.get(side) in (None, "") else parsed(row[side]) for side in ("input", "output")
    )
    if any(key.startswith(OTEL_MARKS) for key in kept):
        native = restored(kind, kept, given, returned)
        if native is not None:
            return _counted(row) | native
    found: Attributes = kept | _counted(row)
    if kind == "TOOL":
        found |= tool_named(kept)
    found["langfuse.observation.type"] = kind.lower()
    given = with_tools(given, row, kept) if kind == "GENERATION" else given
    for side, content in (("input", given), ("output", returned)):
        if content is not None:
            found[f"langfuse.observation.{side}"] = as_text(content)
    for key, value in metadata.items():
        if isinstance(value, (str, int, float)):
            found.setdefault(f"langfuse.observation.metadata.{key}", value)
    return found


def _counted(row: Mapping[str, Any]) -> Attributes:
    """Say model, tokens and cost as Langfuse's SDK, OTel and OpenInference do."""
    found: Attributes = {}
    model = word(row, *MODEL)
    if model:
        for key in ("langfuse.observation.model.name", "gen_ai.request.model", "llm.model_name"):
            found[key] = model
    usage = _usage(row)
    if usage:
        found["langfuse.observation.usage_details"] = as_text(usage)
        for name, count in usage.items():
            for part, key in OTEL_COUNTS.items():
                if name == part or (part in DETAILS and part in name):
                    found[f"gen_ai.usage.{key}"] = count
    cost = {k: v for k, v in mapping(first(row, *COST)).items() if isinstance(v, (int, float))}
    total = cost.get("total") or amount(row, "totalCost", "total_cost", "calculatedTotalCost")
    if total:
        found["langfuse.observation.cost_details"] = as_text({**cost, "total": total})
        found["gen_ai.usage.cost"] = found["llm.cost.total"] = total
    return found


def _usage(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what was counted: in an object, else in columns."""
    usage = {k: v for k, v in mapping(first(row, *USAGE)).items() if isinstance(v, (int, float))}
    if any(usage.values()):
        return usage
    columns = {
        key: counted
        for key, names in COUNTS.items()
        if (counted := amount(row, *names)) is not None
    }
    return columns if any(columns.values()) else usage


def _who(row: Mapping[str, Any]) -> Attributes:
    said = {"session.id": word(row, *SESSION), "user.id": word(row, *USER)}
    return {key: value for key, value in said.items() if value}


def _resource(metadata: Mapping[str, Any], trace: Mapping[str, Any]) -> Attributes:
    found = attributes_of(metadata.get("resourceAttributes"))
    environment = word(trace, "environment")
    if environment:
        found.setdefault("deployment.environment.name", environment)
    version = word(trace, "release") or word(trace, "version")
    if version:
        found.setdefault("service.version", version)
    if found.get("service.name") in (None, "unknown_service"):
        name = word(trace, "traceName", "trace_name") or (
            "" if is_observation(trace) else word(trace, "name")
        )
        if name:
            found["service.name"] = name
    return found
