"""Turn spans into rows of ``otel_traces``."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from typing import Any

import msgspec

from collector.stamps import seconds, stamp
from collector.stores.trace_state import sampled
from collector.telemetry import Attributes, AttributeValue, Span

SPAN_KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
STATUS_CODES = ("Unset", "Ok", "Error")

_encoder = msgspec.json.Encoder()


def span_rows(
    spans: Iterable[Span], *, sample_probability: float = 1.0
) -> dict[str, list[tuple[Any, ...]]]:
    """Build the ``otel_traces`` rows of kept spans and the time range of each trace.

    Where less than all spans are kept, the probability is written as readers expect it:
    ``SpanAttributes['SampleRate']`` and the ``ot=th`` entry of the trace state.
    """
    resources: dict[int, dict[str, str]] = {}
    traces: dict[str, tuple[int, int]] = {}
    rows: list[tuple[Any, ...]] = []
    for span in spans:
        resource = resources.get(id(span.resource))
        if resource is None:
            resource = resources[id(span.resource)] = flat(span.resource)
        rows.append(_span(span, resource, sample_probability))
        start, end = traces.get(span.trace_id, (span.start_ns, span.start_ns))
        traces[span.trace_id] = (min(start, span.start_ns), max(end, span.start_ns))
    if not rows:
        return {}
    ranges = [(trace, seconds(start), seconds(end)) for trace, (start, end) in traces.items()]
    return {"otel_traces": rows, "otel_traces_trace_id_ts": ranges}


def flat(attributes: Attributes) -> dict[str, str]:
    """Flatten attributes to text: numbers and booleans as JSON, bytes base64, nested as JSON."""
    return {key: value if type(value) is str else _text(value) for key, value in attributes.items()}


def _text(value: AttributeValue) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    try:
        return _encoder.encode(value).decode()
    except (OverflowError, UnicodeEncodeError):
        # Integers over 64 bits and lone surrogates: valid JSON that only the slow encoder writes.
        return json.dumps(msgspec.to_builtins(value))


def _span(span: Span, resource: dict[str, str], probability: float) -> tuple[Any, ...]:
    attributes, state = flat(span.attributes), span.trace_state
    if probability < 1:
        state, overall = sampled(state, probability)
        attributes["SampleRate"] = str(round(1 / overall))
    events, links = span.events, span.links
    return (
        stamp(span.start_ns),
        span.trace_id,
        span.span_id,
        span.parent_id,
        state,
        span.name,
        SPAN_KINDS[span.kind] if 0 <= span.kind < len(SPAN_KINDS) else "Unspecified",
        resource.get("service.name", ""),
        resource,
        span.scope_name,
        span.scope_version,
        attributes,
        max(0, span.end_ns - span.start_ns) if span.end_ns else 0,
        STATUS_CODES[span.status_code] if 0 <= span.status_code < len(STATUS_CODES) else "Unset",
        span.status_message,
        [stamp(e.time_ns) for e in events],
        [e.name for e in events],
        [flat(e.attributes) for e in events],
        [link.trace_id for link in links],
        [link.span_id for link in links],
        [link.trace_state for link in links],
        [flat(link.attributes) for link in links],
    )
