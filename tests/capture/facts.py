"""Say what stands in HTTP traffic with a model provider, one fact at a time.

This reads bodies by itself and shares nothing with the code it is there to check, but for one
thing: streams are put together by the proxy's readers, which have tests of their own against the
providers' clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

import msgspec

from collector.model import FinishReason
from collector.proxy import anthropic_stream, openai_chat_stream, openai_responses_stream
from collector.proxy.sse import events
from tests.capture.recordings import Api

Kind = Literal[
    "system",
    "user",
    "assistant",
    "tool definition",
    "tool call",
    "tool result",
    "tokens",
    "finish reason",
    "error",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said."""

    kind: Kind
    text: str = ""
    """What was said; a result's text; a definition's description."""
    name: str = ""
    """Of a tool; of a token count."""
    id: str = ""
    """Of a tool call."""
    value: Any = None
    """Arguments, a JSON schema, a count of tokens, or the raw finish reason."""
    reason: FinishReason = ""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its answer as they went over the wire."""

    api: Api
    request: Any
    status: int
    content_type: str
    body: bytes

    @property
    def streamed(self) -> bool:
        """Say whether the answer came as events."""
        return self.content_type.startswith("text/event-stream")

    @property
    def is_mixed(self) -> bool:
        """Say whether a client that asked for a stream got a whole answer, which it cannot read."""
        asked = self.api != "gemini" and self.request.get("stream") is True
        return asked and not self.streamed and self.status < 400

    @property
    def answer(self) -> Any:
        """Return the answer as it is unstreamed; ``None`` when it cannot be read."""
        if self.streamed:
            if self.api == "gemini":
                return _joined(msgspec.json.decode(e.data) for e in events(self.body))
            return _STREAMS[self.api](events(self.body)).body
        try:
            return msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return None


_STREAMS = {
    "messages": anthropic_stream.reply,
    "chat": openai_chat_stream.reply,
    "responses": openai_responses_stream.reply,
}


def said(text: Any, kind: Kind) -> Iterator[Fact]:
    """Yield a text, if it has a letter or a digit: what is less cannot be told apart."""
    if isinstance(text, str) and any(map(str.isalnum, text)):
        yield Fact(kind=kind, text=text)


def counts(**tokens: Any) -> Iterator[Fact]:
    """Yield the counts that are not zero."""
    for name, value in tokens.items():
        if isinstance(value, int) and value > 0:
            yield Fact(kind="tokens", name=name, value=value)


def arguments_of(value: Any) -> Any:
    """Open arguments that are JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value) if value.strip() else {}
    except msgspec.DecodeError:
        return value


def _joined(chunks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Put the chunks of a Gemini stream together: parts in a row, the last counts."""
    whole: dict[str, Any] = {}
    parts: list[Any] = []
    for chunk in chunks:
        for candidate in (chunk.get("candidates") or [])[:1]:
            for part in (candidate.get("content") or {}).get("parts") or []:
                last = parts[-1] if parts else {}
                if "text" in part and "text" in last and part.get("thought") == last.get("thought"):
                    parts[-1] = last | {"text": last["text"] + part["text"]}
                else:
                    parts.append(part)
            reason = candidate.get("finishReason") or whole.get("reason")
            whole["reason"] = reason
        whole["usage"] = chunk.get("usageMetadata") or whole.get("usage")
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": whole.get("reason")}],
        "usageMetadata": whole.get("usage"),
    }
