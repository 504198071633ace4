"""Learn how often an agent fails while nothing is wrong with it.

A reference is a window of traffic cut into hours. Its bound, not its mean, becomes the null
hypothesis: with a plug-in mean half of all healthy streams would start out above it.
"""

from __future__ import annotations

import msgspec

from alerts.detectors.beta import quantile

HOUR_NS = 3_600_000_000_000
CONFIDENCE = 0.90
"""Of the upper bound: one reference in ten may lie below the true rate, before the tolerance."""
MIN_BLOCK = 30
"""Fewer observations than this are joined with the next hour's."""
MAX_HOURS = 1_024
"""Hours kept apart; a stream so sparse that it needs more has its oldest joined."""
HIGHEST_NULL = 0.99
"""Above it a scorer fails nearly everything, which leaves nothing to detect: the null is 1."""


class Block(msgspec.Struct):
    """The observations of one hour of traffic."""

    hour: int
    """Hours since 1970."""
    count: int = 0
    total: float = 0.0
    """Sum of shortfalls, each times its weight."""
    squares: float = 0.0
    """Sum of their squares, likewise."""
    more: float = 0.0
    """Sum of weights, less the count; so that a block from before there were any is right."""
    more_squares: float = 0.0
    """Sum of squared weights, less the count."""
    heaviest: float = 1.0
    """The largest weight."""

    @property
    def weight(self) -> float:
        """Sum of weights."""
        return self.count + self.more

    @property
    def worth(self) -> float:
        """As many observations of equal weight would tell as much (Kish 1965)."""
        return self.weight * self.weight / (self.count + self.more_squares)


class Null(msgspec.Struct, frozen=True, kw_only=True):
    """What a reference comes to."""

    reference_rate: float
    """Mean shortfall."""
    null_rate: float
    """Upper 90 % bound of it, plus the tolerance."""
    overdispersion: float
    """Variance of the hours' means over that of independent observations, at least 1."""
    per_hour: float
    """Observations in an hour with traffic."""
    heaviest: float = 1.0
    """The largest weight of its observations."""


def learn(blocks: list[Block], shortfall: float, started_ns: int, weight: float = 1.0) -> None:
    """Add one observation to the hour it belongs to; late ones go to their own hour."""
    hour = started_ns // HOUR_NS
    place = len(blocks)
    while place and blocks[place - 1].hour > hour:
        place -= 1
    if not place or blocks[place - 1].hour != hour:
        blocks.insert(place, Block(hour))
        place += 1
    block = blocks[place - 1]
    block.count += 1
    block.total += weight * shortfall
    block.squares += weight * shortfall * shortfall
    block.more += weight - 1.0
    block.more_squares += weight * weight - 1.0
    block.heaviest = max(block.heaviest, weight)
    if len(blocks) > MAX_HOURS:
        oldest = blocks.pop(0)
        _join(blocks[0], oldest)


def null_of(blocks: list[Block], *, tolerance: float) -> Null:
    """Bound the failure rate of a reference that has observations.

    The overdispersion is the chi-square statistic of the hours' means over its degrees of
    freedom; the bound is Jeffreys', on as many observations as independent ones of equal weight
    would be worth.
    """
    whole = Block(0)
    for block in blocks:
        _join(whole, block)
    mean = whole.total / whole.weight
    variance = max(0.0, whole.squares / whole.weight - mean * mean)
    phi = 1.0
    joined = _joined(blocks)
    if len(joined) > 1 and variance > 0:
        spread = sum(b.worth * (b.total / b.weight - mean) ** 2 for b in joined)
        phi = max(1.0, spread / (variance * (len(joined) - 1)))
    return Null(
        reference_rate=mean,
        null_rate=bound(
            whole.total * (whole.worth / whole.weight),
            whole.worth,
            overdispersion=phi,
            tolerance=tolerance,
        ),
        overdispersion=phi,
        per_hour=whole.count / len(blocks),
        heaviest=whole.heaviest,
    )


def bound(total: float, count: float, *, overdispersion: float, tolerance: float) -> float:
    """Return the highest rate that is no alarm, given the summed shortfall of a reference."""
    failed, passed = total / overdispersion, (count - total) / overdispersion
    highest = quantile(CONFIDENCE, failed + 0.5, passed + 0.5) + tolerance
    return highest if highest <= HIGHEST_NULL else 1.0


def _joined(blocks: list[Block]) -> list[Block]:
    """Join hours until each has enough observations; what is left over is left out."""
    joined: list[Block] = []
    current = Block(0)
    for block in blocks:
        _join(current, block)
        if current.count >= MIN_BLOCK:
            joined.append(current)
            current = Block(0)
    return joined


def _join(block: Block, other: Block) -> None:
    block.count += other.count
    block.total += other.total
    block.squares += other.squares
    block.more += other.more
    block.more_squares += other.more_squares
    block.heaviest = max(block.heaviest, other.heaviest)
