"""Hold one observation as the detectors read it."""

from __future__ import annotations

import msgspec

from alerts.detectors.stream import Key

HEAVIEST = 50.0
"""An observation that stands for more than this would decide alone, or slow all others down."""


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One row of ``observations``, as the detectors read it."""

    producer: str
    sequence: int
    conversation_id: str
    scorer: str
    scorer_version: str
    shortfall: float
    stratum: str = "uniform"
    """Only what was sampled uniformly tells of rates."""
    weight: float = 1.0
    """How many conversations it stands for: one over its chance to be scored, 1 to ``HEAVIEST``.

    For reference and evidence; counts are of what was seen.
    """
    agent: str
    agent_version: str
    environment: str
    observed_ns: int
    started_ns: int

    @property
    def key(self) -> Key:
        """Name the stream of all versions that it belongs to."""
        return Key(
            agent=self.agent,
            environment=self.environment,
            scorer=self.scorer,
            scorer_version=self.scorer_version,
        )


def weighable(seen: Observed) -> bool:
    """Say whether an observation's figures are possible."""
    return 0.0 <= seen.shortfall <= 1.0 and 1.0 <= seen.weight <= HEAVIEST
