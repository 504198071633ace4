"""Name the running totals: how a counter series is addressed, summed and carried.

A total never falls. It is a row of the journal, raised in the transaction that makes the
counted thing final, and mirrored in memory for whoever exports it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TypeAlias

SeriesKey: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""Metric name without the ``outrider_`` prefix, then label pairs in the catalogue's order."""

Deltas: TypeAlias = dict[SeriesKey, float]
"""How much each series rises."""


def series(name: str, **labels: str) -> SeriesKey:
    """Return the key of one series; labels in the catalogue's order."""
    return name, tuple(labels.items())


def add(deltas: Deltas, name: str, amount: float = 1.0, **labels: str) -> None:
    """Raise one series; labels in the catalogue's order.

    Raises:
        ValueError: the amount is negative, which no total may ever see.
    """
    if amount < 0:
        msg = f"total {name} cannot fall by {-amount}"
        raise ValueError(msg)
    key = (name, tuple(labels.items()))
    deltas[key] = deltas.get(key, 0.0) + amount


def merge(deltas: Deltas, more: Mapping[SeriesKey, float]) -> None:
    """Add the rises in ``more`` to ``deltas``."""
    for key, amount in more.items():
        deltas[key] = deltas.get(key, 0.0) + amount


def observe(
    deltas: Deltas,
    name: str,
    value: float,
    bounds: tuple[float, ...],
    times: int = 1,
    **labels: str,
) -> None:
    """Count a value in a histogram: the one bucket it falls in, the sum and the count.

    Unlike in an exposition the buckets are not cumulative, so that a value raises one row
    instead of all; whoever exports them adds them up.
    """
    position = bisect_left(bounds, value)
    le = format_bound(bounds[position]) if position < len(bounds) else "+Inf"
    add(deltas, f"{name}_bucket", times, **labels, le=le)
    add(deltas, f"{name}_sum", value * times, **labels)
    add(deltas, f"{name}_count", times, **labels)


def format_bound(bound: float) -> str:
    """Write a bucket's upper bound as OpenMetrics wants it: ``0.5``, ``1.0``, ``10.0``."""
    return repr(float(bound))
