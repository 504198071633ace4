"""Test that one wrong piece of a JSON request costs nothing but what holds it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from collector import otlp

TRACE, SPAN = "0a" * 16, "0b" * 8


def span(**fields: Any) -> dict[str, Any]:
    """Write a span."""
    return {"traceId": TRACE, "spanId": SPAN, "name": "right", **fields}


def group(*spans: Any, **fields: Any) -> dict[str, Any]:
    """Write the spans of one resource."""
    return {"scopeSpans": [{"spans": spans}], **fields}


def parsed(*groups: Any) -> otlp.Batch:
    """Decode a request of these resources."""
    return otlp.parse("traces", "json", json.dumps({"resourceSpans": groups}).encode())


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (span(traceId=7), "Expected `str | null`, got `int` - at `$.traceId`"),
        (span(kind="client"), "$.kind"),
        (span(attributes={"a": 1}), "$.attributes"),
        (span(status="error"), "$.status"),
        ("span", "Expected `object`"),
        (None, "Expected `object`"),
    ],
)
def test_a_span_of_wrong_types_is_rejected_alone(wrong: Any, reason: str) -> None:
    """The spans beside it are taken, and the sender is told what is wrong with it."""
    batch = parsed(group(span(name="before"), wrong, span(name="behind")), group(span()))
    assert [s.name for s in batch.spans()] == ["before", "behind", "right"]
    assert batch.rejected == 1
    assert reason in batch.reject_reason


@pytest.mark.parametrize(
    ("wrong", "rejected", "reason"),
    [
        (group(span(), span(), resource=7), 2, "a resource cannot be right"),
        (
            group(
                span(),
                resource={"attributes": [{"key": "k", "value": {"intValue": "x"}}]},
            ),
            1,
            "a resource cannot be right: an integer was expected",
        ),
        ({"scopeSpans": [{"scope": 7, "spans": [span()] * 3}]}, 3, "a scope cannot be right"),
        ({"scopeSpans": [{"spans": 7}]}, 1, "`spans` must be a list"),
        ({"scopeSpans": [7]}, 1, "an object was expected"),
        ({"scopeSpans": 7}, 1, "`scopeSpans` must be a list"),
        (7, 1, "an object was expected"),
    ],
)
def test_what_is_wrong_above_spans_costs_those_below(
    wrong: Any, rejected: int, reason: str
) -> None:
    """Spans of another resource are taken; of those that are lost each is counted."""
    batch = parsed(group(span(name="before")), wrong, group(span(name="behind")))
    assert [s.name for s in batch.spans()] == ["before", "behind"]
    assert batch.rejected == rejected
    assert reason in batch.reject_reason


def test_texts_that_were_cut_inside_a_character() -> None:
    """Half a surrogate pair and bytes that are not UTF-8 become the sign for such."""
    body = json.dumps({"resourceSpans": [group(span(name="cut \ud83d"), span(name="XX"))]})
    batch = otlp.parse("traces", "json", body.encode().replace(b"XX", b"\xc3"))
    assert [s.name for s in batch.spans()] == ["cut \ufffd", "\ufffd"]
    assert batch.rejected == 0


def test_numbers_that_json_does_not_know() -> None:
    """Python writes NaN and infinities without quotes, and numbers of any length."""
    numbers = [math.nan, -math.inf]
    pairs = [{"key": f"k{n}", "value": {"doubleValue": n}} for n in numbers]
    batch = parsed(group(span(attributes=pairs), span(startTimeUnixNano=math.nan)))
    (found,) = batch.spans()
    assert str(found.attributes) == "{'knan': nan, 'k-inf': -inf}"
    assert batch.reject_reason == "an integer was expected, got 'NaN'"


def test_enums_may_be_names() -> None:
    """Protobuf's own JSON writers put names where the OTLP specification demands numbers."""
    (found,) = parsed(
        group(span(kind="SPAN_KIND_CLIENT", status={"code": "STATUS_CODE_ERROR"}))
    ).spans()
    assert (found.kind, found.status_code) == (3, 2)
    record = {"severityNumber": "SEVERITY_NUMBER_INFO3", "eventName": "e"}
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record, 7]}]}]}).encode()
    batch = otlp.parse("logs", "json", body)
    assert [r.severity for r in batch.logs()] == [11]
    assert batch.rejected == 1
