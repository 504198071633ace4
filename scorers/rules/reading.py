"""Read a text as words whose meaning can be compared: numbers by value, names, denials, units."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from scorers.rules.stems import EMPTY_WORDS, stem, stems_of

_TOKEN = re.compile(
    r"\d[\d,]*(?:\.\d+)?(?:(?:k|m|bn|b|mln)\b|\s(?:hundred|thousand|million|mln|billion|bn|trillion)\b|(?:st|nd|rd|th)\b)?"
    r"|[$€£%]|[^\W\d_]+(?:['\u2019][^\W\d_]+)*",
    re.IGNORECASE,
)
_FACTORS = {
    "hundred": 1e2,
    "k": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mln": 1e6,
    "million": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "trillion": 1e12,
}
_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    *("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth"),
)
_SPELT = {
    **{word: float(n) for n, word in enumerate(_UNITS)},
    **{word: 10.0 * n for n, word in enumerate(_TENS, 2)},
    **{word: float(n) for n, word in enumerate(_ORDINALS) if n},
    "once": 1.0,
    "twice": 2.0,
}
del _SPELT["one"]  # "one of them" counts nothing
_MAY = "May"
"""The month, if written so; ``may`` says nothing by itself."""
_MONTHS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTHS.title().split()
_SHORT = {
    **{name[:3].lower(): name.lower() for name in _MONTH_NAMES if name != _MAY},
    "sept": "september",
    "percent": "%",
    "dollar": "$",
    "dollars": "$",
    "usd": "$",
    "euro": "€",
    "euros": "€",
    "eur": "€",
    "pounds": "£",
    "km": "kilometre",
    "kilometer": "kilometre",
    "kilometers": "kilometre",
    "meter": "metre",
    "meters": "metre",
    "kg": "kilogram",
    "hr": "hour",
    "hrs": "hour",
    "mins": "minute",
}
"""Words that are written shorter or otherwise, and how they are compared."""
_MEASURE_WORDS = """hour minute day week month year decade century kilometre metre mile foot feet inch kilogram gram
pound ounce ton tonne litre gallon degree cent point people person men women children house room"""
_MEASURES = stems_of(_MEASURE_WORDS) | {"%", "$", "€", "£"}
_DENIAL_WORDS = "not no never none nobody nothing neither nor without cannot hardly"
_DENIALS = frozenset(_DENIAL_WORDS.split())
_PREFIX_WORDS = (
    "non off on pre post sub super anti un over under up down out in self semi multi mono"
)
_PREFIXES = frozenset(_PREFIX_WORDS.split())
"""Written with a hyphen, they are part of what the word says."""

_SPACED_APOSTROPHE = re.compile(r"(?<=\w) ?(['\u2019]) (?=(?:s|t|re|ve|ll|d|m)\b)", re.IGNORECASE)
_LOST_APOSTROPHE = re.compile(
    r"\b(do|does|did|is|are|was|were|has|have|had|wo|ca|would|could|should) ?nt\b", re.IGNORECASE
)
_SPACED_NUMBER = re.compile(r"(?<=\d) ?[,.] ?(?=\d{3}\b)")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?=\b|T)")
_HALF_DAY = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_FULL_HOUR = re.compile(r"\b(\d{1,2}):00(?::00)?\b")
_INITIALS = re.compile(r"\b(?:u ?\. ?s ?\.(?: ?a ?\.)?|USA\b)(?=\W|\Z)", re.IGNORECASE)


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """A word or a number, wherever it stands."""

    text: str
    lower: str
    stem: str
    """What its forms share; a number's value after ``#``, an ordinal's after ``o``."""
    content: bool
    """It says something by itself."""
    denies: bool = False
    number: float | None = None
    """Its value; ``None`` for a word, and for an ordinal."""
    ordinal: bool = False
    spelt: bool = False
    """A number in letters."""
    capital: bool = False
    """It begins with a capital letter."""
    measure: bool = False
    """A unit that may follow or precede a number."""

    @property
    def counts(self) -> bool:
        """Say whether it is a number or an ordinal."""
        return self.number is not None or self.ordinal


def cleaned(text: str) -> str:
    """Write dates, hours, long numbers, contractions and spaces in one way."""
    text = " ".join(text.split())
    if "'" in text or "\u2019" in text or "nt" in text:
        text = _LOST_APOSTROPHE.sub(r"\1n't", _SPACED_APOSTROPHE.sub(r"\1", text))
    text = _SPACED_NUMBER.sub(",", text)
    if ":" in text or "m" in text:
        text = _FULL_HOUR.sub(r"\1", _HALF_DAY.sub(_full_day, text))
    text = _ISO_DATE.sub(_named_month, text)
    return _INITIALS.sub("US", text)


def read(text: str) -> list[Word]:
    """Return the words of a cleaned text in order."""
    words = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        end = match.end()
        if text[end : end + 1] == "-" and token.lower() in _PREFIXES:
            token += "-"
        words.append(_word(token))
    return words


@lru_cache(maxsize=32_768)
def _word(token: str) -> Word:
    lower = token.lower().replace("\u2019", "'")
    if lower[0].isdecimal():
        return _digits(token, lower)
    if lower in _SPELT:
        ordinal = lower in _ORDINALS
        value = _SPELT[lower]
        return Word(
            text=token,
            lower=lower,
            stem=f"{'o' if ordinal else '#'}{value:g}",
            content=True,
            number=None if ordinal else value,
            ordinal=ordinal,
            spelt=True,
        )
    lower = _SHORT.get(lower, lower)
    denies = lower in _DENIALS or lower.endswith("n't")
    prefix = lower.endswith("-")
    known = lower if prefix or not lower[0].isalpha() else stem(lower)
    return Word(
        text=token,
        lower=lower,
        stem=known,
        content=prefix or token == _MAY or _says(lower, denies=denies),
        denies=denies and not prefix,
        capital=token[0].isupper(),
        measure=known in _MEASURES,
    )


def _says(lower: str, *, denies: bool) -> bool:
    return lower not in EMPTY_WORDS and not denies and lower[0].isalpha()


def _digits(token: str, lower: str) -> Word:
    digits = lower.rstrip("abcdefghijklmnopqrstuvwxyz \t\r\n")
    tail = lower[len(digits) :].strip()
    ordinal = tail in ("st", "nd", "rd", "th")
    value = float(digits.replace(",", "")[:300]) * _FACTORS.get(tail, 1.0)
    name = f"{value:.0f}" if value == value // 1 and value < 1e15 else repr(value)
    return Word(
        text=token.strip(),
        lower=lower,
        stem=("o" if ordinal else "#") + name,
        content=True,
        number=None if ordinal else value,
        ordinal=ordinal,
    )


def _full_day(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] in "pP" else 0)
    return f"{hour}:{match[2]}" if match[2] else f"{hour}:00"


def _named_month(match: re.Match[str]) -> str:
    year, month, day = match[1], int(match[2]), int(match[3])
    if not 1 <= month <= len(_MONTH_NAMES):
        return match[0]
    return f"{_MONTH_NAMES[month - 1]} {day}, {year} "
