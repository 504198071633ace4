"""Hear an agent that says the same again and again, or was stopped at its limit of steps."""

from __future__ import annotations

import re

from collector.model import Conversation
from scorers.rules.spelling import digest, plain

_FEW_CHARS = 40
_BEGINNING = 8
_CLOSING = re.compile(
    r"\b(?:welcome|anything else|further (?:questions|assistance)|have a (?:great|nice|good|wonderful|lovely)|good ?bye|take care|thank(?:s| you) for|happy to help|glad)\b",
    re.IGNORECASE,
)
"""Courtesies, which are the same each time."""
_STOPPED = re.compile(
    r"""\b(?:agent\s+stopped\s+due\s+to\s+(?:an?\s+|the\s+)?(?:max\w*\s+)?(?:iteration|step|time|turn)s?|
    (?:max(?:imum)?|the)\s+(?:number\s+of\s+)?(?:steps?|iterations?|turns?|tool\s+calls?|recursion(?:\s+depth)?)\s+(?:limit\s+)?(?:was\s+|has\s+been\s+|is\s+)?(?:reached|exceeded|hit)|
    (?:reached|exceeded|hit)\s+(?:the\s+|my\s+)?(?:max(?:imum)?\s+)?(?:number\s+of\s+)?(?:steps?|iterations?|turns?|tool\s+calls?|recursion)(?:\s+limit)?\b|
    recursion\s+limit\s+of\s+\d+\s+reached)""",
    re.VERBOSE | re.IGNORECASE,
)
_STOP_CHARS = 300
"""A longer message speaks of limits and is not the end at one."""


def repeated_message(conversation: Conversation, repeats: int) -> list[int]:
    """Return where the agent said the same, the most often repeated message first to last.

    Empty when none was said more often than ``repeats`` times. Short messages, courtesies and
    those that come with a tool call, which is judged as such, do not count.
    """
    alike: dict[str, list[int]] = {}
    first = conversation.episode.first_message
    for index, message in enumerate(conversation.messages[first:], first):
        text = message.text
        if message.role == "assistant" and not message.tool_requests and len(text) >= _FEW_CHARS:
            alike.setdefault(text.lstrip()[:_BEGINNING].lower(), []).append(index)
    said: dict[str, list[int]] = {}
    # comparing whole texts is left to those that begin alike often enough
    for index in (i for found in alike.values() if len(found) > repeats for i in found):
        said.setdefault(digest(plain(conversation.messages[index].text)), []).append(index)
    most = max(said.values(), key=len, default=[])
    if len(most) <= repeats or _CLOSING.search(conversation.messages[most[0]].text):
        return []
    return most


def stopped_at_limit(conversation: Conversation) -> tuple[int, str] | None:
    """Return the last message and its words when they say that the agent ran into its limit of steps."""
    last = len(conversation.messages) - 1
    if last < conversation.episode.first_message or conversation.messages[last].role == "user":
        return None
    text = conversation.messages[last].text
    found = _STOPPED.search(text) if len(text) <= _STOP_CHARS else None
    return None if found is None else (last, found[0])
