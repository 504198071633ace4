"""Hold how a tool's result is read."""

from __future__ import annotations

import json

import pytest

from collector.model import ToolCall
from scorers.rules.tool_outcome import outcome_of


def kind(result: str | None, name: str = "get_parcel", *, is_error: bool | None = None) -> str:
    """Return the kind of outcome of one result."""
    return outcome_of(ToolCall(name=name, result=result, is_error=is_error)).kind


@pytest.mark.parametrize(
    "result",
    [
        "Error: no such parcel",
        "ERROR 17 while loading",
        "KeyError: 'parcel'",
        "'parcel'",
        "httpx.ConnectTimeout: took too long: timed out",
        "Traceback (most recent call last):\n  File ...",
        "404 Not Found",
        "HTTP 503: service is down",
        "Failed to load the parcel",
        "An unexpected error occurred while loading",
        "[Errno 13] Permission denied: '/depot'",
        '{"error": "parcel is locked"}',
        '{"error": {"code": 17, "message": "locked"}}',
        '{"errors": [{"message": "locked"}]}',
        '{"ok": false, "hint": "ask the depot"}',
        '{"success": false}',
        '{"isError": true, "content": [{"type": "text", "text": "locked"}]}',
        '{"status": "failed", "message": "the depot is closed"}',
        '{"statusCode": 422, "body": "?"}',
        "{'error': 'parcel is locked'}",
        "{'meta': {'page': [1]}, 'error': \"can't reach the depot\"}",
        '{"error": "cut off here',
        "<<Error: no such parcel>>",
        "status: error\ndetail: locked",
        '[{"type": "text", "text": "Error: parcel is locked"}]',
        "weight must be of type number",
    ],
)
def test_failures_are_seen_in_every_dress(result: str) -> None:
    """Plain text, exceptions, HTTP codes, JSON, Python's repr, YAML and cut-off JSON can all fail."""
    assert kind(result) == "error"


@pytest.mark.parametrize(
    "result",
    [
        "",
        "[]",
        "{}",
        "null",
        "None",
        '{"results": []}',
        '{"text": "{}"}',
        "No parcels were found for this street.",
        "Could not find the parcel",
        "0 results",
    ],
)
def test_lookups_that_found_nothing_are_empty(result: str) -> None:
    """A lookup that worked and found nothing is empty, not failed."""
    assert kind(result) == "empty"


@pytest.mark.parametrize(
    "result",
    [
        '{"id": 7, "error": null, "status": "delivered"}',
        '{"payment": {"status": "failed"}, "id": 7}',
        '{"status": "failed", "amount": 12}',
        '{"ok": true, "success": true}',
        "The error budget of the depot is 3 %.",
        "Parcel 503 is on its way",
        "The parcel is not available on Sundays, a neighbour takes it.",
        '[{"id": 7, "error": "damaged box"}]',
        "Errors in delivery are rare. " * 40,
        "17",
    ],
)
def test_content_that_speaks_of_errors_is_not_one(result: str) -> None:
    """A good answer stays one when its content tells of failures."""
    assert kind(result) == "ok"


@pytest.mark.parametrize(
    "result",
    [
        "The slot is not available any more.",
        "Your card was declined.",
        "Could not find the parcel",
        '{"status": "rejected"}',
    ],
)
def test_a_refused_action_is_an_error(result: str) -> None:
    """What is an answer from a lookup is a failure from a tool that should have acted."""
    assert kind(result, "book_slot") == "error"
    assert kind("Slot booked successfully. It cannot be moved.", "book_slot") == "ok"


def test_the_producers_flag_decides() -> None:
    """A result flagged as an error is one whatever it says."""
    assert kind("fine", is_error=True) == "error"
    assert kind(None, is_error=True) == "error"


def test_a_result_never_seen_is_unknown() -> None:
    """A missing result is neither good nor bad."""
    assert kind(None) == "unknown"


@pytest.mark.parametrize(
    "result",
    [
        '{"note": "x", "error": "parcel \\"7\\" is locked"}',
        "  Error: locked\nmore",
        "{'ok': False}",
    ],
)
def test_quotes_stand_in_the_result(result: str) -> None:
    """The quoted words are found in the result exactly as quoted."""
    quote = outcome_of(ToolCall(name="get_parcel", result=result)).quote
    assert quote
    assert quote in result


@pytest.mark.parametrize(
    "result",
    [
        "{" * 50_000,
        "{'a':" * 20_000,
        '{"text":' * 1_000 + '"x"' + "}" * 1_000,
        "\ud800",
        '{"error": "\ud800"}',
        '"' * 20_000,
        "-" * 500_000,
        json.dumps({"error": [[[]]]}),
    ],
)
def test_hostile_results_do_not_raise(result: str) -> None:
    """Deep, huge and broken results get an outcome like any other."""
    assert kind(result) in ("ok", "error", "empty")
