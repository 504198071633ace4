"""Mend the misspelt words of a short message, as far as a few words matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from types import MappingProxyType

from scorers.rules.stems import EMPTY_WORDS

_WORD = re.compile(r"[A-Za-z]{3,16}")
_MAX_CHARS = 240
"""Longer messages repeat themselves, and are left as they are."""

_VOCABULARY = """talk talking speak speaking chat chatting contact contacting connect transfer someone somebody anyone
    person human agent assistant operator representative supervisor manager customer service with want need get"""
_KNOWN = frozenset(_VOCABULARY.split())
_REAL = EMPTY_WORDS | frozenset(
    """talks talked take tale tall task speaks spoke speech sneak chats chart cat cats hat what char coat contacts contract contracts content
    connects connected connection correct transfers transferred customers services device persons personal parson
    humans humane agents agenda urgent assistants assistance assist operators operate operation operating managers manage
    managed management somewhere sometime wants went wanted wait wand needs needed knee seed feed weed gets got set let
    net met bet pet wet yet get ten with wish width anyhow anytime""".split()  # noqa: SIM905 - a word list is read as prose
)
"""Words that are right as they stand."""


def _shorter(word: str) -> Iterator[str]:
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for word in sorted(_KNOWN, key=len):
        for form in (word, *_shorter(word)):
            table.setdefault(form, word)
    return table


_FORMS = MappingProxyType(_table())


def mended(text: str) -> str:
    """Return a short text with the words around asking for a person spelt right; a long one as it is.

    A word is taken for a known one that is one letter longer, shorter, or other, or has two
    letters the other way round (Damerau 1964; found by deletions, as SymSpell does), and
    begins alike. Words that mean something else by themselves stay.
    """
    return text if len(text) > _MAX_CHARS else _WORD.sub(_mend, text)


def _mend(found: re.Match[str]) -> str:
    return _known(found[0].lower()) or found[0]


@lru_cache(maxsize=8_192)
def _known(word: str) -> str:
    """Return the known word that a word was meant to be; empty when there is none."""
    if word in _KNOWN or word in _REAL:
        return ""
    for form in (word, *_shorter(word)):
        known = _FORMS.get(form)
        if known is not None and _begin_alike(word, known) and abs(len(word) - len(known)) < 2:
            return known
    return ""


def _begin_alike(word: str, known: str) -> bool:
    return word[0] == known[0] or (word[1] == known[0] and word[0] == known[1])
