"""Find replies that the agent gave from nothing though a tool could have told it."""

from __future__ import annotations

import re
from functools import lru_cache

from collector.model import Conversation, Evidence, ToolDefinition, Turn
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.figures import figures_of, unsupported
from scorers.rules.grounds import grounds_of
from scorers.rules.identity import Same
from scorers.rules.replies import final_reply
from scorers.rules.statements import claims_of
from scorers.rules.stems import EMPTY_WORDS, stem, words_of
from scorers.rules.tool_effect import effect_of
from scorers.rules.tool_effect import words_of as name_words
from scorers.scorer import scorer

_QUOTE_CHARS = 300
_MAX_CHARS = 20_000
_MAX_TOOLS = 200
_FIRST_SENTENCE = 200
_ASKS = re.compile(
    r"\?|\b(?:please|can you|could you|tell me|give me|show me|find|check|look up|list|what|when|where|which|who|how (?:much|many|long|far|old)|i (?:need|want|would like|'d like)|let me know)\b",
    re.IGNORECASE,
)
"""A message that wants something to be found out."""
_ADMITS = re.compile(
    r"""\b(?:i\s+(?:can(?:not|['\u2019]t)|don['\u2019]t|do\s+not|am\s+(?:unable|not\s+able)|['\u2019]?m\s+(?:unable|not)|would\s+need|need)|unable\s+to|
    as\s+an\s+ai|could\s+you|can\s+you|please\s+(?:provide|share|tell|confirm|let)|would\s+you|shall\s+i|do\s+you\s+want|
    for\s+example|e\.g\.|such\s+as|typically|usually|generally|on\s+average|approximately|roughly|estimate|assum|suppose|hypothetical)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of one who asks back, refuses, or speaks in general."""
_WORKED_OUT = re.compile(
    r"=|\b(?:total|sum|altogether|combined|remaining|difference|sav(?:e|es|ings)|overall)\b",
    re.IGNORECASE,
)
"""A statement whose figures may be worked out of others."""
_LOOKED = re.compile(
    r"\b(?:i|we)(?:'ve|\u2019ve|\s+have)?\s+(?:just\s+|already\s+|now\s+)?(?:checked|looked|searched|found|reviewed|verified|located|retrieved)\b(?!\s+(?:no|nothing|what you|your message))|"
    r"\b(?:according to|based on|from)\s+(?:our|the|your)\s+(?:records?|system|database|files?|account)\b",
    re.IGNORECASE,
)
"""Words of an agent that has, it says, looked somewhere."""
_NEUTRAL = frozenset(map(stem, ("get", "list", "search", "find", "fetch", "look", "lookup", "show", "read", "query", "check", "view", "retrieve", "load", "tool", "function", "api", "info", "information", "data", "details", "detail", "current", "by", "from", "user", "id")))  # fmt: skip


@scorer(level="turn", version="1")
def missing_call(conversation: Conversation, turn: Turn) -> ScorerResult:
    """Fail a reply that tells what it was never given, though a tool that fits was not called.

    The agent called nothing in the turn, and either tells figures that nothing gave and that do
    not follow from others, or says that it has looked though it never did. A tool fits when it
    only looks and its name or first sentence has a word of what the user asks for. Replies
    that ask back, refuse or speak in general pass. Skips with ``no_tools`` when none was
    offered, ``no_reply`` without a reply, ``no_request`` when the user asks for nothing.
    """
    if not conversation.tools:
        return Skip(reason="no_tools")
    at = final_reply(conversation, turn)
    if at < 0:
        return Skip(reason="no_reply")
    messages = conversation.messages[turn.first_message : turn.end_message]
    asked = "\n".join(m.text for m in messages if m.role == "user")[:_MAX_CHARS]
    if not _ASKS.search(asked):
        return Skip(reason="no_request")
    called = any(m.tool_requests or m.role == "tool" for m in messages)
    told = "" if called else _from_nothing(conversation, at)
    fitting = _fitting(conversation, asked) if told else None
    if fitting is None:
        return Score(value=1.0, verdict="pass", reason="The reply needed no further call.")
    return Score(
        value=0.0,
        verdict="fail",
        reason=f"The reply tells what nothing gave it, and {fitting.name[:80]} was not called.",
        evidence=(Evidence(message=at, quote=told[:_QUOTE_CHARS]),),
    )


def _from_nothing(conversation: Conversation, at: int) -> str:
    """Return a statement that the agent had no way to know; empty when there is none."""
    reply = conversation.messages[at].text[:_MAX_CHARS]
    if _ADMITS.search(reply):
        return ""
    grounds = grounds_of(conversation)
    if not grounds.has_results(at) and (looked := _LOOKED.search(reply)):
        return looked[0]
    figures = figures_of(reply)
    missing = set(unsupported(figures, grounds.figures(at))) if figures else set()
    if not missing:
        return ""
    claims = (one for one in claims_of(reply) if not _WORKED_OUT.search(one))
    return next((one for one in claims if not missing.isdisjoint(figures_of(one))), "")


def _fitting(conversation: Conversation, asked: str) -> ToolDefinition | None:
    """Return the tool that looks for most of what the user asks; ``None`` when none does."""
    wanted = frozenset(map(stem, words_of(asked)))
    shared = [
        (len(_subject(Same(tool)) & wanted), tool) for tool in conversation.tools[:_MAX_TOOLS]
    ]
    most, best = max(shared, key=lambda one: one[0], default=(0, None))
    return best if most else None


@lru_cache(maxsize=1_024)
def _subject(same: Same[ToolDefinition]) -> frozenset[str]:
    """Return what a tool that looks is about; empty for one that acts."""
    tool = same.record
    if effect_of(tool.name, tool) != "read":
        return frozenset()
    first = tool.description[:_FIRST_SENTENCE].partition(". ")[0]
    words = [*name_words(tool.name), *words_of(first)]
    return frozenset(stem(one) for one in words if one.lower() not in EMPTY_WORDS) - _NEUTRAL
