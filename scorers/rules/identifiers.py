"""Pick the values out of a call's arguments that only somebody else can have given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from collector.model import JsonValue
from scorers.rules.leaves import leaves

_MAX_CHARS = 80

_ID_NAMES = re.compile(
    r"(?:^|_)(?:ids?|uuid|guid|iban|sku|isbn|vin|imei|ssn|zip|zip_?code|postal_?code|pnr|phone|mobile|email)_?$"
)
_CODE_NAMES = re.compile(
    r"(?:^|_)(?:number|numbers|num|no|code|ref|reference|account|card|serial|tracking|booking|reservation|order|ticket|invoice|locator)$"
)
_CHOSEN_NAMES = re.compile(
    r"idempotency|nonce|request_id|trace|session|password|secret|query|search|expression|filter|"
    r"date|time|day|month|year|amount|price|total|count|limit|page|offset|size|version|content|"
    r"body|message|text|title|subject|description|summary|note|reason|comment|name|path|url|link|color|colour"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}\Z")
_CODE = re.compile(r"[A-Za-z0-9#][A-Za-z0-9_#/:.-]{0,79}\Z")
_MOMENT = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ]?\d{1,2}:\d{2}\S*)?)?\Z|\d{1,2}[:.]\d{2}(?::\d{2})?\s?(?:[ap]m)?\Z|"
    r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\Z|\d{1,4}[ap]m\Z",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"-?\d*\.\d+\Z")
_FILE = re.compile(r".*\.[A-Za-z]{2,5}\Z")
_CAPITALS = re.compile(r"[A-Z]{5,8}\Z")
_has_digit = re.compile(r"\d").search
_PHONE = re.compile(r"\+?[\d\s().-]{7,20}\Z")


class Identifier(msgspec.Struct, frozen=True, kw_only=True):
    """A value that names one particular thing, and the argument that carries it."""

    argument: str
    value: str


def identifiers_of(arguments: JsonValue) -> Iterator[Identifier]:
    """Yield the id-like values: ids, codes, account and phone numbers, e-mail addresses.

    Free text, amounts, dates and names are left out: the agent may write or work them out.
    """
    for name, value in leaves(arguments):
        if isinstance(value, float) or (isinstance(value, str) and len(value) > _MAX_CHARS):
            continue
        text = str(value).strip()
        if len(text) <= _MAX_CHARS and _names_one_thing(name, text, value):
            yield Identifier(argument=name, value=text)


def _names_one_thing(name: str, text: str, value: str | int) -> bool:
    """Say whether a value is an id, by the name of its argument and by its shape."""
    digits = _has_digit(text)
    if not digits and "@" not in text and not _CAPITALS.match(text):
        return False
    kind = _kind_of(name[:_MAX_CHARS])
    if not isinstance(value, str):
        return kind == "id" and value >= 0
    if "@" in text:
        return bool(_EMAIL.match(text))
    if kind == "id":
        shaped = _CODE.match(text) or _PHONE.match(text)
        return bool(shaped) and not (digits and _is_amount(text))
    if kind == "chosen" or not _CODE.match(text) or _FILE.match(text) or _is_amount(text):
        return False
    least = 2 if kind == "code" else 5 if text.isdigit() else 4
    return sum(map(str.isdigit, text)) >= least


def _is_amount(text: str) -> bool:
    return bool(_MOMENT.match(text) or _DECIMAL.match(text))


@lru_cache(maxsize=1_024)
def _kind_of(name: str) -> Literal["id", "chosen", "code", "other"]:
    """Say from an argument's name what its values are."""
    words = _CAMEL.sub("_", name).lower().replace("-", "_")
    if _ID_NAMES.search(words):
        return "id"
    if _CHOSEN_NAMES.search(words):
        return "chosen"
    return "code" if _CODE_NAMES.search(words) else "other"
