"""Check that what a reply says rests on what the agent was given."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated

import msgspec

from collector.model import Conversation, Document, Evidence, Turn
from scorers.result import Score, ScorerResult, Skip
from scorers.rules.faithfulness_weights import LIMIT, WEIGHTS
from scorers.rules.figures import figures_of, is_reference, unsupported
from scorers.rules.grounds import grounds_of
from scorers.rules.identity import Same
from scorers.rules.passages import Passages
from scorers.rules.reading import cleaned, read
from scorers.rules.replies import final_reply
from scorers.rules.statements import claims_of, statements_of
from scorers.rules.support import Support, support
from scorers.scorer import scorer

_MAX_CONTEXT_CHARS = 400_000
_QUOTE_CHARS = 300
_PASSAGE_CHARS = 160
_REFERENCE_FACTOR = 0.3
_AMOUNT_FACTOR = 0.55
_UNSUPPORTED_SHARE = 0.3


@scorer(level="turn", version="2")
def faithfulness(
    conversation: Conversation,
    turn: Turn,
    *,
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5,
) -> ScorerResult:
    """Check the final reply of a turn against the documents, tool results and user messages.

    With retrieved documents every statement is held against the documents and the results of
    the turn: which of its numbers, dates, names, quotations and words stand there, by value,
    synonym or kind; whether they stand together, in order and with the same unit; and whether a
    denial, an opposite, a comparison or a role is turned round. Each sign has a learned weight,
    and the statement that carries most is the value; one in which all but a number, name,
    denial or opposite stands in one place is taken as contradicted. With tool results alone
    only the figures are checked, because most of such a reply is talk: a number that was
    neither given nor follows from others lowers the value, a reference number more than an
    amount. A value under ``threshold`` fails.

    A comparison of words: made-up details and changed facts show, a wrong conclusion in the
    words of the context does not. Skips with ``no_context`` when there is nothing to compare
    with, ``no_claims`` when the reply states nothing that can be checked.
    """
    at = final_reply(conversation, turn)
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


def supports_of(conversation: Conversation, turn: Turn, reply: str) -> list[tuple[Support, str]]:
    """Measure each claim of a reply by what supports it best: the documents, or the results."""
    messages = conversation.messages[turn.first_message : turn.end_message]
    results = tuple(m.text for m in messages if m.role == "tool")
    said = frozenset(w.stem for m in messages if m.role == "user" for w in read(cleaned(m.text)))
    indexes = [_document_passages(Same(conversation.documents))]
    if results:
        indexes.append(Passages(results))
    found = []
    for claim in claims_of(reply):
        supports = [one for index in indexes if (one := support(claim, index, said)) is not None]
        if supports:
            found.append((min(supports, key=load), claim))
    return found


def load(found: Support) -> float:
    """Return what all signs together weigh against a statement."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in found.signs.items())


def _by_passages(conversation: Conversation, turn: Turn, reply: str) -> _Weakest | Skip:
    messages = conversation.messages[turn.first_message : turn.end_message]
    size = sum(len(d.text) for d in conversation.documents)
    size += sum(len(m.text) for m in messages if m.role == "tool")
    if size > _MAX_CONTEXT_CHARS:
        return Skip(reason="context_too_long")
    if not size:
        return Skip(reason="no_context")
    found = supports_of(conversation, turn, reply)
    if not found:
        return Skip(reason="no_claims")
    worst, claim = max(found, key=lambda one: load(one[0]))
    value = 1 / (1 + math.exp(min(50.0, load(worst) - LIMIT)))
    return _Weakest(value=value, statement=claim, reason=_reason(worst))


def _reason(found: Support) -> str:
    closest = f" Closest: {_shortened(found.passage)!r}." if found.passage else ""
    if found.against:
        return f"A statement goes against its context: {', '.join(found.against[:3])}.{closest}"
    absent = (*found.numbers, *found.names, *found.words)
    words = ", ".join(absent[:5]) or "its words together"
    return f"The context does not bear out a statement; not found: {words}.{closest}"


def _shortened(passage: str) -> str:
    return passage if len(passage) <= _PASSAGE_CHARS else passage[:_PASSAGE_CHARS].rstrip() + "…"


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
