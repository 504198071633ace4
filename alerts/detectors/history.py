"""Fold stored observations again: what would have fired, with these or with other settings?"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from alerts.detectors.detector import Detector
from alerts.detectors.observed import Observed, weighable
from alerts.detectors.rebaselining import Whose
from alerts.stream_view import AlertDetail, AlertEvent

_RESETS = """\
SELECT event_id, toUnixTimestamp64Nano(at) AS at_ns, kind, stream, slice, detail
FROM alert_events FINAL WHERE kind = 'rebaselined' ORDER BY at, event_id"""

Query = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]
"""Run SQL with bound parameters and return the rows."""


def merged(producers: Iterable[Iterable[Observed]]) -> Iterator[Observed]:
    """Put the observations of several producers, each in its own order, into one."""
    return heapq.merge(*producers, key=lambda one: one.observed_ns)


def replayed(
    detector: Detector, history: Iterable[Observed], resets: Sequence[AlertEvent] = ()
) -> Iterator[AlertEvent]:
    """Yield what happens, in order.

    With the observations of one producer that is what happened live, to the bit. Several are
    folded in the order of the clock, where a live process took them as they arrived.

    Args:
        detector: With the settings to try, and without states.
        history: All observations, in order.
        resets: The ``rebaselined`` events, in order; each is repeated at its place.
    """
    waiting: dict[str, list[AlertEvent]] = {}
    for reset in resets:
        waiting.setdefault(reset.stream, []).append(reset)
    for seen in history:
        if not weighable(seen) or seen.stratum != "uniform":
            continue
        due = waiting.get(seen.key.stream)
        while due and _is_past(seen, due[0]):
            yield from _repeated(detector, due.pop(0))
        yield from detector.fold(seen)
    for reset in sorted(itertools.chain(*waiting.values()), key=lambda one: one.at_ns):
        yield from _repeated(detector, reset)


def read_resets(query: Query) -> list[AlertEvent]:
    """Read when references were dropped, the oldest first."""
    rows = query(_RESETS, {})
    return [
        msgspec.convert(
            {**row, "detail": msgspec.json.decode(row["detail"], type=AlertDetail)}, AlertEvent
        )
        for row in rows
    ]


def _repeated(detector: Detector, reset: AlertEvent) -> list[AlertEvent]:
    """Let the stream of an event learn anew, as it did then."""
    told = reset.detail
    whose = Whose(
        agent=told.agent,
        scorer=told.scorer,
        environment=told.environment,
        scorer_version=told.scorer_version,
    )
    return detector.rebaseline(whose, at_ns=reset.at_ns)


def _is_past(seen: Observed, reset: AlertEvent) -> bool:
    """Say whether a reference was dropped before an observation was taken."""
    through: Mapping[str, int] = reset.detail.through
    if seen.producer in through:
        return seen.sequence > through[seen.producer]
    return seen.observed_ns > reset.at_ns
