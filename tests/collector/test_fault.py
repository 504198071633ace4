"""Errors are told without the values they quote."""

from __future__ import annotations

from collector.fault import told


def test_an_error_is_told_by_class_and_place_without_its_text() -> None:
    """``int("mia@…")`` quotes its argument; the log must not."""
    address = "mia@example.com"
    try:
        int(address)
    except ValueError as error:
        text = told(error)
    assert text.startswith("ValueError\n")
    assert "test_fault.py" in text
    assert address not in text
