"""Run detection step by step on a real store, as a process would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from alerts.detectors.detection import SAVE_S, Detection
from alerts.detectors.observed import Observed
from alerts.stream_view import AlertDetail
from collector.errors import StoreUnavailableError
from collector.stamps import stamp
from collector.stores.clickhouse import ClickHouseStore
from tests.alerts.detectors.traffic import SETTINGS, START_NS, traffic

Rows = Mapping[str, Sequence[Sequence[Any]]]
FEW = msgspec.structs.replace(SETTINGS, reference_hours=2, reference_min=200, page_hours=240.0)
"""Learns two hours, so that a story is a thousand conversations."""


class Watch:
    """Run detection step by step on a store; a second one takes over from the first."""

    def __init__(self, store: ClickHouseStore, *, settings: Any = FEW) -> None:
        self.store = store
        self.now = 0.0
        self.produced = 0
        self.counted: dict[str, float] = {}
        self.refuse: Callable[[Rows], bool] = lambda _: False
        self.settings = settings
        self.scorers = {(name, "1") for name in ("false_success", "looping", "policy")}
        self.detection = self.fresh()

    def fresh(self) -> Detection:
        """Start anew, as after a crash."""
        self.detection = Detection(
            self.settings,
            scorers=self.scorers,
            ready=self.store.has_tables,
            query=self.store.query,
            write=self._write,
            clock_ns=lambda: START_NS + int(self.now * 1e9),
            seconds=lambda: self.now,
            count=self._count,
            producer="here",
            produced=lambda: self.produced,
        )
        return self.detection

    def _write(self, rows: Rows) -> None:
        if self.refuse(rows):
            raise StoreUnavailableError("the test says no")
        self.store.insert(rows)

    def _count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self.counted[name] = self.counted.get(name, 0.0) + amount

    def observe(self, seen: Sequence[Observed]) -> None:
        """Put observations into the store, as the pipeline does."""
        self.store.insert({"observations": [row_of(one) for one in seen]})
        self.produced = max(one.sequence for one in seen if one.producer == "here")

    def steps(self, count: int = 3) -> None:
        """Let time pass and work."""
        for _ in range(count):
            self.now += SAVE_S
            self.detection.step()

    def events(self) -> list[tuple[str, str, str]]:
        """Return kind, slice and severity of the events in the store, in order."""
        rows = self.store.query(
            "SELECT kind, slice, detail FROM alert_events FINAL ORDER BY at, event_id"
        )
        return [
            (r["kind"], r["slice"], msgspec.json.decode(r["detail"], type=AlertDetail).severity)
            for r in rows
        ]

    def states(self) -> dict[tuple[str, str], str]:
        """Return the states in the store."""
        rows = self.store.query("SELECT stream, slice, state FROM detector_state FINAL")
        return {(r["stream"], r["slice"]): r["state"] for r in rows}


def row_of(one: Observed) -> tuple[Any, ...]:
    """Return an observation's row, as the pipeline writes it."""
    return (
        one.producer,
        one.sequence,
        one.conversation_id,
        1,
        one.scorer,
        one.scorer_version,
        one.shortfall,
        one.weight,
        one.stratum,
        one.agent,
        one.agent_version,
        one.environment,
        "production",
        "",
        "",
        stamp(one.observed_ns),
        stamp(one.started_ns),
    )


def encoded(value: Any) -> str:
    """Write a record as the store keeps it."""
    return msgspec.json.encode(value).decode()


def story(**fields: Any) -> list[Observed]:
    """Three healthy hours, then half an hour of version 2, which fails at 40 %."""
    return list(traffic(7, healthy=0.02, worse=0.4, change_hours=3.0, hours=3.5, **fields))
