"""Bring message lists of every shape into the normal form of ``collector.model.Message``.

One tool result a message, an assistant's text and tool calls together, reasoning dropped. A
list that was cut short is read as far as it goes.
"""

from __future__ import annotations

from typing import TypeGuard

import msgspec

from collector.dialects.attributes import MASKS, decoded
from collector.dialects.blocks import (
    NAME,
    Draft,
    error_flag,
    id_of,
    is_blocks,
    kind_of,
    result_text,
    string,
)
from collector.dialects.bodies import answered, asked, definition_in, is_message, spoken
from collector.dialects.interning import Memory
from collector.dialects.media import without_media
from collector.dialects.mending import mended
from collector.model import JsonValue, Message, MessageRole
from collector.telemetry import AttributeValue

ROLES: dict[str, MessageRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_call_output": "tool",
    "function_call": "assistant",
    "tool-call": "assistant",
    "tool-response": "tool",
    "tool_response": "tool",
    "chatbot": "assistant",
    "systemmessage": "system",
    "humanmessage": "user",
    "humanmessagechunk": "user",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "toolmessage": "tool",
    "functionmessage": "tool",
}
TYPED_SPEAKERS = ROLES.keys() - {"function", "function_call", "function_call_output"}
"""Types of messages that are not types of blocks too."""
CONTENT = ("parts", "content", "contents", "blocks")
"""Where a message keeps its blocks: OTel and Google, the providers, OpenInference, LlamaIndex."""
REFUSAL = ("refusal",)
"""Where OpenAI's chat API says it, in place of content."""
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
SERIALISED = ("kwargs", "data")
"""Where LangChain's serialised messages keep the message."""
WRAPPERS = (*SERIALISED, "message")
"""Where these and choices keep it."""


def history(value: AttributeValue, memory: Memory) -> tuple[Message, ...]:
    """Read the messages a call was given; those seen before are not parsed again."""
    if isinstance(value, str):
        return _history(value, memory)
    if isinstance(value, list):
        return _remembered([msgspec.json.encode(item) for item in value], memory)
    return _one(value, "user")


def _history(text: str, memory: Memory) -> tuple[Message, ...]:
    before, rest = memory.histories.split(text)
    try:
        slices = _ARRAY.decode(rest)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _one(text, "user")
    if before is None:
        messages = _remembered([bytes(part) for part in slices], memory)
    elif slices:
        messages = before + _remembered([bytes(part) for part in slices], memory)
    else:
        return _one(text, "user")
    if slices:
        memory.histories.keep(text, messages)
    return messages


def _remembered(keys: list[bytes], memory: Memory) -> tuple[Message, ...]:
    table = memory.messages
    messages: list[Message] = []
    for key in keys:
        known = table.young.get(key) or table.get(key, len(key))
        if known is None:
            known = _parsed(key)
            table.put(key, known, len(key))
        messages += known
    return tuple(messages)


def reply(value: AttributeValue) -> tuple[Message, ...]:
    """Read the messages a call returned."""
    found = decoded(value)
    if not isinstance(found, list):
        return _one(value, "assistant")
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if len(found) == 1 and isinstance(found[0], dict) and found[0].get("object") == "response":
        found = answered(found[0]) or found
    return _all(found, "assistant")


def system_text(value: AttributeValue, memory: Memory) -> str:
    """Read system instructions: text, or a list of parts."""
    if not isinstance(value, str):
        return _joined_parts(decoded(value))
    if value[:1] not in {"[", "{"}:
        return "" if value in MASKS else value
    known = memory.prompts.get(value, len(value))
    if known is None:
        known = _joined_parts(decoded(value))
        memory.prompts.put(value, known, len(value))
    return known


def _joined_parts(found: JsonValue) -> str:
    draft = Draft()
    if isinstance(found, str):
        found = mended(found) or found
    for block in found if isinstance(found, list) else [found]:
        draft.add(block["content"] if _holds(block) else block)
    return "\n".join(draft.texts)


def _holds(block: JsonValue) -> TypeGuard[dict[str, JsonValue]]:
    """Tell whether an instruction is a whole message with its text inside."""
    return isinstance(block, dict) and "type" not in block and isinstance(block.get("content"), str)


def split_system(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """Take the system messages out of a history."""
    for message in messages:
        if message.role == "system":
            break
    else:
        return "", messages
    system = [message.text for message in messages if message.role == "system"]
    return "\n\n".join(system), tuple(m for m in messages if m.role != "system")


def normal(
    message: JsonValue, default: MessageRole = "user", *, encoded: bool = False
) -> tuple[Message, ...]:
    """Bring one message into normal form; a user's tool results become tool messages.

    ``default`` is the role of a message that names none. ``encoded`` says that content may
    be a JSON text of blocks, as in flattened conventions.
    """
    if isinstance(message, str):
        message = spoken(message)
    if not isinstance(message, dict):
        return _said(default, message) if isinstance(message, str) else ()
    if definition_in(message) is not None:
        return ()
    message = _opened(message)
    spoken_role = message.get("role") or message.get("type")
    role = ROLES.get(spoken_role.lower(), default) if isinstance(spoken_role, str) else default
    draft = Draft()
    if _is_item(message):
        draft.add(message)
        role = "tool" if draft.results and not draft.requests else role
    else:
        _read_content(message, role, draft, encoded=encoded)
    if not draft.texts:
        draft.say(string(message, REFUSAL))
    requests = message.get("tool_calls")
    for request in requests if isinstance(requests, list) else ():
        draft.ask(decoded(request))
    if isinstance(message.get("function_call"), dict):
        draft.ask(message["function_call"])
    if not draft.requests:
        _read_extra(message.get("additional_kwargs"), draft)
    return _emitted(role, draft, message)


def _is_item(message: dict[str, JsonValue]) -> bool:
    """Tell whether what stands in the place of a message is one block."""
    if "role" in message or not isinstance(message.get("type"), str):
        return False
    kind = kind_of(message)
    return kind not in {"unknown", "media"} and (message["type"] != "function" or "id" in message)


def _read_extra(extra: JsonValue, draft: Draft) -> None:
    """Read the calls that LangChain leaves in the provider's form."""
    if not isinstance(extra, dict):
        return
    requests = extra.get("tool_calls")
    for request in requests if isinstance(requests, list) else ():
        draft.ask(request)
    draft.ask(extra.get("function_call"))
    if not draft.texts:
        draft.say(string(extra, REFUSAL))


def _read_content(
    message: dict[str, JsonValue], role: MessageRole, draft: Draft, *, encoded: bool
) -> None:
    for key in CONTENT:
        content = message.get(key)
        if encoded and isinstance(content, str) and content.startswith("[{"):
            blocks = decoded(content)
            content = blocks if is_blocks(blocks) else content
        if isinstance(content, str):
            draft.say(content)
        elif role == "tool" and content is not None and not is_blocks(content):
            draft.say(result_text(content))
        elif isinstance(content, list):
            for block in content:
                draft.add(block)
        elif isinstance(content, dict):
            draft.add(content)
    if isinstance(message.get("text"), str) and not any(key in message for key in CONTENT):
        draft.say(string(message, ("text",)))


def _emitted(role: MessageRole, draft: Draft, message: dict[str, JsonValue]) -> tuple[Message, ...]:
    text = "\n".join(draft.texts)
    silent = not text and (draft.dropped or draft.results or _is_bare(message))
    if role == "tool" and draft.requests and not draft.results and not text:
        # Koog gives the call to the tool.
        role = "assistant"
    if role == "tool":
        if draft.results:
            return tuple(draft.results)
        if silent:
            return ()
        return (
            Message(
                role="tool",
                text=text,
                tool_call_id=id_of(message),
                tool_name=string(message, NAME),
                is_error=error_flag(message),
            ),
        )
    if role == "assistant" or draft.requests:
        said: tuple[Message, ...] = ()
        if not silent or draft.requests:
            said = (Message(role="assistant", text=text, tool_requests=tuple(draft.requests)),)
        return (*said, *draft.results)
    return (*draft.results, *(() if silent else _said(role, text)))


def _is_bare(message: dict[str, JsonValue]) -> bool:
    """Tell whether a message names its role and its content was not recorded."""
    return not any(key in message for key in (*CONTENT, "text", "tool_calls"))


def _opened(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Take LangChain's serialised messages, Google's responses and choices out of their wrapper."""
    inner = message.get("content")
    if isinstance(inner, dict) and "parts" in inner:
        return inner
    for key in WRAPPERS:
        inner = message.get(key)
        if isinstance(inner, dict) and not any(where in message for where in CONTENT):
            return inner if {"type", "role"} & inner.keys() else _typed(message) | inner
    return message


def _typed(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the type that the wrapper names: its own, or the class that LangChain serialised."""
    path = message.get("id")
    name = path[-1] if isinstance(path, list) and path else message.get("type")
    return {"type": name} if isinstance(name, str) else {}


def _one(value: AttributeValue, default: MessageRole) -> tuple[Message, ...]:
    found = decoded(value)
    if not found and found != value:
        return ()
    if isinstance(found, str):
        left = mended(found)
        found = found if left is None else left
    if isinstance(found, dict):
        items = asked(found) if default == "user" else answered(found)
        if items is None and is_message(found):
            items = [found]
        if items is not None:
            return _all(items, default)
    elif isinstance(found, list):
        return _all(found, default)
    elif isinstance(found, str) and isinstance(value, str):
        # Text that was written as JSON stands in quotes.
        value = found
    if isinstance(value, str) and value and value not in MASKS:
        return _said(default, value)
    if isinstance(found, dict):
        return _said(default, msgspec.json.encode(found).decode())
    return ()


def _all(items: list[JsonValue], default: MessageRole) -> tuple[Message, ...]:
    if default == "assistant" and is_blocks(items) and not any(map(_is_spoken, items)):
        return normal({"role": "assistant", "content": items})
    return tuple(message for item in items for message in normal(item, default))


def _is_spoken(item: JsonValue) -> bool:
    """Tell a message from a block: it names who speaks, LangChain's as its type or inside."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    return (
        "role" in item
        or "tool_calls" in item
        or (isinstance(kind, str) and kind.lower() in TYPED_SPEAKERS)
        or any(isinstance(item.get(key), dict) for key in SERIALISED)
    )


def _parsed(key: bytes) -> tuple[Message, ...]:
    found = decoded(key.decode())
    if isinstance(found, list):
        return tuple(message for item in found for message in normal(item))
    return normal(found)


def _said(role: MessageRole, text: str) -> tuple[Message, ...]:
    return () if text in MASKS else (Message(role=role, text=without_media(text)),)
