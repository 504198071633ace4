"""List the kinds of constraints, and make one of what a user wrote."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from scorers.constraints import language, layout, lengths, words
from scorers.constraints.constraint import Constraint, Kind, Kinds

KINDS: Kinds = MappingProxyType({**words.KINDS, **lengths.KINDS, **layout.KINDS, **language.KINDS})
"""Every kind by its name."""

_SAMPLE = "A reply, to try the arguments on."


def constraint(kind: str, arguments: Mapping[str, Any]) -> Constraint:
    """Make a constraint, tried once so that a wrong argument is found at the start.

    Raises:
        ValueError: the kind does not exist, or its arguments do not fit.
    """
    known = KINDS.get(kind)
    if known is None:
        near = difflib.get_close_matches(kind, KINDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(KINDS))}"
        raise ValueError(f"there is no kind {kind!r}; {hint}")
    takes = arguments_of(known)
    unknown = sorted(set(arguments) - set(takes))
    if unknown:
        has = f"it takes {', '.join(takes)}" if takes else "it takes none"
        raise ValueError(f"{kind} has no argument {unknown[0]!r}; {has}")
    try:
        known.check(_SAMPLE, **arguments)
        wording = known.wording(**arguments)
    except Exception as error:
        raise ValueError(f"{kind}: {error}") from error
    return Constraint(kind=kind, arguments=dict(arguments), wording=wording)


def arguments_of(kind: Kind) -> list[str]:
    """Return the names of what a kind wants to know."""
    return list(inspect.signature(kind.check).parameters)[1:]


def broken(one: Constraint, reply: str) -> str:
    """Say what is wrong with a reply in a few words; empty when the constraint holds."""
    return KINDS[one.kind].check(reply, **one.arguments)
