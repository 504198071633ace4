"""Name the stages of one running instance."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from collector.assembler import Assembler
from collector.handoff import Handoff
from collector.journal import Journal
from collector.pipeline import Pipeline
from collector.rebaseline_port import Relearn
from collector.shipping import Shipping
from collector.stores.clickhouse import ClickHouseStore
from collector.stores.writer import StoreWriter
from collector.tally import Tally
from collector.totals import SeriesKey


class Background(Protocol):
    """Work beside the data path, on a thread of its own."""

    def __call__(self, stop: threading.Event) -> None:
        """Go on until told to stop."""


class DataPath(msgspec.Struct, kw_only=True):
    """Every stage, in the order of the data, and what goes on beside them."""

    journal: Journal
    handoff: Handoff
    tally: Tally
    assembler: Assembler
    recover: Callable[[], None]
    """Take over what an earlier process left; called once, before the pipeline's first step."""
    pipeline: Pipeline
    shipping: Shipping
    writer: StoreWriter
    store: ClickHouseStore
    exemplars: Callable[[], Mapping[SeriesKey, str]]
    """The last kept trace by series."""
    gauges: Callable[[], Mapping[SeriesKey, float]]
    """What is read from the store now and then."""
    alarms: Callable[[], Sequence[Any] | None]
    """How the detectors stand: ``StreamView`` records; ``None`` until they were read."""
    relearn: Relearn
    """Let detectors learn anew what is usual."""
    background: Sequence[Background]
    sources: Sequence[Background]
    """What requests come from besides the ports; told to stop before the pipeline is."""
