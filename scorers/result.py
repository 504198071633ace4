"""Hold the three things a scorer can return: a score, a skip, or a failure."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from collector.model import Evidence


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with its reason."""

    value: float
    """0..1, 1 is good."""
    verdict: Literal["pass", "fail"]
    reason: str
    """One sentence a person accepts."""
    evidence: tuple[Evidence, ...] = ()
    cost_usd: float = 0.0


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """The scorer has nothing to say about this target; never counted as an observation."""

    reason: str
    """A snake_case word that is a metric label: ``no_content``, ``no_tools``, ``no_claims``."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The scorer could not do its work; never a low score."""

    error: str
    """A short class name that is a metric label: ``TypeError``, ``timeout``."""
    detail: str = ""


ScorerResult: TypeAlias = Score | Skip | Failure
