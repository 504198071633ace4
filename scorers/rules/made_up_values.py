"""Find amounts, dates and names of people in a call that follow from nothing said before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from collector.model import JsonValue
from scorers.rules.grounds import Grounds
from scorers.rules.identifiers import Identifier
from scorers.rules.leaves import leaves

_MOST_FIGURES = 150
"""With more numbers before it, nearly any amount follows from some of them, and none is judged."""
_AMOUNT_NAMES = re.compile(
    r"(?:^|_)(?:amount|price|total|sum|cost|fee|refund|payment|deposit|budget|balance)(?:_(?:usd|eur|gbp|in_cents|cents))?$"
)
_DATE_NAMES = re.compile(
    r"(?:^|_)(?:date|day|start|end|from|to|until|at|on|time|due|birth|dob|departure|arrival)(?:_|$)"
)
_PERSON_NAMES = re.compile(
    r"^(?:first|last|full|given|family|customer|passenger|patient|guest|holder|recipient|cardholder|contact|owner)_?name$|^surname$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?\Z")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_TIME = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|now|next|last|week\w*|month\w*|year\w*|days?|mon|tue\w*|wed\w*|thu\w*|fri|sat|sun|\w+day|"
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\w*)\b|\d{4}-\d{2}|\d{1,2}[/.]\d{1,2}\b|\b(?:19|20)\d{2}\b"
)
"""A date, or a word from which one may be worked out."""
_MAX_CHARS = 80
"""Longer texts are no name and no date."""
_LARGE = 1e15
_SMALL = 10
"""Amounts up to this are counts or defaults as often as money."""


def made_up(arguments: JsonValue, grounds: Grounds, before: int) -> Iterator[Identifier]:
    """Yield the values of a call that neither were given before a message nor follow from what was.

    An amount may be a sum, a difference, a product, a share in per cent, or cents for units, of
    given numbers. A date is told only where no date and no word of time stands before it, and a
    person's name only where no part of it does.
    """
    for name, value in leaves(arguments):
        plain = _CAMEL.sub("_", name[:_MAX_CHARS]).lower()
        if isinstance(value, int | float):
            if _AMOUNT_NAMES.search(plain) and _is_made_up_amount(value, grounds, before):
                yield Identifier(argument=name, value=json.dumps(value))
        elif len(value) > _MAX_CHARS:
            continue
        elif _PERSON_NAMES.search(plain):
            parts = _LETTERS.findall(value)
            if parts and not any(grounds.holds(part, before) for part in parts):
                yield Identifier(argument=name, value=value)
        elif _DATE_NAMES.search(plain) and _ISO.match(value) and not grounds.has(_TIME, before):
            yield Identifier(argument=name, value=value)


def _is_made_up_amount(value: float, grounds: Grounds, before: int) -> bool:
    # not a number, and what no price is, are not money; written so that NaN is none either
    if not _SMALL < abs(value) < _LARGE:
        return False
    given = _numbers(grounds.figures(before))
    if given is None:
        return False
    wanted = round(abs(value), 2)
    for scaled in (wanted, round(wanted / 100, 2), round(wanted * 100, 2)):
        if any(abs(scaled - one) < 0.011 for one in given):
            return False
    return not _follows(wanted, given)


def _numbers(figures: AbstractSet[str]) -> list[float] | None:
    if len(figures) > _MOST_FIGURES:
        return None
    return [float(one) for one in figures if len(one) < 13]


def _follows(wanted: float, given: list[float]) -> bool:
    values = {round(one, 2) for one in given if one}
    near = (
        values | {round(one + 0.01, 2) for one in values} | {round(one - 0.01, 2) for one in values}
    )
    return (
        any(
            round(wanted - one, 2) in near
            or round(wanted + one, 2) in near
            or round(one - wanted, 2) in near
            or round(wanted / one, 2) in near
            or round(100 * wanted / one, 2) in near
            or round(100 * (wanted / one - 1), 2) in near
            or round(100 * (1 - wanted / one), 2) in near
            for one in values
        )
        or abs(sum(values) - wanted) < 0.011
    )
