"""Hear when a user asks for a person, gives cause to fetch one, or takes the wish back."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from scorers.rules.misspelling import mended
from scorers.rules.person_request_abroad import person_asked_abroad

TriggerKind: TypeAlias = Literal[
    "legal threat", "self-harm", "fraud accusation", "threat of violence", "emergency"
]
"""What calls for a person though nobody asked for one."""

PERSON = (
    r"(?:(?:real|live|actual|human|another|different|senior|customer|service|support|care|sales|duty|floor|store|shift)[\s-]+){0,3}"
    r"(?:humans?(?:\s+being)?|persons?|agents?|representatives?|reps?|operators?|managers?|supervisors?|specialists?|advis[eo]rs?|"
    r"whoever(?:'s|\s+is)\s+in\s+charge|someone(?:\s+else|\s+real)?|somebody(?:\s+else)?|anyone|anybody|employees?|colleagues?|higher-up|boss|assistant|"
    r"(?:staff|team)\s+member)\b"
)
"""A word for somebody of the agent's side, made to stand inside other patterns."""

_A = r"(?:(?:an?|the|your|some|any|one\s+of\s+your|one\s+of\s+the)\s+)?(?:damn\s+|goddamn\s+|fucking\s+)?"
_TO = r"(?:\s+(?:directly|through|over|on|up|straight|right\s+now|now|please|immediately)){0,2}\s+(?:to|with|through\s+to)\s+"
_ENDS = r"(?=\s*(?:[.,;!?)]|\Z|\n)|\s+(?:to|who|please|pls|plz|now|here|on|instead|right|immediately|and|or|because|today|asap|for\s+this|with|handle|look|review|take|help|call|check|deal|answer|sort)\b)"
"""What may follow a person asked for; "an agent that writes" and "human anatomy" are other things."""

_REQUEST = re.compile(
    rf"""
      \b(?:talk|talking|speak|speaking|chat|chatting|get\s+in\s+touch){_TO}{_A}{PERSON}
    | \bdeal(?:ing)?\s+with\s+{_A}(?:real\s+|live\s+|actual\s+)*(?:human|person)\b
    | \b(?:connect|transfer|put|pass|hand|switch|forward|refer|redirect|route)(?:ing)?\s+(?:me|us|this|it|my\s+\w+){_TO}{_A}
        (?:{PERSON}|customer\s+(?:service|support|care)|(?:\w+\s+)?(?:staff|team|department)\b)
    | \A\W*(?:please\s+)?(?:connect|transfer|escalate)\s+(?:to|with)\s+{_A}{PERSON}
    | \b(?:transfer|connect)\s+me\b(?=\s*(?:[.!?,]|please|now|over|right|\Z))
    | \bescalat(?:e|ing|ion)\b(?=\s+(?:this|it|my|the|please|now|process|to\b)|\s*[.!?,]|\s*\Z)
    | \b(?:my|this|the)\s+(?:\w+\s+)?(?:be\s+)?escalated\b
    | \b(?:get|give|find|send|bring|fetch)\s+(?:me|us)\s+{_A}{PERSON}{_ENDS}
    | \bget\s+{_A}{PERSON}\s+on\s+(?:the|this)\s+(?:line|phone|chat)\b
    | \b(?:want|need|prefer|demand|require|(?:would|'d)\s+like|insist\s+on)\s+(?:to\s+(?:have|get|see)\s+)?(?:(?:an?|the|your|some)\s+{PERSON}|someone|somebody){_ENDS}
    | \b(?:want|need|prefer|demand)\s+(?:some\s+)?human\s+(?:help|assistance|support|contact)\b
    | \b(?:is|are)\s+there\s+{_A}{PERSON}\s+(?:\w+\s+){{0,5}}?(?:talk|speak|chat|call|help|available|reach)\b
    | \b(?:is|are)\s+(?:an?\s+|any\s+)?(?:real\s+|live\s+|actual\s+)*(?:humans?|persons?|agents?|representatives?)\s+(?:available|there|here|around)\b
    | \bis\s+there\s+(?:an?\s+|any\s+)?(?:real|live|actual|human)\s+(?:human|person|agent|being)\b
    | \b(?:can|could|may)\s+(?:an?\s+)?(?:real\s+|live\s+|actual\s+)*(?:human|person|representative|supervisor|manager|(?:someone|somebody)(?=\s+(?:please\s+)?(?:call|contact|phone)\s+me))
        \s+(?:please\s+)?(?:help|call|assist|contact|phone|look|handle|review|check|answer|deal|take\s+(?:over|a\s+look|care))\b
    | \b(?:get|fetch|bring|call|find)\s+(?:your|the|an?)\s+(?:boss|manager|supervisor|superior|team\s+lead(?:er)?){_ENDS}
    | \bno\s+(?:more\s+)?(?:bots?|chat\s?bots?|robots?|machines?)\b
    | \bhave\s+(?:someone|somebody|{_A}{PERSON})\s+(?:call|contact|phone|e-?mail)\s+me\b
    | \b(?:someone|somebody|anyone|person|human)\s+(?:else\s+)?(?:that\s+|who\s+|whom\s+)?i\s+(?:can|could|may)\s+(?:\w+\s+)?(?:talk|speak|chat)\b
    | \b(?:contact|reach|call|contacting|reaching)\s+(?:an?\s+|your\s+)?(?:(?:real|live|human|actual)\s+)*
        (?:agent|operator|representative|supervisor|manager|human|person|somebody|someone|assistant)\b(?!\s+(?:at|from|in|of|named|called|about)\b|'s)
    | (?:\bnot|n't|\bstop|\bsick\s+of|tired\s+of|done|hate)\s+(?:\w+\s+){{0,3}}?(?:talk|speak|chat|deal)\w*\s+(?:to|with)\s+(?:an?|the|this|some|your)\s+
        (?:stupid\s+|dumb\s+)?(?:bot|chat\s?bot|robot|machine|computer|ai)\b
    | (?:\A|[.!?\n])\W*(?:(?:i\s+)?(?:want|need)\s+)?(?:an?\s+)?(?:(?:real|live|human|actual)\s+)*(?:human|person|agent|representative|operator|supervisor|manager)
        (?:[\s,]+(?:please|pls|plz|now))*\s*(?=[.!?\n]|\Z)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The ways to ask for somebody; "the agent told me" and "per person" are none of them."""

_NOT_ASKED = re.compile(
    r"""(?:\b(?:do\s+not|don't|did\s+not|didn't|no)\s+(?:really\s+)?(?:need|want|have|wish|care)(?:\s+(?:to|for))?(?:\s+you\s+to)?|\bno\s+need\s+(?:to|for)|
    \b(?:without|instead\s+of|rather\s+than|after|when\s+i|while|before|had\s+to|been|was|were|used\s+to|told\s+(?:me|us)\s+to|do\s+not|don't))\s*\Z""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before the words of a request that is none."""

_REMEMBERED = 2_000
"""Characters up to which a message's result is kept: two scorers ask of each."""

_IF = re.compile(r"\bif\b[^.!?\n]*\Z", re.IGNORECASE)
_PERSON_HINTS = (
    *("human", "person", "agent", "representative", " rep", "operator", "manager", "supervisor"),
    *("specialist", "advis", "someone", "somebody", "anyone", "anybody", "employee", "colleague"),
    *(
        "higher-up",
        "in charge",
        "boss",
        "staff",
        "f member",
        "m member",
        "assistant",
        " bot",
        "chatbot",
        "robot",
        "machine",
    ),
    *(
        "computer",
        "an ai",
        "the ai",
        "this ai",
        "escalat",
        "transfer me",
        "connect me",
        "hand me",
        "me to customer",
        "through to",
    ),
)
"""One of these stands in every request; far cheaper to look for."""

_WITHDRAWAL = re.compile(
    r"""\bnever\s*mind\b|\bno\s+need\s+(?:to\s+(?:transfer|connect|escalate|talk|speak|hand)|for\s+(?:a|an|the|that)\b)|
    \b(?:don't|do\s+not)\s+(?:\w+\s+){0,2}?(?:transfer|connect|escalate|hand|bother)\b|\bnot\s+(?:be\s+)?(?:necessary|needed)\b|
    \bforget\s+(?:it|about\s+(?:it|that|the|a))\b|\b(?:i'll|i\s+will|let\s+me|let's|we\s+can)\s+(?:just\s+)?(?:stay|stick|continue|carry\s+on|keep\s+going)\b|
    \b(?:just|please)\s+(?:finish|continue|carry\s+on|go\s+on|keep\s+going)\b|\b(?:no|don't\s+need\s+(?:a|an|the))\s+(?:human|person|agent|transfer)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_YES = re.compile(
    r"\A\W*(?:yes|yeah|yep|sure|ok(?:ay)?|please|absolutely|definitely|that\s+would\s+be|go\s+ahead)\b",
    re.IGNORECASE,
)
_YES_CHARS = 60
"""A longer message that begins with a yes says something else as well."""
_LEGAL = re.compile(
    r"""\b(?:hear(?:ing)?\s+from|contact(?:ing)?|call(?:ing)?|get(?:ting)?|hir(?:e|ing)|consult(?:ing)?|involv(?:e|ing)|(?:speak|talk)(?:ing)?\s+(?:to|with)|see(?:ing)?)
    \s+(?:my|our|an?)\s+(?:lawyers?|attorneys?|solicitors?|legal\s+(?:team|counsel))\b|
    \b(?:my|our)\s+(?:lawyers?|attorneys?|solicitors?|legal\s+(?:team|counsel))\s*(?:will|'ll|is|are|shall|has|have|says?|said|knows?)\b|
    \b(?:sue|suing)\s+(?:you|your|(?:this|the)\s+(?:company|store|airline|bank|shop))\b|\b(?:i'll|i\s+will|going\s+to|gonna)\s+sue\b|
    \blegal\s+(?:action|proceedings|steps)\b(?!\s+figure)|\b(?:take|see|taking|seeing)\s+(?:you|this|your\s+company)\s+(?:to|in|all\s+the\s+way\s+to)\s+court\b|
    \bsmall\s+claims\b|\b(?:file|filing|start|bring)\s+a\s+(?:law\s?suit|legal)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SELF_HARM = re.compile(
    r"""\b(?:hurt|harm|kill|cut|hang|shoot)(?:ting|ing)?\s+my\s?self\b(?!\s+laughing)|\b(?:end|ending|take|taking)\s+(?:my\s+(?:own\s+)?life|it\s+all)\b|
    \bi(?:'m|\s+am|\s+feel)\s+(?:\w+\s+)?suicidal\b|\b(?:thinking|thought|thoughts)\s+(?:of|about)\s+suicide\b|\bcommit\s+suicide\b|
    \b(?:want|going|wish|wanna)\s+to\s+(?:die|be\s+dead|disappear\s+forever)\b|\b(?:don't|do\s+not)\s+want\s+to\s+(?:live|be\s+alive|go\s+on|be\s+here\s+any\s?more)\b|\bcan(?:'t|not)\s+go\s+on\s+living\b|
    \b(?:no\s+reason|nothing\s+left)\s+to\s+live\b|\bbetter\s+off\s+dead\b|\bself[\s-]harm""",
    re.VERBOSE | re.IGNORECASE,
)
_FRAUD = re.compile(
    r"""\breport(?:ing|ed)?\s+(?:you|your\s+\w+)\s+(?:to|for)\b|
    \breport(?:ing|ed)?\s+(?:this|it)\b[^.!?\n]{0,60}\b(?:fraud|police|authorit\w+|regulators?|ombudsman|attorney\s+general|consumer\s+protection)\b|
    \bripp(?:ing|ed)\s+(?:me|us|people)\s+off\b|
    \byou(?:r\s+(?:company|store|bank|staff|people|agents?|airline)|\s+(?:people|guys|lot))?(?:'re|\s+are|\s+is|\s+were)?\s+(?:all\s+|just\s+|a\s+(?:bunch\s+of\s+)?|nothing\s+but\s+a\s+)*
    (?:scam(?:mers?|ming)?|fraud(?:s|sters?|ulent)?|thieves|thief|crooks?|criminals?|stealing|stole|robbed|robbing|defraud\w*|cheating)\b|
    \bthis\s+is\s+(?:a\s+|clearly\s+|pure\s+)*(?:fraud|scam|theft|robbery)\b|\bcommit(?:ting|ted)?\s+fraud\b|\b(?:call|calling|go(?:ing)?\s+to)\s+the\s+police\b|
    \b(?:contact|complain\s+to|report\s+(?:\w+\s+)?to|inform|going\s+to|go\s+to)\s+(?:the\s+)?(?:\w+\s+)?(?:consumer\s+protection|ombudsman|regulators?|trading\s+standards|attorney\s+general)\b|
    \baccus\w+\s+(?:you|your)\b[^.!?\n]{0,40}\b(?:fraud|theft)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_VIOLENCE = re.compile(
    r"""\b(?:i'll|i\s+will|i'm\s+(?:going\s+to|gonna)|i\s+am\s+going\s+to|gonna|we'll|we\s+will)\s+(?:\w+\s+){0,3}?(?:kill|shoot|hurt|beat|stab|attack|burn(?:\s+down)?|bomb|blow\s+up|smash|destroy)\s+
    (?:you|him|her|them|someone|somebody|everyone|everybody|people|your\s+(?:\w+\s+)?(?:office|store|shop|building|staff|people|family|house|boss|manager|agent)s?)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_EMERGENCY = re.compile(
    r"""\b(?:chest\s+pains?|(?:can(?:'t|not)|trouble|struggling\s+to)\s+breath\w*|not\s+breathing|unconscious|(?:took|taken)\s+an\s+overdose|overdosed|bleeding\s+(?:heavily|badly|out)|
    having\s+a\s+(?:stroke|heart\s+attack|seizure)|medical\s+emergency|smell\s+gas|gas\s+leak|house\s+is\s+on\s+fire)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_TRIGGER_HINTS = (
    *(
        "lawyer",
        "attorney",
        "solicitor",
        "legal",
        " sue",
        "suing",
        "court",
        "small claims",
        "lawsuit",
    ),
    *(
        "law suit",
        "myself",
        "my self",
        "my life",
        "own life",
        "suicid",
        "to die",
        "dead",
        "alive",
        "to live",
    ),
    *(
        "here any",
        "self-harm",
        "self harm",
        "it all",
        "disappear",
        "fraud",
        "report",
        "scam",
        "thie",
    ),
    *(
        "crook",
        "criminal",
        "steal",
        "stole",
        "robb",
        "theft",
        "ripp",
        "living",
        "cheat",
        "police",
        "regulator",
        "consumer protection",
        "ombudsman",
        "take life",
        "taking life",
    ),
)
_MORE_HINTS = (
    *("kill", "shoot", "hurt", "beat ", "stab", "attack", "burn", "bomb", "blow up", "smash"),
    *("destroy", "chest", "breath", "unconscious", "overdos", "bleeding", "stroke", "seizure"),
    *("emergency", "smell gas", "gas leak", "on fire"),
)
_TRIGGERS: tuple[tuple[TriggerKind, re.Pattern[str]], ...] = (
    ("self-harm", _SELF_HARM),
    ("legal threat", _LEGAL),
    ("fraud accusation", _FRAUD),
    ("threat of violence", _VIOLENCE),
    ("emergency", _EMERGENCY),
)


def person_asked(text: str, *, conditional: bool = True) -> str:
    """Return the words with which a user asks for a person; empty when there are none.

    People who are merely spoken of, and requests that are denied in the same breath, do not
    count; "if that fails, I want a manager" counts when ``conditional``. Of a misspelt request
    the words are the whole message.
    """
    if len(text) > _REMEMBERED:
        return _person_asked(text, conditional=conditional)
    return _remembered_person_asked(text, conditional=conditional)


@lru_cache(maxsize=512)
def _remembered_person_asked(text: str, *, conditional: bool) -> str:
    return _person_asked(text, conditional=conditional)


def _person_asked(text: str, *, conditional: bool) -> str:
    plain = text.replace("\u2019", "'")
    if span := _request(plain, conditional=conditional):
        return text[span[0] : span[1]].strip()
    right = mended(plain)
    if right != plain and _request(right, conditional=conditional):
        return text.strip()
    # the marks that were made plain are as long as those they stand for
    abroad = person_asked_abroad(plain)
    at = plain.find(abroad)
    return text[at : at + len(abroad)] if abroad else ""


def _request(plain: str, *, conditional: bool) -> tuple[int, int] | None:
    """Return where a text asks for a person; ``None`` when it does not."""
    if not _mentions(plain, _PERSON_HINTS):
        return None
    for match in _REQUEST.finditer(plain):
        before = max(0, match.start() - 40)
        if _NOT_ASKED.search(plain, before, match.start()):
            continue
        if conditional or not _IF.search(plain, before, match.start()):
            return match.span()
    return None


def trigger_in(text: str) -> tuple[TriggerKind, str] | None:
    """Return what in a user's message calls for a person by itself, with the words that say it."""
    return (_remembered_trigger if len(text) <= _REMEMBERED else _trigger)(text)


def _trigger(text: str) -> tuple[TriggerKind, str] | None:
    plain = text.replace("\u2019", "'")
    if not _mentions(plain, _TRIGGER_HINTS) and not _mentions(plain, _MORE_HINTS):
        return None
    for kind, pattern in _TRIGGERS:
        match = pattern.search(plain)
        if match:
            return kind, text[match.start() : match.end()].strip()
    return None


_remembered_trigger = lru_cache(maxsize=512)(_trigger)


def withdrawn(text: str) -> bool:
    """Say whether a user takes the wish for a person back."""
    return _WITHDRAWAL.search(text.replace("\u2019", "'")) is not None


def accepted(text: str) -> bool:
    """Say whether a user's message begins with a yes."""
    return len(text) <= _YES_CHARS and _YES.match(text) is not None and not withdrawn(text)


def _mentions(text: str, hints: tuple[str, ...]) -> bool:
    lowered = text.lower()
    # A loop, because a generator would cost more than the searches.
    for hint in hints:  # noqa: SIM110
        if hint in lowered:
            return True
    return False
