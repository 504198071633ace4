"""Sort actions into kinds, so that what an agent says it did can be held against what it called."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from collector.model import ToolDefinition
from scorers.rules.tool_effect import words_of

Act: TypeAlias = Literal["tell", "edit", "remove", "pay", "any"]
"""``tell`` sends something to somebody, ``edit`` makes or changes a thing, ``remove`` ends one,
``pay`` moves money; ``any`` is a deed whose kind the words leave open."""

ACTS: tuple[Act, ...] = ("tell", "edit", "remove", "pay", "any")

_VERBS: dict[Act, str] = {
    "tell": """send email mail message text notify forward reply post publish share inform dispatch
        alert""",
    "edit": """create schedule book reserve add place register enroll enrol record log save append insert
        upload order purchase buy submit file open set configure update change modify edit adjust
        correct fix rename move reschedule rebook switch swap exchange replace upgrade downgrade reset
        enable disable activate deactivate reactivate resume suspend pause apply extend renew assign
        reassign merge push commit install deploy restart reboot restore lock unlock block unblock freeze
        unfreeze mark tag redeem subscribe waive return""",
    "remove": """cancel delete remove unsubscribe revoke close terminate void erase withdraw archive
        discard clear drop""",
    "pay": "pay refund charge credit debit transfer deposit reimburse issue top",
    "any": """process complete initiate execute finalise finalize confirm perform fulfil fulfill
        approve implement arrange resolve authorise authorize make start invite attach""",
}
_IRREGULAR = {
    "send": "sent",
    "set": "set",
    "pay": "paid",
    "buy": "bought",
    "make": "made",
    "withdraw": "withdrawn",
    "freeze": "frozen",
    "unfreeze": "unfrozen",
    "reset": "reset",
    "transfer": "transferred",
}
_DOUBLING = frozenset(
    (
        "submit",
        "cancel",
        "swap",
        "log",
        "drop",
        "top",
        "tag",
        "enrol",
        "fulfil",
        "enroll",
        "fulfill",
    )
)
"""Verbs that double their last letter; British and American spellings are both kept."""

_TOOL_WORDS: dict[str, Act] = {
    "checkout": "pay",
    "payment": "pay",
    "money": "pay",
    "purchase": "pay",
    "sms": "tell",
    "contact": "tell",
    "notification": "tell",
    "invite": "tell",
    "attach": "edit",
    "connect": "edit",
    "disconnect": "edit",
    "link": "edit",
    "toggle": "edit",
    "write": "edit",
    "put": "edit",
    "patch": "edit",
    "upsert": "edit",
    "turn": "edit",
    "grant": "edit",
    "refuel": "edit",
    "reseat": "edit",
    "unset": "remove",
    "kick": "remove",
    "uninstall": "remove",
    "kill": "remove",
    "stop": "remove",
    "give": "pay",
    "certificate": "pay",
}
_WORD = re.compile(r"[a-z]+")


def participles_of(verb: str) -> tuple[str, ...]:
    """Return the past participle of a verb, in each spelling: ``cancel`` -> cancelled, canceled."""
    if verb in _IRREGULAR:
        return (_IRREGULAR[verb],)
    if verb.endswith("e"):
        return (verb + "d",)
    if verb.endswith("y") and verb[-2] not in "aeo":
        return (verb[:-1] + "ied",)
    doubled = verb + verb[-1] + "ed"
    if verb == "cancel":
        return ("cancelled", "canceled")
    return (doubled,) if verb in _DOUBLING and verb[-2:] != "ll" else (verb + "ed",)


BASES: dict[str, Act] = {verb: act for act, verbs in _VERBS.items() for verb in verbs.split()}
"""The base form of every verb that changes the world, and its kind."""

PARTICIPLES: dict[str, Act] = {
    form: act for verb, act in BASES.items() for form in participles_of(verb)
}
"""Their past participles."""

_ACT_OF_TOOL_WORD: dict[str, Act] = {
    verb: act for verb, act in (BASES | _TOOL_WORDS).items() if act != "any"
}


def acts_of(name: str, definition: ToolDefinition | None = None) -> frozenset[Act]:
    """Return the kinds of deed a tool can do, by the words of its name and first sentence.

    Empty when no word says; such a tool may have done anything.
    """
    words = words_of(name)
    if definition is not None:
        words += _WORD.findall(definition.description[:200].partition(". ")[0].lower())[:12]
    return frozenset(_ACT_OF_TOOL_WORD[word] for word in words if word in _ACT_OF_TOOL_WORD)
