"""Test that label values stay few and printable."""

from __future__ import annotations

from alerts.labels import MAX_LENGTH, OTHER, Labels, sanitised
from collector.totals import series


def test_later_values_become_other() -> None:
    """The first values are kept for good, and one label's do not count for another."""
    labels = Labels(2)
    assert [labels.admit("tool", v) for v in ("a", "b", "c", "a")] == ["a", "b", OTHER, "a"]
    assert labels.admit("model", "c") == "c"


def test_empty_and_other_take_no_place() -> None:
    """An unsaid value and the overflow value are always there."""
    labels = Labels(1)
    assert [labels.admit("tool", v) for v in ("", OTHER, "a", "", OTHER)] == [
        "",
        OTHER,
        "a",
        "",
        OTHER,
    ]


def test_existing_series_keep_their_values() -> None:
    """After a restart what was admitted is admitted, and nothing takes its place."""
    labels = Labels(2, [series("a_total", tool="x"), series("b_total", tool="y", agent="z")])
    assert [labels.admit("tool", v) for v in ("new", "x", "y")] == [OTHER, "x", "y"]
    assert labels.admit("agent", "new") == "new"


def test_values_are_printable_and_short() -> None:
    """Control characters, lone surrogates and excess length do not reach an exposition."""
    assert sanitised(" a\nb\x00\x7fc\ud800 ") == "a b c"
    assert len(sanitised("x" * 10_000)) == MAX_LENGTH
    assert Labels(9).admit("tool", "a\nb") == "a b"


def test_values_are_redacted() -> None:
    """A secret in a name does not become a label."""
    labels = Labels(9, redact=lambda value: value.replace("mia@example.com", "[email]"))
    assert labels.admit("agent", "agent of mia@example.com") == "agent of [email]"
