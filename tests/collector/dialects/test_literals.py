"""Test reading what Python wrote with ``repr``."""

from __future__ import annotations

import pytest

from collector.dialects.literals import literal


def test_literals_become_json() -> None:
    """Structures, tuples and keys that are numbers."""
    assert literal("{'n': (1, None), 2: True}") == {"n": [1, None], "2": True}


@pytest.mark.parametrize(
    "text", ["{'n': {1}}", "open('x')", "[" * 5_000, "b'x'", "x" * 200_000, ""]
)
def test_all_else_stays_text(text: str) -> None:
    """Sets, calls, nesting without end and anything too long."""
    assert literal(text) == text
