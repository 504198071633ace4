"""Hold which fields of a result are read."""

from __future__ import annotations

import pytest

from scorers.rules.tool_envelope import fields_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": 7, "error": "x", "deep": {"error": "y"}}', {"error": "x"}),
        ("{'id': 7, 'ok': False, 'deep': {'error': 'y'}}", {"id": 7, "ok": False, "deep": "{"}),
        ("{'list': [], 'success': True}", {"list": [], "success": True}),
        ('{"error": "cut of', {"error": "cut of"}),
        ('{"statusCode": 500}', {"statusCode": 500, "status_code": 500}),
        ('{"detail": "why"}', {"detail": "why", "message": "why"}),
        ('[{"error": "content"}]', {}),
        ('[{"type": "text", "text": "hello"}]', {"text": "hello"}),
        ("not a structure", {}),
    ],
)
def test_outermost_fields_are_read(text: str, expected: dict[str, object]) -> None:
    """JSON, Python's repr and cut-off JSON give their outermost fields, under one name each."""
    assert fields_of(text) == expected
