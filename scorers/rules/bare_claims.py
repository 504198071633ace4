"""Hear "Done!" as the claim of what the user has just asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.model import Message
from scorers.rules.acts import BASES, Act
from scorers.rules.claims import Claim, speaks_of_text

_DONE = re.compile(
    r"""\W*(?:(?:great|ok(?:ay)?|perfect|alright|sure|good\s+news|yes)\W+)?
    (?:(?:it|that|this|everything|you|all\s+of\s+it)(?:'s|\u2019s|'re|\u2019re|\s+is|\s+are|\s+has\s+been)\s+)?(?:all\s+|now\s+|been\s+)*
    (?:done|set|taken\s+care\s+of|sorted(?:\s+out)?)\b(?!\s*(?:\?|by\b|with\b|if\b|once\b|when\b|as\b|up\b|of\b|in\b|at\b|to\b))|
    \W*consider\s+it\s+done\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKED = re.compile(
    r"""(?:\A\W*(?:(?:hi|hello|hey|yes|ok(?:ay)?)\W+)?|\b(?:can\s+you|could\s+you|would\s+you|will\s+you|want(?:\s+you)?\s+to|like(?:\s+you)?\s+to|
    need(?:\s+you)?\s+to|then|and|please|[.!?\n])\s+)(?:please\s+|also\s+|just\s+)*(?!please\b)([a-z]+)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_MAX_CHARS = 4_000


def bare_claim(messages: Sequence[Message], index: int) -> Claim | None:
    """Return what a reply that begins with "Done" claims; ``None`` when it claims nothing.

    It claims the deed that the user's last message asked for; a text that was wanted is none.
    """
    found = _DONE.match(messages[index].text)
    if found is None:
        return None
    act = _act_asked(messages, index)
    if act is None:
        return None
    end = found.end()
    return Claim(
        message=index,
        act=act,
        verb=messages[index].text[:end].strip(" \n!.,-*").rpartition(" ")[2].lower(),
        own=True,
        sure=False,
        quote=messages[index].text[:end].strip(),
    )


def _act_asked(messages: Sequence[Message], before: int) -> Act | None:
    for index in range(before - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text.strip():
            text = message.text[:_MAX_CHARS].lower()
            for asked in _ASKED.finditer(text):
                act = BASES.get(asked[1])
                if act and act != "any" and not speaks_of_text(text, asked.end()):
                    return act
            return None
    return None
