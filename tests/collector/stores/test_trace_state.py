"""Test sampling thresholds against the examples of the OpenTelemetry specification."""

from __future__ import annotations

import pytest

from collector.stores.trace_state import sampled, threshold


@pytest.mark.parametrize(
    ("probability", "digits"),
    [(1.0, "0"), (0.5, "8"), (0.25, "c"), (0.1, "e666"), (0.01, "fd70a"), (0.001, "ffbe77")],
)
def test_threshold(probability: float, digits: str) -> None:
    """The threshold is the specification's."""
    assert threshold(probability) == digits


def test_other_entries_stay() -> None:
    """Other vendors and other ot fields are kept, and the changed entry comes first."""
    state, overall = sampled("vendor=a:b, ot=rv:12345678901234;th:8,x=1", 0.5)
    assert state == "ot=th:c;rv:12345678901234,vendor=a:b,x=1"
    assert overall == 0.25


@pytest.mark.parametrize("broken", ["ot=th:zz", "ot=th:", "ot=th:" + "1" * 15, "ot=", "=", ",,"])
def test_a_malformed_threshold_says_nothing(broken: str) -> None:
    """A broken entry neither raises nor changes the probability."""
    assert sampled(broken, 0.5)[1] == 0.5
