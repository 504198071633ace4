"""Tell tools that change the world from tools that only look at it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from collector.model import ToolDefinition

Effect: TypeAlias = Literal["read", "write", "unknown"]
"""What a tool does: ``read`` looks something up or computes, ``write`` changes something."""

READ_VERBS = frozenset(
    """analyse analyze browse calc calculate can check classify compare compute convert count describe
    detect diff download estimate evaluate examine explain explore extract fetch filter find geocode
    get grep has identify inspect is list load locate look lookup measure monitor peek ping plan
    predict preview query read recommend resolve retrieve scan scrape search see select show
    summarise summarize suggest tail test think track transcribe translate validate verify view
    watch""".split()  # noqa: SIM905 - a word list is read as prose
)
"""First words of tools that leave the world as it was."""

WRITE_VERBS = frozenset(
    """accept activate add adjust append apply approve archive assign authorise authorize ban block
    buy cancel change charge checkout clear close commit complete confirm connect copy create
    deactivate debit decline delete deploy deposit disable disconnect discard dismiss dispatch
    drop edit email enable enroll erase escalate exchange execute expire file flag forward freeze
    generate give grant hang increase insert install invite invoice issue join kick kill launch leave
    link lock mark merge message modify move mute notify order overwrite patch pause pay place post
    provision publish purchase push put reactivate reassign reboot rebook record redeem refill
    refuel refund register reject release remove rename renew reopen reorder replace reply report
    reschedule reseat reserve reset resolve restart restore resume return reverse revoke rollback
    save schedule send set share ship sign start stop store submit subscribe suspend swap switch
    sync terminate toggle transfer trigger turn unblock uninstall unlock unsubscribe update
    upgrade upload upsert void withdraw write book hand deliver donate downgrade extend initiate
    log make merge open page request""".split()  # noqa: SIM905 - a word list is read as prose
)
"""First words of tools that change something."""

_AMBIGUOUS = frozenset(
    """address book booking call check contact email file flag link list log message note order page
    payment plan post rate record report request resolve review schedule test transfer""".split()  # noqa: SIM905 - a word list is read as prose
)
"""Verbs that are as often nouns: ``order_status`` looks, ``order_pizza`` acts."""

_READ_NOUNS = frozenset(
    """availability balance count detail details history id ids info information list lookup overview
    price prices rate rates result results schema search stats status summary weather""".split()  # noqa: SIM905 - a word list is read as prose
)
"""Last words of tools that answer a question."""

_MAX_NAME = 200
"""Characters of a name that are read and remembered; providers allow 64 or 128."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_FIRST_WORDS = re.compile(
    r"\W*(?:this (?:tool|function) (?:can |will )?|used to |use (?:this|it) to |allows? .{0,20}?to )?(\w+)",
    re.IGNORECASE,
)


def words_of(name: str) -> list[str]:
    """Split a tool's name, in whatever case it is written, into lowercase words."""
    return list(_words(name[:_MAX_NAME]))


@lru_cache(maxsize=4_096)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def effect_of(name: str, definition: ToolDefinition | None = None) -> Effect:
    """Say whether a tool reads or writes: by its declared hints, its name, then its description.

    ``unknown`` when none of them says; such a call may have done anything.
    """
    if definition is not None:
        if definition.read_only:
            return "read"
        if definition.destructive:
            return "write"
    by_name = _by_name(name[:_MAX_NAME])
    if by_name != "unknown" or definition is None:
        return by_name
    if definition.read_only is False:
        return "write"
    first = _FIRST_WORDS.match(definition.description)
    return _by_verb(_stem(first[1].lower())) if first else "unknown"


@lru_cache(maxsize=4_096)
def _by_name(name: str) -> Effect:
    words = _words(name)
    for position, word in enumerate(words):
        if word in _AMBIGUOUS:
            last = words[-1]
            if position < len(words) - 1 and last in _READ_NOUNS:
                return "read"
        effect = _by_verb(word)
        if effect != "unknown":
            return effect
    return "read" if words and words[-1] in _READ_NOUNS else "unknown"


def _by_verb(word: str) -> Effect:
    if word in READ_VERBS:
        return "read"
    return "write" if word in WRITE_VERBS else "unknown"


def _stem(word: str) -> str:
    """Take the third person off a verb: ``sends`` -> ``send``, ``modifies`` -> ``modify``."""
    if word in READ_VERBS or word in WRITE_VERBS:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("s", "es"):
        stem = word.removesuffix(ending)
        if stem in READ_VERBS or stem in WRITE_VERBS:
            return stem
    return word
