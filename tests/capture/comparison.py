"""Compare the facts of HTTP traffic with the conversations that were made of its telemetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from collector.dialects.media import without_media
from collector.model import Conversation, LlmCall
from tests.capture import facts_of_anthropic, facts_of_gemini, facts_of_openai
from tests.capture.facts import Exchange, Fact, Kind
from tests.capture.outrider import Request, conversations_of
from tests.capture.sent import Sent, canonical, words

Fate = Literal["arrived", "omitted", "later", "lost"]
"""``omitted``: the instrumentation did not send it. ``lost``: it did, and we have it not.

``later``: it is the system prompt of a later agent; a conversation keeps its first one.
"""
_READERS = {
    "messages": (facts_of_anthropic.asked, facts_of_anthropic.answered),
    "chat": (facts_of_openai.chat_asked, facts_of_openai.chat_answered),
    "responses": (facts_of_openai.responses_asked, facts_of_openai.responses_answered),
    "gemini": (facts_of_gemini.asked, facts_of_gemini.answered),
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one fact."""

    fact: Fact
    fate: Fate
    streamed: bool


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one job."""

    findings: tuple[Finding, ...]
    conversations: int
    explicit: int
    """How many of the conversations came with an id of their own."""
    calls: int
    """Model calls in the conversations."""
    exchanges: int


def compare(exchanges: Sequence[Exchange], requests: Sequence[Request]) -> Result:
    """Compare what went over the wire with what came over OTLP."""
    conversations = conversations_of(requests)
    sent = Sent(requests)
    calls = sorted(
        (call for found in conversations for call in found.llm_calls), key=lambda c: c.started_ns
    )
    findings: list[Finding] = []
    known: set[bytes] = set()
    ids = {
        fact.id: _said_by(fact.name, fact.value)
        for exchange in exchanges
        for fact in facts_of(exchange)
        if fact.kind == "tool call" and fact.id
    }
    for number, exchange in enumerate(exchanges):
        if exchange.is_mixed:
            continue
        call = _call_of(exchange, number, calls, len(exchanges))
        of_call = Sent(requests, about=_id_of(exchange))
        for fact in facts_of(exchange):
            key = msgspec.json.encode(fact, order="deterministic")
            per_call = fact.kind in ("tokens", "finish reason", "error")
            if not per_call and key in known:  # a history that is repeated
                continue
            known.add(key)
            arrived = _in_call(fact, call) if per_call else _stands(fact, conversations, ids)
            was_sent = _was_sent(fact, of_call if per_call else sent)
            if fact.kind == "assistant" and _is_in(fact.text, exchange.request):
                # The request has these words too, which tells nothing of the reply.
                was_sent = sent.exact[words(fact.text)] > 0
            fate: Fate = "arrived" if arrived else "lost" if was_sent else "omitted"
            if fate == "lost" and fact.kind == "system" and _is_prompted(conversations):
                fate = "later"
            findings.append(Finding(fact=fact, fate=fate, streamed=exchange.streamed))
    return Result(
        findings=tuple(findings),
        conversations=len(conversations),
        explicit=sum(found.explicit for found in conversations),
        calls=len(calls),
        exchanges=len(exchanges),
    )


def facts_of(exchange: Exchange) -> Iterator[Fact]:
    """Yield what stands in an exchange."""
    asked, answered = _READERS[exchange.api]
    yield from asked(exchange.request)
    if exchange.status >= 400:
        yield Fact(kind="error", value=exchange.status)
        return
    answer = exchange.answer
    if isinstance(answer, dict):
        yield from answered(answer)


def _call_of(
    exchange: Exchange, number: int, calls: Sequence[LlmCall], exchanges: int
) -> LlmCall | None:
    """Find the model call of an exchange: by the id of its response, else by its place."""
    id_ = _id_of(exchange)
    named = [call for call in calls if id_ and call.response_id == id_]
    if len(named) == 1:
        return named[0]
    spoken = [call for call in calls if call.has_input or call.has_output]
    placed = next((some for some in (calls, spoken) if len(some) == exchanges), None)
    return placed[number] if placed else None


def _id_of(exchange: Exchange) -> str:
    answer = exchange.answer
    return str(answer.get("id") or "") if isinstance(answer, dict) else ""


def _in_call(fact: Fact, call: LlmCall | None) -> bool:
    if call is None:
        return False
    if fact.kind == "error":
        return bool(call.error)
    if fact.kind == "finish reason":
        return call.finish_reason == fact.reason
    return call.usage is not None and getattr(call.usage, fact.name) == fact.value


def _is_prompted(conversations: Sequence[Conversation]) -> bool:
    return any(conversation.system_prompt for conversation in conversations)


def _stands(fact: Fact, conversations: Sequence[Conversation], ids: Mapping[str, str]) -> bool:
    return any(_stands_in(fact, conversation, ids) for conversation in conversations)


def _stands_in(fact: Fact, conversation: Conversation, ids: Mapping[str, str]) -> bool:
    """Say whether a conversation holds a fact.

    ``ids`` tell of every recorded tool call what was called: an instrumentation may give a call
    another id of its provider's, but not that of another call.
    """
    if fact.text:
        # Encoded content inside a text is kept as its digest.
        fact = msgspec.structs.replace(fact, text=without_media(fact.text))
    if fact.kind == "system":
        return words(fact.text) in words(conversation.system_prompt)
    if fact.kind in ("user", "assistant"):
        return any(
            m.role == fact.kind and words(fact.text) in words(m.text) for m in conversation.messages
        )
    if fact.kind == "tool definition":
        return any(
            tool.name == fact.name
            and words(fact.text) == words(tool.description)
            and canonical(fact.value) == canonical(tool.parameters)
            for tool in conversation.tools
        )
    if fact.kind == "tool call":
        called = _said_by(fact.name, fact.value)
        return any(
            _said_by(call.name, call.arguments) == called
            and (call.id == fact.id or ids.get(call.id, called) == called)
            for call in conversation.tool_calls
        )
    return any(_is_result(fact, text) for text in _results(conversation))


def _said_by(name: str, arguments: Any) -> str:
    return f"{name} {canonical(arguments)}"


def _results(conversation: Conversation) -> Iterator[str]:
    yield from (m.text for m in conversation.messages if m.role == "tool")
    yield from (call.result for call in conversation.tool_calls if call.result is not None)


def _is_result(fact: Fact, text: str) -> bool:
    if words(fact.text) in words(text):
        return True
    return _opened(fact.text) is not None and _opened(fact.text) == _opened(text)


def _opened(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _was_sent(fact: Fact, sent: Sent) -> bool:
    look = _LOOKS.get(fact.kind)
    return sent.spans > 0 and (look(fact, sent) if look else sent.has_text(fact.text))


def _is_in(text: str, request: Any) -> bool:
    return words(text) in words(msgspec.json.encode(request).decode())


def _has_reason(fact: Fact, sent: Sent) -> bool:
    return not sent.reasons.isdisjoint({str(fact.value).lower(), fact.reason} - {""})


def _has_error(fact: Fact, sent: Sent) -> bool:
    return "error.type" in sent.keys or sent.has_text(str(fact.value))


def _has_definition(fact: Fact, sent: Sent) -> bool:
    return sent.has_text(fact.name) and sent.has_text(fact.text) and sent.has_value(fact.value)


def _has_call(fact: Fact, sent: Sent) -> bool:
    if canonical(fact.value) == "{}":
        # Its id stands in the result's place too.
        return bool(fact.id) and sent.exact[fact.id] > 1
    return sent.has_text(fact.name) and sent.has_value(fact.value)


def _has_result(fact: Fact, sent: Sent) -> bool:
    opened = _opened(fact.text)
    return sent.has_text(fact.text) or (isinstance(opened, dict | list) and sent.has_value(opened))


_LOOKS: dict[Kind, Callable[[Fact, Sent], bool]] = {
    "tokens": lambda fact, sent: fact.value in sent.counts,
    "finish reason": _has_reason,
    "error": _has_error,
    "tool definition": _has_definition,
    "tool call": _has_call,
    "tool result": _has_result,
}
"""How each kind is looked for in the bytes; every other by its text."""
