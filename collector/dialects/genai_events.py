"""Read content out of OTel GenAI events, which come inside spans and as log records.

Three generations: the current event with all of a call's attributes, the older one event a
message, and the oldest with prompt and completion as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from collector.dialects.attributes import as_json, decoded, plain
from collector.dialects.bodies import offered, transcript
from collector.dialects.interning import Memory
from collector.dialects.mending import mended
from collector.dialects.messages import normal, reply, system_text
from collector.dialects.tools import definitions
from collector.model import JsonValue, Message, MessageRole, ToolDefinition
from collector.telemetry import Attributes, AttributeValue

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
SPOKEN: dict[str, MessageRole] = {
    "gen_ai.system.message": "system",
    "gen_ai.developer.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.function.message": "tool",
    CHOICE: "assistant",
}
"""Legacy events, one a message; ``gen_ai.choice`` is the reply."""
CALLS = ("tool_calls", "function_call")
PROMPT, COMPLETION = "gen_ai.content.prompt", "gen_ai.content.completion"
PROMPT_KEY, COMPLETION_KEY = "gen_ai.prompt", "gen_ai.completion"


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What a span's events say together."""

    system_prompt: str = ""
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    finish_reason: str = ""


def spoken(name: str, body: AttributeValue) -> tuple[Message, ...]:
    """Read the message of one legacy event; the body is the log's, or the event's attributes."""
    role = SPOKEN[name]
    found = decoded(body)
    if not isinstance(found, dict):
        return reply(body) if role == "assistant" else normal({"role": role, "content": found})
    inner = found.get("message")
    if isinstance(inner, dict):
        # OpenLLMetry tells the calls beside the message.
        found = {key: found[key] for key in CALLS if key in found} | inner
    elif inner is not None:
        found = {**found, "content": inner}
    if not isinstance(found.get("role"), str):
        found = {**found, "role": role}
    return normal(found, role, encoded=True)


def offered_in(body: AttributeValue, memory: Memory) -> tuple[ToolDefinition, ...]:
    """Return the tools of OpenLLMetry's event in whose content they stand, and nothing else."""
    found = decoded(body)
    content = found.get("content") if isinstance(found, dict) else None
    offers = isinstance(content, dict) and content.keys() == {"tools"}
    return definitions(offered(content), memory) if offers else ()


def heard(events: Iterable[tuple[str, Attributes]]) -> Heard:
    """Put the legacy and oldest events of one span together, in their order."""
    system: list[str] = []
    given: list[Message] = []
    output: list[Message] = []
    finish = ""
    for name, attributes in events:
        if name == CHOICE:
            output.extend(m for m in spoken(name, _body(attributes)) if m.role == "assistant")
            finish = finish or plain(attributes.get("finish_reason"))
        elif name in SPOKEN:
            for message in spoken(name, _body(attributes)):
                if message.role == "system":
                    system.append(message.text)
                else:
                    given.append(message)
        elif name == PROMPT:
            for message in reply_to(attributes.get(PROMPT_KEY), "user"):
                if message.role == "system":
                    system.append(message.text)
                else:
                    given.append(message)
        elif name == COMPLETION:
            output.extend(reply(attributes.get(COMPLETION_KEY)))
    return Heard(
        system_prompt="\n\n".join(system),
        input=tuple(given),
        output=tuple(output),
        finish_reason=finish,
    )


def reply_to(value: AttributeValue, role: MessageRole) -> tuple[Message, ...]:
    """Read a prompt that is a JSON list of messages, or plain text."""
    written = transcript(value)
    found: JsonValue = as_json(written) if written else decoded(value)
    if isinstance(found, str):
        found = mended(found) or found
    if isinstance(found, list):
        return tuple(message for item in found for message in normal(item, role))
    if isinstance(found, dict):
        return normal(found, role)
    return normal(plain(value), role) if plain(value) else ()


def instructions(value: AttributeValue, memory: Memory) -> str:
    """Read system instructions as an event or an attribute holds them."""
    return "" if value is None else system_text(value, memory)


def _body(attributes: Attributes) -> AttributeValue:
    body = attributes.get("gen_ai.event.content")
    return attributes if body is None else body
