"""Watch verdicts by Outrider's detector and by what others do; say when each alarms.

A watcher is given the verdicts of one agent from its first conversation on. What it says of the
first day does not count: then Outrider learns, and windows fill. A window alarms for as long as
it is over its limit; the others alarm at one conversation and begin anew after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from alerts.detectors.evidence import BETS, Bets, weighed
from alerts.detectors.reference import Block, null_of
from alerts.detectors.settings import settings_of
from alerts.detectors.stream import threshold
from bench.detectors.traffic import DAY, PER_HOUR, USUAL
from collector.config import DetectConfig

Alarm: TypeAlias = tuple[int, int]
"""The conversation at which an alarm begins, and the one at which it is over."""
Watch: TypeAlias = Callable[[bytes], list[Alarm]]
"""Verdicts to the alarms, in order."""

SHIPPED = settings_of(DetectConfig(), scorers=1)
"""Outrider's defaults, for an agent with one scorer."""
WINDOW = PER_HOUR
"""Conversations in an hour."""


class Watcher(msgspec.Struct, frozen=True, kw_only=True):
    """One way to watch."""

    name: str
    note: str
    """What it was told, and by whom it is offered."""
    watch: Watch


def told(verdicts: bytes) -> list[Alarm]:
    """Watch with Outrider's evidence, told the usual rate: the budget and nothing else."""
    return crossings(verdicts, Bets(USUAL, 1.0), level=PER_HOUR * SHIPPED.page_hours)


def shipped(verdicts: bytes) -> list[Alarm]:
    """Watch as Outrider does by default, for an agent with one scorer."""
    null = null_of(blocks_of(verdicts[:DAY]), tolerance=SHIPPED.tolerance)
    level = threshold(null.per_hour, SHIPPED.page_hours, scorers=SHIPPED.scorers)
    return crossings(verdicts, Bets(null.null_rate, null.overdispersion), level=level)


def crossings(verdicts: bytes, bets: Bets, *, level: float, start: int = DAY) -> list[Alarm]:
    """Return where the evidence, from nought at the start and after each alarm, reaches a level."""
    passed, failed = bets.factors(0.0)[0], bets.factors(1.0)[0]
    masses = [0.0] * BETS
    found = []
    for index in range(start, len(verdicts)):
        factors = failed if verdicts[index] else passed
        if weighed(masses, factors, threshold=level) >= level:
            found.append((index, index + 1))
            masses = [0.0] * BETS
    return found


def blocks_of(verdicts: bytes) -> list[Block]:
    """Return the hours of a reference."""
    blocks = []
    for hour, start in enumerate(range(0, len(verdicts), PER_HOUR)):
        part = verdicts[start : start + PER_HOUR]
        failures = float(sum(part))
        blocks.append(Block(hour, len(part), failures, failures))
    return blocks


def window(limit: float) -> Watch:
    """Alarm when more than a share of the last hour's conversations failed."""
    most = limit * WINDOW

    def watch(verdicts: bytes) -> list[Alarm]:
        found: list[Alarm] = []
        failures, since = sum(verdicts[DAY - WINDOW : DAY]), -1
        for index in range(DAY, len(verdicts)):
            failures += verdicts[index] - verdicts[index - WINDOW]
            if failures > most and since < 0:
                since = index
            elif failures <= most and since >= 0:
                found.append((since, index))
                since = -1
        return found if since < 0 else [*found, (since, len(verdicts))]

    return watch


def z_test(quantile: float) -> Watch:
    """Test the last hour against the usual rate at every conversation, one-sided."""
    return window(USUAL + quantile * math.sqrt(USUAL * (1 - USUAL) / WINDOW))


OURS = (
    Watcher(
        name="Outrider, rate known",
        note="the bare e-detector: told the usual rate, one stream, budget 90 days",
        watch=told,
    ),
    Watcher(
        name="**Outrider as shipped**",
        note="learns a day, bound and tolerance, budget 90 days, half of it for versions; one scorer",
        watch=shipped,
    ),
)
RIVALS = (
    Watcher(
        name="window, 13 %", note="alarm when over 13 % of the last hour failed", watch=window(0.13)
    ),
    Watcher(
        name="window, 15 %", note="alarm when over 15 % of the last hour failed", watch=window(0.15)
    ),
    Watcher(
        name="z-test, p < 0.01",
        note="the last hour against the usual rate, at every conversation, one-sided",
        watch=z_test(2.326),
    ),
    Watcher(name="z-test, p < 0.001", note="the same, stricter", watch=z_test(3.090)),
)
