"""Read LiveKit's voice agents: ``lk.*`` keys on the nodes of a turn, newer ones with OTel's beside.

A turn's ``llm_node`` holds the whole chat; the request inside it, which follows OTel, is the
same call. Keys of content moved under ``lk.pii.``. What was heard and spoken stands in where a
model of speech answers by itself.
"""

from __future__ import annotations

from typing import cast

import msgspec

from collector.dialects import otel_genai
from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.blocks import request_of
from collector.dialects.dialect import Dialect, Reading, Said
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, split_system
from collector.dialects.tools import definitions
from collector.model import FactRole, Facts, JsonValue, Message
from collector.telemetry import Attributes, AttributeValue, Span

NAME = "livekit"
SCOPES = ("livekit",)
PREFIX = "lk."
ROLES: dict[str, FactRole] = {
    "llm_node": "llm",
    "function_tool": "tool",
    "agent_turn": "agent",
    "user_turn": "chain",
    "agent_session": "chain",
}
"""Role by the span's name."""
HEARD = ("tts_", "stt_", "eou_", "vad_")
"""How spans of speech begin, whose models are none that converse."""
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    first_token_s=(*otel_genai.NAMES.first_token_s, "lk.response.ttft"),
    tool_name=(*otel_genai.NAMES.tool_name, "lk.function_tool.name"),
    tool_call_id=(*otel_genai.NAMES.tool_call_id, "lk.function_tool.id"),
    tool_arguments=(
        *otel_genai.NAMES.tool_arguments,
        "lk.pii.function_tool.arguments",
        "lk.function_tool.arguments",
    ),
    tool_result=(
        *otel_genai.NAMES.tool_result,
        "lk.pii.function_tool.output",
        "lk.function_tool.output",
    ),
)
CHAT: Keys = ("lk.pii.chat_ctx", "lk.chat_ctx")
TOOLS: Keys = ("gen_ai.tool.definitions", "lk.function_tools")
ANSWER: Keys = ("lk.pii.response.text", "lk.response.text")
CALLS: Keys = ("lk.pii.response.function_calls", "lk.response.function_calls")
HEARING: Keys = (
    "lk.pii.user_input",
    "lk.user_input",
    "lk.pii.user_transcript",
    "lk.user_transcript",
)
INSTRUCTIONS: Keys = ("lk.pii.instructions", "lk.instructions")
FAILED = "lk.function_tool.is_error"
ITEMS = "items"
"""Where a chat keeps its messages and calls."""


def matches(span: Span) -> bool:
    """Tell by the scope; copies that lost it, by the keys of the nodes."""
    if span.scope_name.startswith(SCOPES):
        return span.name in ROLES or span.name.startswith(HEARD) or otel_genai.matches(span)
    return span.name in ROLES and any(key.startswith(PREFIX) for key in span.attributes)


def read(span: Span, memory: Memory) -> Facts:
    """Read one node."""
    attributes = span.attributes
    role: FactRole = "other"
    if not span.name.startswith(HEARD):
        role = ROLES.get(span.name) or otel_genai.role_of(span)
    reading = otel_genai.reading(span, role, memory, NAMES)
    if role == "tool":
        use = tool_use(span, NAMES)
        failed = attributes.get(FAILED)
        flag = failed if isinstance(failed, bool) else use.is_error
        reading = Reading(role=role, tool=msgspec.structs.replace(use, is_error=flag))
    elif role in {"llm", "agent", "chain"}:
        reading = Reading(role=role, said=_said(attributes, reading.said, memory))
    return assembled(span, reading, NAMES, NAME)


def _said(attributes: Attributes, said: Said, memory: Memory) -> Said:
    """Fill in from the keys of a node what OTel's do not say."""
    chat = decoded(first(attributes, CHAT))
    items = cast("AttributeValue", chat.get(ITEMS) if isinstance(chat, dict) else chat)
    system, given = split_system(history(items, memory) if isinstance(items, list) else ())
    heard = text(attributes, HEARING)
    if not given and heard:
        given = (Message(role="user", text=heard),)
    return Said(
        system_prompt=said.system_prompt or system or text(attributes, INSTRUCTIONS),
        tools=said.tools or definitions(first(attributes, TOOLS), memory),
        input=said.input or given,
        output=said.output or _answer(attributes),
    )


def _answer(attributes: Attributes) -> tuple[Message, ...]:
    calls: JsonValue = decoded(first(attributes, CALLS))
    found = [request_of(call) for call in calls] if isinstance(calls, list) else []
    requests = tuple(request for request in found if request is not None)
    words = text(attributes, ANSWER)
    if not words and not requests:
        return ()
    return (Message(role="assistant", text=words, tool_requests=requests),)


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=SCOPES)
