"""Read what OpenLLMetry's LangChain package leaves as it was: blocks in text, replies in tasks.

It writes every block of a reply that it does not know as JSON text. Why the model stopped, and
what it spent on reasoning, only the task around the call tells, in LangChain's own message.
"""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, decoded, first
from collector.dialects.blocks import kind_of
from collector.dialects.bodies import told
from collector.dialects.messages import normal
from collector.model import JsonValue, Message
from collector.telemetry import Attributes, AttributeValue

SCOPE = "opentelemetry.instrumentation.langchain"
MESSAGES: Keys = ("gen_ai.input.messages", "gen_ai.output.messages")
OUTPUT: Keys = ("traceloop.entity.output", "gen_ai.task.output")
AS_TEXT = ('"content": "{', '\\"type\\": \\"')
"""What stands in every text that holds such a block."""
METADATA = '"response_metadata"'


def opened(attributes: Attributes) -> Attributes:
    """Return the attributes with blocks in place of the texts that hold them."""
    found: Attributes = {
        key: msgspec.json.encode([_message(message) for message in messages]).decode()
        for key in MESSAGES
        if isinstance(value := attributes.get(key), str)
        and all(mark in value for mark in AS_TEXT)
        and isinstance(messages := decoded(value), list)
    }
    return attributes | found if found else attributes


def _message(message: JsonValue) -> JsonValue:
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(parts, list):
        return message
    return message | {"parts": [_part(part) for part in parts]}


def _part(part: JsonValue) -> JsonValue:
    text = part.get("content") if isinstance(part, dict) and part.get("type") == "text" else None
    block = decoded(text) if isinstance(text, str) and text.startswith("{") else None
    known = (
        isinstance(block, dict) and "type" in block and kind_of(block) not in ("unknown", "media")
    )
    return block if known else part


def told_by_task(attributes: Attributes) -> tuple[Attributes, tuple[Message, ...]]:
    """Return what a task says of the reply of the call in it, under OTel's keys, and the reply."""
    value = first(attributes, OUTPUT)
    message = _last_message(value) if isinstance(value, str) and METADATA in value else None
    if message is None:
        return {}, ()
    return told(message), normal(message, "assistant")


def _last_message(value: AttributeValue) -> dict[str, JsonValue] | None:
    """Return LangChain's last message of a state, or of an update of a graph's state."""
    found: JsonValue = decoded(value)
    for key in ("outputs", "update", "messages"):
        if isinstance(found, list) and found:
            found = found[-1]
        if isinstance(found, dict) and key in found:
            found = found[key]
    if isinstance(found, list) and found:
        found = found[-1]
    return found if isinstance(found, dict) else None
