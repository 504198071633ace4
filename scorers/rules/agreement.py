"""Hear whether a user agreed to what the agent was about to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.model import Message

_YES = re.compile(
    r"""\b(?:yes|yeah|yep|yup|sure|okay|ok|absolutely|definitely|certainly|agreed?|agree\s+to|confirm(?:ed)?|correct|proceed|
    go\s+(?:ahead|for\s+it|on)|do\s+(?:it|that|so)|please\s+do|that(?:'s|\u2019s|\s+is)\s+(?:right|correct|fine|ok|okay|good|perfect)|
    sounds\s+(?:good|great|right|fine)|looks\s+(?:good|right|correct)|works\s+for\s+me|(?:i(?:'d|\u2019d|\s+would)\s+like\s+(?:to|you\s+to))\s+(?:proceed|go\s+ahead|do)|
    ja|jawohl|gerne|genau|einverstanden|richtig|oui|d'accord|bien\s+s[uû]r|s[ií]|claro|vale|de\s+acuerdo|certo|va\s+bene|d'accordo|sim|pode|klopt|akkoord|graag)(?![\w'])""",
    re.VERBOSE | re.IGNORECASE,
)
_SHORT_YES = re.compile(r"\b(?:fine|perfect|great|good|please)\b", re.IGNORECASE)
_FEW_CHARS = 30
"""Up to this length such a word is an answer; in a longer message it may be part of a new wish."""
_NO = re.compile(
    r"""\A\W*(?:no|nope|nah|stop|wait|hold\s+on|nein|non)\b(?!\s+(?:problem|worries|issue|objection|thanks?,?\s+(?:go|proceed)))|
    \b(?:do\s+not|don['\u2019]t)\s+(?:do|proceed|go\s+ahead|cancel|book|change|want)\b|\bchanged\s+my\s+mind\b|\bnot\s+(?:yet|now|correct|right|ok|okay)\b|\bactually,?\s+(?:no|wait)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def agreed(messages: Sequence[Message], before: int) -> bool:
    """Say whether the last thing the user said before a message is a yes to something the agent said."""
    for index in range(min(before, len(messages)) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text.strip():
            asked = any(m.role == "assistant" and m.text.strip() for m in messages[:index])
            return asked and _is_yes(message.text) and not _NO.search(message.text)
    return False


def _is_yes(text: str) -> bool:
    return bool(_YES.search(text)) or (
        len(text.strip()) <= _FEW_CHARS and _SHORT_YES.search(text) is not None
    )
