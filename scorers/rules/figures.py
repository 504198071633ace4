"""Compare the figures in a reply with those the agent was given or could work out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

_FIGURE = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
_MAX_FIGURES = 60
_MAX_DIGITS = 15
_LONG = 5


def figures_of(text: str) -> list[str]:
    """Return the numbers of a text in one spelling: ``1,200.50`` and ``1200.5`` are the same."""
    return [_plain(found) for found in _FIGURE.findall(text)]


def given_by(text: str) -> set[str]:
    """Return the figures a text gives, and the last four digits of its long numbers (cards)."""
    found = set(map(_plain, set(_FIGURE.findall(text))))
    found.update([one[-4:].lstrip("0") for one in found if len(one) > _LONG and "." not in one])
    return found


def unsupported(figures: Sequence[str], given: AbstractSet[str]) -> list[str]:
    """Return the figures that were neither given nor follow from the others in the reply.

    Single digits are counts and not looked at. A sum, a difference or a product of two other
    figures, a running sum and the other half of the clock are taken as worked out.
    """
    stated = list(dict.fromkeys(figures))[:_MAX_FIGURES]
    missing = [one for one in stated if len(one) > 1 and one not in given]
    missing = [one for one in missing if not _other_half(one, given)]
    if not missing:
        return []
    values = [float(one) for one in stated if len(one) < _MAX_DIGITS]
    return [one for one in missing if len(one) >= _MAX_DIGITS or not _worked_out(one, values)]


def is_reference(figure: str) -> bool:
    """Say whether a figure names a thing (an order, an account) and is no amount."""
    return len(figure) >= _LONG and "." not in figure


def _plain(figure: str) -> str:
    if figure.isdigit() and figure[0] != "0":
        return figure
    whole, _, rest = figure.replace(",", "").partition(".")
    rest = rest.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{rest}" if rest else whole


def _worked_out(figure: str, values: Sequence[float]) -> bool:
    """Say whether a figure is made of two others, or is the sum of those that precede it."""
    wanted = float(figure)
    others = {round(one, 2) for one in values if one != wanted and one >= 1}
    if any(
        round(wanted - one, 2) in others
        or round(wanted + one, 2) in others
        or (one > 1 and round(wanted / one, 2) in others and wanted % one < 0.01)
        for one in others
    ):
        return True
    running = 0.0
    for count, one in enumerate(values):
        if count > 1 and abs(running - wanted) < 0.006:
            return True
        if one == wanted:
            return False
        running += one
    return False


def _other_half(figure: str, given: AbstractSet[str]) -> bool:
    """Say whether an hour was given in the other way of telling the time."""
    if len(figure) > 2:
        return False
    hour = int(figure)
    return str(hour + 12 if hour <= 12 else hour - 12) in given
