"""Hear whether a user agreed to what the agent was about to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.model import Message

_YES = re.compile(
    r"""\b(?:yes|yeah|yep|yup|sure|okay|ok|absolutely|definitely|certainly|agreed?|agree\ to|confirm(?:ed)?|correct|proceed|
    go\ (?:ahead|for\ it|on)|do\ (?:it|that|so)|please\ do|that(?:'s|\u2019s|\ is)\ (?:right|correct|fine|ok|okay|good|perfect)|
    sounds\ (?:good|great|right|fine)|looks\ (?:good|right|correct)|works\ for\ me|(?:i(?:'d|\u2019d|\ would)\ like\ (?:to|you\ to))\ (?:proceed|go\ ahead|do)|
    fine|perfect|great|good|please|
    ja|jawohl|gerne|genau|einverstanden|richtig|oui|d'accord|bien\ s[uû]r|s[ií]|claro|vale|de\ acuerdo|certo|va\ bene|d'accordo|sim|pode|klopt|akkoord|graag)(?![\w'])""",
    re.VERBOSE | re.IGNORECASE,
)
_NO = re.compile(
    r"""\A\W*(?:no|nope|nah|stop|wait|hold\ on|nein|non)\b(?!\s+(?:problem|worries|issue|objection|thanks?,?\ (?:go|proceed)))|
    \b(?:do\ not|don['\u2019]t)\ (?:do|proceed|go\ ahead|cancel|book|change|want)\b|\bchanged\ my\ mind\b|\bnot\ (?:yet|now|correct|right|ok|okay)\b|\bactually,?\ (?:no|wait)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def agreed(messages: Sequence[Message], before: int) -> bool:
    """Say whether the last thing the user said before a message is a yes to something the agent said."""
    for index in range(min(before, len(messages)) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text.strip():
            asked = any(m.role == "assistant" and m.text.strip() for m in messages[:index])
            return asked and bool(_YES.search(message.text)) and not _NO.search(message.text)
    return False
