"""Hold what the user decides about detection, in the detectors' units."""

from __future__ import annotations

import msgspec


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
