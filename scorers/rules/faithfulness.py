"""Check that what a reply says rests on what the agent was given."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import msgspec

from collector.model import Conversation, Document, Evidence, Turn
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.figures import figures_of, is_reference, unsupported
from scorers.rules.grounds import grounds_of
from scorers.rules.identity import Same
from scorers.rules.passages import Passages, Support
from scorers.rules.statements import claims_of, statements_of
from scorers.rules.stems import stems_of
from scorers.scorer import scorer

_MAX_CONTEXT_CHARS = 400_000
_QUOTE_CHARS = 300
_REFERENCE_FACTOR = 0.3
_AMOUNT_FACTOR = 0.55
_UNSUPPORTED_SHARE = 0.3


@scorer(level="turn", version="1")
def faithfulness(
    conversation: Conversation,
    turn: Turn,
    *,
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.4,
) -> ScorerResult:
    """Check the final reply of a turn against the documents, tool results and user messages.

    With retrieved documents every statement is measured by its words, numbers, names,
    negations and opposites, and the weakest one is the value. With tool results alone only
    the figures are checked, because most of such a reply is talk: a number that was neither
    given nor follows from others lowers the value, a reference number more than an amount.
    A value under ``threshold`` fails.

    A comparison of words: it sees what was added, not what was paraphrased wrongly. Skips
    with ``no_context`` when there is nothing to compare with, ``no_claims`` when the reply
    states nothing that can be checked.
    """
    at = _reply_at(conversation, turn)
    if at < 0:
        return Skip(reason="no_reply")
    reply = conversation.messages[at].text
    if conversation.documents:
        weakest = _by_passages(conversation, turn, reply)
    elif grounds_of(conversation).has_results(at):
        weakest = _by_figures(conversation, reply, at)
    else:
        return Skip(reason="no_context")
    if isinstance(weakest, Skip):
        return weakest
    value = round(weakest.value, 4)
    failed = value < threshold
    quote = weakest.statement[:_QUOTE_CHARS]
    return Score(
        value=value,
        verdict="fail" if failed else "pass",
        reason=weakest.reason if failed else "What the reply states is found in its context.",
        evidence=(Evidence(message=at, quote=quote),) if failed else (),
    )


class _Weakest(msgspec.Struct, frozen=True, kw_only=True):
    """The statement that rests least on the context."""

    value: float
    statement: str
    reason: str


def _reply_at(conversation: Conversation, turn: Turn) -> int:
    """Return the index of the last words the agent had for the user in this turn, or -1."""
    first = max(turn.first_message, conversation.episode.first_message)
    for index in range(min(turn.end_message, len(conversation.messages)) - 1, first - 1, -1):
        message = conversation.messages[index]
        if message.role == "assistant" and message.text.strip():
            return index
    return -1


def _by_passages(conversation: Conversation, turn: Turn, reply: str) -> _Weakest | Skip:
    messages = conversation.messages[turn.first_message : turn.end_message]
    results = tuple(m.text for m in messages if m.role == "tool")
    size = sum(len(d.text) for d in conversation.documents) + sum(map(len, results))
    if size > _MAX_CONTEXT_CHARS:
        return Skip(reason="context_too_long")
    if not size:
        return Skip(reason="no_context")
    said = stems_of(" ".join(m.text for m in messages if m.role == "user"))
    indexes = [_document_passages(Same(conversation.documents))]
    if results:
        indexes.append(Passages(results))
    found = []
    for claim in claims_of(reply):
        supports = [one for index in indexes if (one := index.support(claim, said)) is not None]
        if supports:
            found.append((max(supports, key=lambda one: one.value), claim))
    if not found:
        return Skip(reason="no_claims")
    support, claim = min(found, key=lambda one: one[0].value)
    return _Weakest(value=support.value, statement=claim, reason=_reason(support))


def _reason(support: Support) -> str:
    if support.against:
        return f"The context does not bear out a statement of the reply: {support.against}."
    words = ", ".join(support.missing[:5]) or "its words together"
    return f"The context hardly holds a statement of the reply; not found: {words}."


def _by_figures(conversation: Conversation, reply: str, at: int) -> _Weakest | Skip:
    stated = figures_of(reply)
    figures = {one for one in stated if len(one) > 1}
    if not figures:
        return Skip(reason="no_claims")
    missing = unsupported(stated, grounds_of(conversation).figures(at))
    if not missing:
        return _Weakest(value=1.0, statement="", reason="")
    value = 1.0
    for one in missing:
        value *= _REFERENCE_FACTOR if is_reference(one) else _AMOUNT_FACTOR
    if len(missing) * 2 > len(figures):
        value = min(value, _UNSUPPORTED_SHARE)
    statement = next(
        (c for c in statements_of(reply) if missing[0] in figures_of(c)), reply.strip()
    )
    named = ", ".join(missing[:3])
    return _Weakest(
        value=value,
        statement=statement,
        reason=f"Nothing the agent was given says {named}, and it does not follow from it.",
    )


@lru_cache(maxsize=1)
def _document_passages(same: Same[tuple[Document, ...]]) -> Passages:
    return Passages(document.text for document in same.record)
