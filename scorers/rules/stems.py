"""Reduce a text to words that can be compared across inflections."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_MAX_CHARS = 40
_SUFFIXES = (
    "ations",
    "ation",
    "ingly",
    "edly",
    "ings",
    "ness",
    "ment",
    "ing",
    "ied",
    "ies",
    "ed",
    "es",
    "ly",
    "s",
)
_HISSING = ("ses", "xes", "zes", "ches", "shes", "oes")
_NUMERAL_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_SMALL_WORDS = """a an the and or but if then so of to in on at by for with from as is are was were be been being am
do does did done has have had having it its this that these those there here he she they we you i me him her them us
    my your his their our who whom whose which what when where why how can could may might must shall should will
    would not no nor also than too very just about into over after before during while between both each all any
    some such own same other more most only up down out off again further once because until against through
    under above s t don didn doesn isn aren wasn weren won wouldn couldn shouldn yes yeah well like know think
    really im ve ll re"""

NUMERALS = {word: str(value) for value, word in enumerate(_NUMERAL_WORDS.split())}
EMPTY_WORDS = frozenset(_SMALL_WORDS.split())
"""Words that say nothing by themselves."""


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text in order."""
    return _WORD.findall(text)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of all words of a text."""
    return frozenset(map(stem, words_of(text)))


def stem(word: str) -> str:
    """Cut a word to what its forms share; a number to its plain digits."""
    return _stem(word if len(word) < _MAX_CHARS else word[:_MAX_CHARS])


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    lower = word.lower()
    if lower[0].isdigit():
        return lower.replace(",", "")
    lower = lower.replace("\u2019", "'").removesuffix("'s")
    for suffix in _SUFFIXES:
        if lower.endswith(suffix) and len(lower) - len(suffix) >= 3:
            if suffix == "es" and not lower.endswith(_HISSING):
                suffix = "s"  # noqa: PLW2901 - "miles" are "mile" and "s"
            lower = lower[: -len(suffix)]
            break
    return lower[:7].rstrip("e") if len(lower) > 4 else lower
