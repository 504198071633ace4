"""Name one verifiable constraint, and what checking it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """One demand on a reply: its kind, and what the kind wants to know."""

    kind: str
    """A name of ``kinds.py``."""
    arguments: Mapping[str, Any]
    wording: str
    """The demand in a few words, completing "it should …"."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """How one kind of demand is checked."""

    check: Callable[..., str]
    """Takes the reply and the arguments; returns what is wrong in a few words, empty when nothing is."""
    wording: Callable[..., str]
    """Takes the arguments and returns the demand, completing "it should …"."""
    about: str
    """One line for the reference."""


Kinds: TypeAlias = Mapping[str, Kind]

RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "less than": lambda n, wanted: n < wanted,
    "at most": lambda n, wanted: n <= wanted,
    "exactly": lambda n, wanted: n == wanted,
    "at least": lambda n, wanted: n >= wanted,
    "more than": lambda n, wanted: n > wanted,
}
"""How a count may stand to the number in a demand."""


def miscounted(found: int, relation: str, wanted: int, what: str) -> str:
    """Say that a count is not as demanded: ``it has 143 words``; empty when it is.

    Raises:
        ValueError: there is no such relation.
    """
    holds = RELATIONS.get(relation)
    if holds is None:
        raise ValueError(f"relation {relation!r} is none of {', '.join(RELATIONS)}")
    return "" if holds(found, wanted) else f"it has {found} {what}"
