"""Check which kind of failure a result is told to be."""

from __future__ import annotations

import pytest

from collector.model import ToolCall
from scorers.rules.tool_error_kind import error_kind


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ('{"status": 404, "message": "gone fishing"}', "not_found"),
        ("HTTP 429 Too Many Requests", "rate_limit"),
        ('{"error": {"code": 401, "message": "who?"}}', "permission"),
        ("503 Service Unavailable", "unavailable"),
        ("Error: request timed out", "timeout"),
        ("Error: rate limit exceeded", "rate_limit"),
        ("Error: permission denied", "permission"),
        ("ValueError: invalid literal", "input"),
        ("Error: missing 1 required argument", "input"),
        ("Error: order not found", "not_found"),
        ("Error: connection refused", "unavailable"),
        ("Traceback (most recent call last): boom", "internal"),
        ("Error: seat already taken", "refused"),
        ("Error: hm", "other"),
        ("[]", "empty"),
        ("Sent to Ana.", None),
    ],
)
def test_kinds(result: str, kind: str | None) -> None:
    """A status code decides, else the words; what worked is no failure."""
    assert error_kind(ToolCall(name="find_order", result=result)) == kind


def test_the_producers_flag() -> None:
    """A call that its producer calls failed has a kind, whatever it says."""
    assert error_kind(ToolCall(name="find", result="Sorry.", is_error=True)) == "other"
    assert error_kind(ToolCall(name="find")) is None
