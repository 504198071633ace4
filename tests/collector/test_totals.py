"""Test the arithmetic of totals."""

from __future__ import annotations

import pytest

from collector.totals import Deltas, add, merge, observe, series


def test_add_sums_one_series() -> None:
    """Raising a series twice adds up under one key with the labels in the order given."""
    deltas: Deltas = {}
    add(deltas, "tool_calls_total", agent="shop", tool="refund", outcome="ok")
    add(deltas, "tool_calls_total", 2, agent="shop", tool="refund", outcome="ok")
    key = ("tool_calls_total", (("agent", "shop"), ("tool", "refund"), ("outcome", "ok")))
    assert deltas == {key: 3.0}
    assert series("tool_calls_total", agent="shop", tool="refund", outcome="ok") == key


def test_a_total_never_falls() -> None:
    """A negative amount is refused."""
    with pytest.raises(ValueError, match="cannot fall"):
        add({}, "episodes_total", -1)


def test_merge_adds() -> None:
    """Merging adds the rises of both sides."""
    deltas: Deltas = {series("a_total"): 1.0}
    merge(deltas, {series("a_total"): 2.0, series("b_total"): 1.0})
    assert deltas == {series("a_total"): 3.0, series("b_total"): 1.0}


def test_histogram_buckets_are_cumulative() -> None:
    """A value counts in every bucket that reaches it, and the empty ones exist with 0."""
    deltas: Deltas = {}
    observe(deltas, "seconds", 0.5, (0.1, 0.5, 1.0), tool="refund")
    observe(deltas, "seconds", 0.2, (0.1, 0.5, 1.0), tool="refund")
    tool = ("tool", "refund")
    assert deltas == {
        ("seconds_bucket", (tool, ("le", "0.1"))): 0.0,
        ("seconds_bucket", (tool, ("le", "0.5"))): 2.0,
        ("seconds_bucket", (tool, ("le", "1.0"))): 2.0,
        ("seconds_bucket", (tool, ("le", "+Inf"))): 2.0,
        ("seconds_sum", (tool,)): 0.7,
        ("seconds_count", (tool,)): 2.0,
    }
