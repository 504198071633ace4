"""Bring message lists of every shape into the normal form of ``collector.model.Message``.

One tool result a message, an assistant's text and tool calls together, reasoning dropped.
"""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import MASKS, decoded
from collector.dialects.blocks import ID, NAME, Draft, error_flag, is_blocks, result_text, string
from collector.dialects.interning import Memory
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
}
CONTENT = ("parts", "content", "contents")
"""Where a message keeps its blocks: OTel and Google, the providers, OpenInference."""
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
LISTS = ("messages", "input", "contents")
"""Where a whole request keeps its messages."""


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
    if is_blocks(found) and not any(isinstance(i, dict) and "role" in i for i in found):
        return normal({"role": "assistant", "content": found})
    return tuple(message for item in found for message in normal(item, "assistant"))


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
    for block in found if isinstance(found, list) else [found]:
        draft.add(block)
    return "\n".join(draft.texts)


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
    if not isinstance(message, dict):
        return _said(default, message) if isinstance(message, str) else ()
    message = _opened(message)
    spoken = message.get("role") or message.get("type")
    role = ROLES.get(spoken.lower(), default) if isinstance(spoken, str) else default
    draft = Draft()
    if message.get("type") in ("function_call", "function_call_output"):
        draft.add(message)
    else:
        _read_content(message, role, draft, encoded=encoded)
    requests = message.get("tool_calls")
    for request in requests if isinstance(requests, list) else ():
        draft.ask(request)
    if isinstance(message.get("function_call"), dict):
        draft.ask(message["function_call"])
    return _emitted(role, draft, message)


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


def _emitted(role: MessageRole, draft: Draft, message: dict[str, JsonValue]) -> tuple[Message, ...]:
    text = "\n".join(draft.texts)
    silent = not text and (draft.dropped or draft.results)
    if role == "tool":
        if draft.results:
            return tuple(draft.results)
        if silent:
            return ()
        return (
            Message(
                role="tool",
                text=text,
                tool_call_id=string(message, ID),
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


def _opened(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Take LangChain's serialised messages, Google's responses and choices out of their wrapper."""
    inner = message.get("content")
    if isinstance(inner, dict) and "parts" in inner:
        return inner
    for key in ("kwargs", "data", "message"):
        inner = message.get(key)
        if isinstance(inner, dict) and not any(where in message for where in CONTENT):
            return inner
    return message


def _one(value: AttributeValue, default: MessageRole) -> tuple[Message, ...]:
    found = decoded(value)
    if not found and found != value:
        return ()
    if isinstance(found, dict):
        for key in LISTS:
            inner = found.get(key)
            if isinstance(inner, list):
                flat = inner[0] if len(inner) == 1 and isinstance(inner[0], list) else inner
                return tuple(message for item in flat for message in normal(item, default))
        if any(key in found for key in (*CONTENT, "role", "tool_calls", "message")):
            return normal(found, default)
    if isinstance(value, str) and value and value not in MASKS:
        return _said(default, value)
    return ()


def _parsed(key: bytes) -> tuple[Message, ...]:
    return normal(decoded(key.decode()))


def _said(role: MessageRole, text: str) -> tuple[Message, ...]:
    return () if text in MASKS else (Message(role=role, text=text),)
