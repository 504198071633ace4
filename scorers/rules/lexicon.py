"""Know which words mean the same, are related, or mean the opposite, after WordNet 3.0.

The file beside is made by bench/make_lexicon.py from Princeton's WordNet; its licence, which
asks to be kept with it, is in WORDNET-LICENSE.
"""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import msgspec

from scorers.rules.opposites import OPPOSITES

FILE = Path(__file__).with_name("wordnet.txt.gz")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one stem; all words are stems."""

    noun: bool = False
    """It is a noun first of all."""
    synonyms: frozenset[str] = frozenset()
    kin: frozenset[str] = frozenset()
    """Derived from it, or similar."""
    narrower: frozenset[str] = frozenset()
    """Kinds of it: ``dog`` for ``animal``."""
    opposites: frozenset[str] = frozenset()


@lru_cache(maxsize=8_192)
def entry_of(word: str) -> Entry:
    """Return what is known of a stem; nothing, when it is not known."""
    own = OPPOSITES.get(word, frozenset())
    line = _lines().get(word)
    if line is None:
        return Entry(opposites=own)
    noun, synonyms, kin, narrower, opposites = line.split("\t")
    return Entry(
        noun=bool(noun),
        synonyms=frozenset(synonyms.split()),
        kin=frozenset(kin.split()),
        narrower=frozenset(narrower.split()),
        opposites=frozenset(opposites.split()) | own,
    )


def is_known(word: str) -> bool:
    """Say whether the lexicon holds a stem."""
    return word in _lines()


@lru_cache(maxsize=1)
def _lines() -> MappingProxyType[str, str]:
    """Read the file once: a stem, and the rest of its line, which is taken apart when asked for."""
    text = gzip.decompress(FILE.read_bytes()).decode()
    pairs = (line.partition("\t") for line in text.splitlines())
    return MappingProxyType({word: rest for word, _, rest in pairs})
