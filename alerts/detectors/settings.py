"""Hold what the user decides about detection, in the detectors' units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol

import msgspec

from collector.errors import ConfigError


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The knobs of all detectors."""

    page_hours: float
    """Hours between false pages, on average, for one agent."""
    ticket_hours: float
    """The same for tickets."""
    reference_hours: int
    """Hours with traffic that a reference needs."""
    reference_min: int
    """Observations that it needs."""
    tolerance: float
    """Added to the reference's bound."""
    scorers: int
    """Scorers among which an agent's budget is split."""
    max_slices: int
    """Slices of one scorer of one agent."""
    floors: dict[str, float] = {}
    """Lowest acceptable pass rates, by scorer."""


class Section(Protocol):
    """The section ``detect`` of the configuration, in its units."""

    @property
    def false_alarm_budget(self) -> float:
        """Seconds."""

    @property
    def ticket_budget(self) -> float:
        """Seconds."""

    @property
    def reference_window(self) -> float:
        """Seconds."""

    @property
    def reference_min(self) -> int:
        """Conversations."""

    @property
    def tolerance(self) -> float:
        """A rate."""

    @property
    def floor(self) -> Mapping[str, float]:
        """Pass rates by scorer."""

    @property
    def max_slices(self) -> int:
        """Of each scorer of an agent."""


def check_floors(detect: Section, scorers: AbstractSet[str]) -> None:
    """See that each floor is under a scorer that runs.

    Raises:
        ConfigError: it is not.
    """
    for name in sorted(set(detect.floor) - scorers):
        raise ConfigError(
            f"detect.floor.{name}: no such scorer runs; these do: {', '.join(sorted(scorers))}"
        )


def settings_of(detect: Section, *, scorers: int) -> Settings:
    """Read the configuration, in hours.

    Args:
        detect: The section.
        scorers: How many run.
    """
    return Settings(
        page_hours=detect.false_alarm_budget / 3600,
        ticket_hours=detect.ticket_budget / 3600,
        reference_hours=max(1, math.ceil(detect.reference_window / 3600)),
        reference_min=detect.reference_min,
        tolerance=detect.tolerance,
        scorers=max(1, scorers),
        max_slices=detect.max_slices,
        floors=dict(detect.floor),
    )
