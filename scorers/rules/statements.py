"""Cut a reply into statements and leave out those that claim nothing."""

from __future__ import annotations

import re

_BREAK = re.compile(
    r"(?<=[.!?])\s+(?=[\"“'(]?[A-Z0-9])|\s*\n\s*(?![a-z\s])|(?<=\s[.!?])\s+|(?<=\w[!?])\s+"
)
"""Where a sentence ends. A line that goes on in a small letter was only wrapped, and words may stand apart from their full stops, as some corpora write."""
_MAX_STATEMENTS = 100
_MAX_CHARS = 20_000

_NO_CLAIM = re.compile(
    r"""\W*(?:(?:hi|hello|hey|dear|thanks?)\b|thank\ you|you(?:'re|\u2019re|\ are)\ (?:very\ |most\ )?welcome|sorry|apologi|
    please|feel\ free|let\ me|let\ us|sure\b|of\ course|certainly|great[,.!]|goodbye|bye|have\ a\ (?:great|nice|good|wonderful)|
    is\ there\ anything|if\ you\ (?:have|need|want|would|'d|wish|prefer)|how\ (?:can|may)\ i|would\ you|do\ you|could\ you|can\ you|
    i(?:'d|\u2019d|\ would)?\ (?:am\ |be\ )?(?:happy|glad|sorry|can\ help|apologi)|i'm\ (?:happy|glad|sorry)|
    i\ (?:don['\u2019]?t|do\ not|can(?:not|['\u2019]?t))\ (?:know|have|find|see|say|tell|answer|access)|
    (?:here|below)\ (?:is|are|'s)\b[^.]*:\s*\Z|
    (?:the|this)\ (?:context|document|passage|text|information|article)s?\ (?:provided\ |given\ )?(?:does|do|did)(?:\ not|n['\u2019]t)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Greetings, offers, questions back and "I do not know": nothing that can be checked."""


_ASIDE = re.compile(
    r"""\W*(?:(?:yes|no|well|oh|sorry|hmm|yeah|wow|nope)\b\W*)*
    (?:i|i\ ?['\u2019]?\ ?m|i\ ?['\u2019]\ ?(?:ve|d)|im|ive)\b[^.!?]{0,120}?\bbut\b\s*
    (?:(?:i\s+(?:do\s+)?(?:know|think|believe|heard|can\s+tell\s+you)|i\ ?['\u2019]?\ ?m\s+sure)\s*(?:that\b|for\s+sure\b)?)?\W*""",
    re.VERBOSE | re.IGNORECASE,
)
"""What a speaker says of themselves before the claim: "I am not sure, but I do know that"."""
_TOLD = re.compile(
    r"""(?:\W*(?:yes|no|oh|wow|well|and|but|so|also)\b)?\W*(?:did|do)\ you\ (?:also\ )?know\ (?:that\ |the\ |there\ |
    [a-z]+s?\ (?:is|are|was|has|have|make)|it\ |he\ |she\ |they\ )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A question that tells something: "Did you know that it has ..."."""
_LEFT_CHARS = 12


def sentences_of(text: str) -> list[str]:
    """Return the sentences and lines of a text, each exactly as it stands there."""
    pieces = (piece.strip() for piece in _BREAK.split(text))
    return [piece for piece in pieces if piece]


def statements_of(reply: str) -> list[str]:
    """Return the sentences of a reply; of a very long one, those it begins with."""
    return sentences_of(reply[:_MAX_CHARS])[:_MAX_STATEMENTS]


def claims_of(reply: str) -> list[str]:
    """Return the statements that say something which can be true or false."""
    found = map(_without_aside, statements_of(reply))
    return [one for one in found if _claims(one)]


def _claims(statement: str) -> bool:
    asks = statement.endswith("?") and not _TOLD.match(statement)
    return not asks and not _NO_CLAIM.match(statement)


def _without_aside(statement: str) -> str:
    aside = _ASIDE.match(statement)
    if aside is None or len(statement) - aside.end() < _LEFT_CHARS:
        return statement
    return statement[aside.end() :]
