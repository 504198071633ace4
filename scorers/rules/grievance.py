"""Hear that a user is at the end of patience, or gets nowhere."""

from __future__ import annotations

import re

_STRONG = re.compile(
    r"""\b(?:ridiculous|unacceptable|outrageous|useless|worthless|pathetic|disgust(?:ing|ed)|disgrace\w*|furious|livid|pissed|appall\w+|incompeten\w+|
    bullshit|bs|crap|wtf|damn(?:\s+it|ed)?|goddamn|fuck\w*|shit\w*|screw\s+you|fed\s+up|sick\s+(?:and\s+tired\s+)?of|had\s+enough|lost?\s+(?:my|all)\s+patience|losing\s+(?:my\s+)?patience|
    (?:worst|terrible|horrible|awful|lousy)\s+(?:\w+\s+){0,2}?(?:service|support|experience|company|help|bot|airline|bank|shop|store)|waste\s+of\s+(?:my\s+)?time|wasting\s+my\s+time|
    (?:so|very|really|extremely|beyond)\s+(?:angry|frustrat\w+|upset|annoyed|mad)|are\s+you\s+(?:even\s+)?(?:kidding|serious|listening|stupid)|what\s+is\s+wrong\s+with\s+you|
    i\s+(?:already|just)\s+told\s+you|how\s+many\s+times\s+(?:do|must|have)\s+i)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_STRONG_HINTS = (
    *(
        "ridicul",
        "unaccept",
        "outrag",
        "useless",
        "worthless",
        "pathetic",
        "disg",
        "furious",
        "livid",
        "piss",
        "appall",
    ),
    *(
        "incompet",
        "bullshit",
        "bs",
        "crap",
        "wtf",
        "damn",
        "fuck",
        "shit",
        "screw you",
        "fed up",
        "sick",
        "had enough",
    ),
    *(
        "patience",
        "worst",
        "terrible",
        "horrible",
        "awful",
        "lousy",
        "waste",
        "wasting",
        "angry",
        "frustrat",
        "upset",
    ),
    *(
        "annoyed",
        " mad",
        "kidding",
        "serious",
        "listening",
        "stupid",
        "wrong with you",
        "told you",
        "how many times",
    ),
)
_CAPITALS = re.compile(r"[A-Z]{3,}[^a-z]{6,}")
_FEW_LETTERS = 15
_SHOUTED = 0.7
_UNSOLVED_HINTS = (
    "not",
    "n't",
    "n\u2019t",
    "same",
    "still",
    "again",
    "keep",
    "nothing",
    " time",
    " luck",
    "no ",
)
_UNSOLVED = re.compile(
    r"""\b(?:(?:still|again|keeps?|nothing)\s+(?:\w+\s+){0,3}?(?:not|n't|no|fail\w*|wrong|broken|same|happen\w*|the\s+same|works?)|
    (?:does|do|did|is|has|can|wo|would|could)(?:n['\u2019]t|\s+not|not)\s+(?:\w+\s+){0,2}?(?:work\w*|help\w*|fix\w*|solv\w*|answer\w*|chang\w*)|
    same\s+(?:error|problem|issue|thing|message|result)|not\s+working|(?:second|third|fourth|fifth|tenth)\s+time|no\s+(?:change|luck|difference)|
    that['\u2019]?s\s+not\s+(?:what|my|the)|you\s+(?:did\s*n['\u2019]t|did\s+not|are\s*n['\u2019]t|are\s+not|keep|don['\u2019]t|do\s+not)\s+(?:\w+\s+){0,2}?(?:answer\w*|listen\w*|understand\w*|help\w*|repeat\w*|ask\w*|say\w*|giv\w*|read\w*))\b""",
    re.VERBOSE | re.IGNORECASE,
)


def is_furious(text: str) -> str:
    """Return the words of a user at the end of patience, or what is shouted; empty when there are none."""
    lowered = text.lower()
    if any(map(lowered.__contains__, _STRONG_HINTS)) and (found := _STRONG.search(text)):
        return found[0]
    if _CAPITALS.search(text) is None:
        return ""
    letters = [one for one in text if one.isalpha()]
    capitals = sum(map(str.isupper, letters))
    if len(letters) >= _FEW_LETTERS and capitals > _SHOUTED * len(letters):
        return text.strip()[:200]
    return ""


def is_unsolved(text: str) -> str:
    """Return the words with which a user says that it still does not work; empty when there are none."""
    lowered = text.lower()
    if not any(map(lowered.__contains__, _UNSOLVED_HINTS)):
        return ""
    found = _UNSOLVED.search(text)
    return found[0] if found else ""


_HELPLESS = re.compile(
    r"""\b(?:i(?:'m|\u2019m|\s+am)\s+(?:\w+\s+)?(?:unable|not\s+able)\s+to|i\s+(?:\w+\s+)?can(?:\s*not|['\u2019]t))\s+(?:\w+\s+){0,2}?
    (?:help|assist|resolve|fix|solve|do\s+(?:that|this|anything)|process\s+(?:that|this))\b|
    \b(?:there(?:['\u2019]s|\s+is)\s+nothing\s+(?:more\s+|else\s+)?(?:i|we)\s+can\s+do|(?:i|we)\s+don['\u2019]t\s+know\s+(?:how|what\s+else))\b""",
    re.VERBOSE | re.IGNORECASE,
)
_HELPLESS_HINTS = (
    "unable",
    "not able",
    "can't",
    "can\u2019t",
    "cannot",
    "can not",
    "nothing",
    "know",
)
_SETTLED = re.compile(
    r"\b(?:thank(?:s|\s+you)|that\s+(?:works|worked|helps|did\s+it)|works\s+now|it(?:'s|\u2019s|\s+is)\s+working|solved|fixed\s+now|perfect|great|never\s*mind)\b",
    re.IGNORECASE,
)


def is_helpless(text: str) -> str:
    """Return the words with which an agent says that it cannot help; empty when there are none."""
    lowered = text.lower()
    if not any(map(lowered.__contains__, _HELPLESS_HINTS)):
        return ""
    found = _HELPLESS.search(text)
    return found[0] if found else ""


def is_content(text: str) -> bool:
    """Say whether a user is satisfied, or at least polite enough to be taken for it."""
    return _SETTLED.search(text) is not None and not is_unsolved(text) and not is_furious(text)
