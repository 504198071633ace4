"""Test that the table of parsed content keeps within its limit."""

from __future__ import annotations

from collector.dialects.interning import Interned


def test_what_is_used_stays_and_the_rest_is_forgotten() -> None:
    """An entry that is asked for survives the change of generations."""
    table: Interned[str] = Interned(10_000)
    table.put("kept", "value", 10)
    for number in range(100):
        table.put(number, "filler", 10)
        assert table.get("kept", 10) == "value"
    assert table.get(0, 10) is None
    assert table.get(99, 10) == "filler"


def test_an_entry_beyond_the_limit_is_not_kept() -> None:
    """One huge message cannot push everything else out."""
    table: Interned[str] = Interned(10_000)
    table.put("small", "value", 10)
    table.put("huge", "value", 1_000_000)
    assert table.get("huge", 1_000_000) is None
    assert table.get("small", 10) == "value"
