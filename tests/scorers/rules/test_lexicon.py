"""Hold what the lexicon knows and that its file is what the script makes."""

from __future__ import annotations

from scorers.rules.lexicon import entry_of
from scorers.rules.stems import stem


def test_relations_of_words() -> None:
    """Synonyms, relatives, kinds and opposites are found by stem."""
    assert stem("large") in entry_of(stem("big")).synonyms
    assert stem("warm") in entry_of(stem("heat")).kin | entry_of(stem("heat")).synonyms
    assert stem("dog") in entry_of(stem("canine")).narrower | entry_of(stem("canine")).synonyms
    assert stem("cool") in entry_of(stem("heat")).opposites


def test_own_opposites_are_added() -> None:
    """What WordNet does not call opposites, like after and before, is in our own list."""
    assert stem("after") in entry_of(stem("before")).opposites


def test_an_unknown_word_has_no_relations() -> None:
    """A made-up word is an entry of nothing."""
    entry = entry_of("zyxwv")
    assert not entry.noun
    assert not entry.synonyms | entry.kin | entry.narrower | entry.opposites


def test_nouns_are_known() -> None:
    """The most frequent use decides."""
    assert entry_of(stem("bridge")).noun
    assert not entry_of(stem("discuss")).noun
