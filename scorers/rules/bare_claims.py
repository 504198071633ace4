"""Hear "Done!" as the claim of what the user has just asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.model import Message
from scorers.rules.acts import BASES
from scorers.rules.claims import Claim, speaks_of_text, states_in

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
_STATE = re.compile(
    r"(?:\b(?:is|are)|['\u2019]s)\s+(?:\w+\s+){0,2}\w+(?:ed|id|nt|en|de)\b", re.IGNORECASE
)
_MAX_CHARS = 4_000


def bare_claim(messages: Sequence[Message], index: int) -> Claim | None:
    """Return what a reply claims of what was just asked for; ``None`` when it claims nothing.

    "Done!" claims the deed that the user's last message asked for, and so does "it is
    cancelled" where that was the wish; a text that was wanted is no deed.
    """
    text = messages[index].text
    found = _DONE.match(text)
    if found is None and not _STATE.search(text):
        return None
    asked = _asked_for(messages, index)
    if not asked:
        return None
    if found is None:
        return next(iter(states_in(text, asked, message=index)), None)
    return Claim(
        message=index,
        act=BASES[asked],
        verb=found[0].strip(" \n!.,-*").rpartition(" ")[2].lower(),
        own=True,
        sure=False,
        quote=found[0].strip(),
    )


def _asked_for(messages: Sequence[Message], before: int) -> str:
    """Return the verb of the deed that the user asked for last; empty when there is none."""
    for index in range(before - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and message.text.strip():
            text = message.text[:_MAX_CHARS].lower()
            for asked in _ASKED.finditer(text):
                act = BASES.get(asked[1])
                if act and act != "any" and not speaks_of_text(text, asked.end()):
                    return asked[1]
            return ""
    return ""
