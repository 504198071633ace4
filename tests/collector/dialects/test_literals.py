"""Test reading what Python wrote with ``repr``."""

from __future__ import annotations

import pytest

from collector.dialects.literals import constructed, literal


def test_literals_become_json() -> None:
    """Structures, tuples and keys that are numbers."""
    assert literal("{'n': (1, None), 2: True}") == {"n": [1, None], "2": True}


def test_half_a_character_is_replaced() -> None:
    """Nothing behind could write it; two halves are one character."""
    assert literal(r"{'q\ud83d': '\ud83d', 'r': '\ud83d\ude00'}") == {
        "q\ufffd": "\ufffd",
        "r": "😀",
    }
    assert constructed(r"Call(q='\ud83d')") == {"q": "\ufffd"}


@pytest.mark.parametrize(
    "text", ["{'n': {1}}", "open('x')", "[" * 5_000, "b'x'", "x" * 200_000, ""]
)
def test_all_else_stays_text(text: str) -> None:
    """Sets, calls, nesting without end and anything too long."""
    assert literal(text) == text
