"""Hold the values in a claim against those of the calls behind it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from scorers.rules.acts import Act
from scorers.rules.deeds import Deed
from scorers.rules.leaves import leaves

_MAX_CHARS = 2_000
_MONEY = re.compile(
    r"(?:[$€£¥]|\b(?:usd|eur|gbp|chf)\s?)\s?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?)\s?(?:[$€£]|(?:usd|eur|gbp|chf|dollars?|euros?|pounds?)\b)",
    re.IGNORECASE,
)
_MONEY_NAMES = re.compile(r"amount|price|total|sum|cost|refund|payment|value", re.IGNORECASE)
_AMOUNT = re.compile(r"[$€£]?\d[\d,]*(?:\.\d+)?")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})|(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_MONTH}))\b",
    re.IGNORECASE,
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(rf"\bon\s+(?:\w+\s+)?({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?P<time>[T ]\d{2}:\d{2}\S*)?")
_OTHER_TIME = re.compile(
    r"\b(?:by|before|after|until|till|within|since|from|originally|was|were|due|expires?|arriv\w+|deliver\w+|days?|instead of|valid)\b",
    re.IGNORECASE,
)
"""What makes a date in a claim another than that of the deed."""


def contradiction(quote: str, act: Act, deeds: Sequence[Deed]) -> str:
    """Say which value of a claim none of the calls behind it has; empty when all may be right.

    Looked at are amounts of money that move, e-mail addresses that something was sent to, and
    dates. A value counts only where the calls name one of its kind, and one that agrees is enough.
    """
    if not deeds:
        return ""
    values = [
        (key, str(value)[:_MAX_CHARS])
        for deed in deeds
        for key, value in leaves(deed.call.arguments)
    ]
    name = deeds[-1].call.name
    return (
        (_of_money(quote, values, deeds, name) if act == "pay" else "")
        or (_of_address(quote, values, name) if act == "tell" else "")
        or (_of_date(quote, values, name) if act in ("edit", "any") else "")
    )


_Value: TypeAlias = tuple[str, str]
"""A value of a call with the key over it."""


def _of_money(quote: str, values: Sequence[_Value], deeds: Sequence[Deed], name: str) -> str:
    said = {_plain(one or other) for one, other in _MONEY.findall(quote)}
    given = [_plain(value) for key, value in values if _is_amount(key, value)]
    if not said or not given:
        return ""
    results = {
        _plain(n) for deed in deeds for n in _NUMBER.findall((deed.call.result or "")[:_MAX_CHARS])
    }
    if said & ({*given, round(sum(given), 2)} | results):
        return ""
    return f"its call of {name} has {given[-1]:g}, not {min(said):g}"


def _is_amount(key: str, value: str) -> bool:
    return bool(_MONEY_NAMES.search(key) and _AMOUNT.fullmatch(value))


def _of_address(quote: str, values: Sequence[_Value], name: str) -> str:
    said = {one.lower().rstrip(".") for one in _EMAIL.findall(quote)}
    given = {one.lower() for _, value in values for one in _EMAIL.findall(value)}
    if not said or not given or said & given:
        return ""
    return f"its call of {name} went to {min(given)}, not {min(said)}"


def _of_date(quote: str, values: Sequence[_Value], name: str) -> str:
    given = [
        (date, bool(found["time"]))
        for _, value in values
        for found in _ISO.finditer(value)
        if (date := _date(found[0][:10])) is not None
    ]
    if not given or _OTHER_TIME.search(quote):
        return ""
    shown = given[-1][0].isoformat()
    if said := {_day_of(found) for found in _DATE.finditer(quote)}:
        near = {(d.month, d.day) for date, timed in given for d in _around(date, timed=timed)}
        wrong = "" if said & near else _DATE.search(quote)[0]  # type: ignore[index]
        return wrong and f"its call of {name} has {shown}, not {wrong}"
    if (weekday := _WEEKDAY.search(quote)) is None:
        return ""
    days = {d.weekday() for date, timed in given for d in _around(date, timed=timed)}
    wrong = "" if _WEEKDAYS.index(weekday[1].lower()) in days else weekday[1]
    return wrong and f"its call of {name} has {shown}, which is no {wrong}"


def _around(date: dt.date, *, timed: bool) -> Iterator[dt.date]:
    """Yield a date, and its neighbours where a time of another zone may move it."""
    yield date
    if timed and dt.date.min < date < dt.date.max:
        yield date - dt.timedelta(days=1)
        yield date + dt.timedelta(days=1)


def _day_of(found: re.Match[str]) -> tuple[int, int]:
    if found["iso"]:
        return int(found["iso"][5:7]), int(found["iso"][8:10])
    month = (found["month"] or found["month2"])[:3].lower()
    number = next(n for n, one in enumerate(_MONTHS, 1) if one.startswith(month))
    return number, int(found["day"] or found["day2"])


def _date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _plain(number: str) -> float:
    return round(float(number.strip("$€£").replace(",", "")), 2)
