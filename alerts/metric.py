"""Describe one metric."""

from __future__ import annotations

from typing import Literal

import msgspec

PREFIX = "outrider_"

MetricKind = Literal["counter", "gauge", "histogram"]
MetricGroup = Literal["quality", "health", "alarms", "pipeline"]
Stability = Literal["stable", "experimental"]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric family."""

    name: str
    """Without the prefix; counters end in ``_total``."""
    kind: MetricKind
    labels: tuple[str, ...] = ()
    """In the order in which every series key has them."""
    help: str
    unit: str = ""
    """Base unit where the name carries it: ``seconds``, ``bytes``, ``usd``."""
    group: MetricGroup
    stability: Stability = "stable"
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram, without infinity."""
    known: tuple[str, ...] = ()
    """Values of a counter's only label that are exported from the start, so that their first rise shows."""
