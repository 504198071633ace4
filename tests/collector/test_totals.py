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


def test_a_value_raises_one_bucket() -> None:
    """A value counts in the first bucket that reaches it, in the sum and in the count."""
    deltas: Deltas = {}
    for value in (0.5, 0.2, 7.0):
        observe(deltas, "seconds", value, (0.1, 0.5, 1.0), tool="refund")
    tool = ("tool", "refund")
    assert deltas == {
        ("seconds_bucket", (tool, ("le", "0.5"))): 2.0,
        ("seconds_bucket", (tool, ("le", "+Inf"))): 1.0,
        ("seconds_sum", (tool,)): 7.7,
        ("seconds_count", (tool,)): 3.0,
    }
