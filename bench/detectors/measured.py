"""Measure how often watchers alarm in healthy traffic, and how soon they do when it gets worse."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

import msgspec

from bench.detectors.traffic import DAY, PER_HOUR, USUAL, Kind, verdicts
from bench.detectors.watchers import Watcher

WATCHED = 30
"""Days of each healthy run, after the first."""
HOURS = 72
"""How long a run goes on after its change; what was not found by then counts as this."""


class Quiet(msgspec.Struct, frozen=True, kw_only=True):
    """False alarms in healthy traffic."""

    alarms: int
    runs: int
    """Of ``WATCHED`` days."""
    alarmed: int
    """Runs with an alarm."""

    @property
    def days_between(self) -> float:
        """Mean time between false alarms; infinite where there was none."""
        return WATCHED * self.runs / self.alarms if self.alarms else math.inf

    @property
    def days_error(self) -> float:
        """Its standard error, alarms being about Poisson."""
        return self.days_between / math.sqrt(self.alarms) if self.alarms else math.inf

    @property
    def share(self) -> float:
        """Probability of an alarm in a run."""
        return self.alarmed / self.runs

    @property
    def share_error(self) -> float:
        """Its standard error."""
        return math.sqrt(self.share * (1 - self.share) / self.runs)


class Delay(msgspec.Struct, frozen=True, kw_only=True):
    """Hours between a change and the first alarm after it.

    Runs in which an alarm is on when the change comes are left out.
    """

    runs: int

    mean: float
    error: float
    """Standard error of the mean."""
    missed: int
    """Runs without an alarm within ``HOURS``."""


def quiet(watcher: Watcher, series: Iterable[bytes]) -> Quiet:
    """Count a watcher's alarms in healthy traffic."""
    counts = [len(watcher.watch(one)) for one in series]
    return Quiet(alarms=sum(counts), runs=len(counts), alarmed=sum(count > 0 for count in counts))


def delay(watcher: Watcher, series: Sequence[tuple[bytes, int]]) -> Delay:
    """Measure a watcher on traffic that gets worse at a position.

    Raises:
        ValueError: fewer than two runs.
    """
    waits = []
    missed = 0
    for verdicts_of, changed in series:
        alarms = watcher.watch(verdicts_of)
        if any(begin < changed < end for begin, end in alarms):
            continue
        after = next((begin for begin, _ in alarms if begin >= changed), None)
        missed += after is None
        end = len(verdicts_of) if after is None else after + 1
        waits.append((end - changed) / PER_HOUR)
    if len(waits) < 2:
        raise ValueError("a standard error needs two runs")
    mean = sum(waits) / len(waits)
    variance = sum((wait - mean) ** 2 for wait in waits) / (len(waits) - 1)
    return Delay(runs=len(waits), mean=mean, error=math.sqrt(variance / len(waits)), missed=missed)


def healthy(seed: int, kind: Kind, *, runs: int) -> Iterable[bytes]:
    """Draw healthy runs: a day to learn, and those that are watched."""
    for run in range(runs):
        rng = random.Random(f"{seed} {kind} {run}")  # noqa: S311 - repeatable, not secret
        yield verdicts(rng, (WATCHED + 1) * DAY, kind=kind)


def worsening(
    seed: int, worse: float, *, runs: int, kind: Kind = "even"
) -> list[tuple[bytes, int]]:
    """Draw runs with a day to learn, a healthy one, and a worse rate from then on."""
    found = []
    for run in range(runs):
        rng = random.Random(f"{seed} {kind} {worse} {run}")  # noqa: S311 - repeatable, not secret
        before = verdicts(rng, 2 * DAY, rate=USUAL, kind=kind)
        after = verdicts(rng, HOURS * PER_HOUR, rate=worse, kind=kind)
        found.append((before + after, len(before)))
    return found
