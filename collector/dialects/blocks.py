"""Read the blocks that a message's content is made of, in every provider's shape.

OTel parts, Anthropic and OpenAI blocks, Bedrock Converse blocks, Vercel parts and Google
parts say the same three things: text, a tool call, a tool result. Reasoning is dropped.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from collector.dialects.attributes import MASKS, Keys, decoded
from collector.model import JsonValue, Message, ToolRequest

Block: TypeAlias = "dict[str, JsonValue]"
Kind = Literal["text", "request", "result", "drop"]

KINDS: dict[str, Kind] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "text",
    "tool_call": "request",
    "tool_use": "request",
    "tool-call": "request",
    "function_call": "request",
    "function": "request",
    "server_tool_call": "request",
    "server_tool_use": "request",
    "mcp_tool_use": "request",
    "tool_call_response": "result",
    "tool_result": "result",
    "tool-result": "result",
    "function_call_output": "result",
    "server_tool_call_response": "result",
    "mcp_tool_result": "result",
}
"""By the block's ``type``; every other type (reasoning, blob, file, ...) is dropped."""

UNTYPED: dict[str, Kind] = {
    "toolUse": "request",
    "functionCall": "request",
    "function_call": "request",
    "toolResult": "result",
    "functionResponse": "result",
    "function_response": "result",
    "text": "text",
}
"""By the key that is there, for the shapes that have no ``type``."""

TEXT: Keys = ("content", "text", "refusal")
ID: Keys = ("call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")
NAME: Keys = ("name", "toolName", "tool_name")
ARGUMENTS: Keys = ("arguments", "input", "args", "server_tool_call")
RESULT: Keys = (
    "response",
    "result",
    "output",
    "content",
    "server_tool_call_response",
)
NESTED: Keys = ("tool_call", "toolUse", "functionCall", "function_call", "function")
NESTED_RESULT: Keys = ("toolResult", "functionResponse", "function_response")
IS_ERROR: Keys = ("is_error", "isError")
STATUS_IS_ERROR = {"error": True, "failed": True, "success": False, "completed": False}


class Draft:
    """What the blocks of one message have said so far."""

    __slots__ = ("dropped", "requests", "results", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.requests: list[ToolRequest] = []
        self.results: list[Message] = []
        self.dropped = False
        """Whether something was there that is not ours to keep: reasoning, or a mask."""

    def say(self, text: str) -> None:
        """Add text, unless it is a mask."""
        if text in MASKS:
            self.dropped = True
        elif text:
            self.texts.append(text)

    def add(self, block: JsonValue) -> None:
        """Add one block of content."""
        if isinstance(block, str):
            self.say(block)
        elif isinstance(block, dict):
            kind = kind_of(block)
            if kind == "text":
                self.say(string(block, TEXT))
            elif kind == "request":
                self.ask(block)
            elif kind == "result":
                self.answer(block)
            else:
                self.dropped = True

    def ask(self, block: JsonValue) -> None:
        """Add a tool call, unless the same call is there already."""
        request = request_of(block)
        if request is not None and not (
            request.id and any(request.id == known.id for known in self.requests)
        ):
            self.requests.append(request)

    def answer(self, block: Block) -> None:
        """Add a tool result; a masked one is dropped."""
        for key in NESTED_RESULT:
            inner = block.get(key)
            if isinstance(inner, dict):
                block = block | inner
        value = next((block[key] for key in RESULT if block.get(key) is not None), None)
        result, failed = unwrapped(value)
        if result in MASKS:
            self.dropped = True
            return
        self.results.append(
            Message(
                role="tool",
                text=result,
                tool_call_id=string(block, ID),
                tool_name=string(block, NAME),
                is_error=True if failed else error_flag(block),
            )
        )


def kind_of(block: Block) -> Kind:
    """Tell what a block is."""
    kind = block.get("type")
    if isinstance(kind, str):
        known = KINDS.get(kind)
        if known is not None:
            return known
        return "result" if kind.endswith("_tool_result") else "drop"
    return next((kind for key, kind in UNTYPED.items() if key in block), "drop")


def is_blocks(value: JsonValue) -> bool:
    """Tell whether a list is made of content blocks and nothing else."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict)
            and (isinstance(item.get("type"), str) or any(key in item for key in UNTYPED))
            for item in value
        )
    )


def request_of(block: JsonValue) -> ToolRequest | None:
    """Read a tool call; ``None`` when it names no tool."""
    if not isinstance(block, dict):
        return None
    for key in NESTED:
        inner = block.get(key)
        if isinstance(inner, dict):
            block = block | inner
    name = string(block, NAME)
    if not name:
        return None
    value = next((block[key] for key in ARGUMENTS if key in block), None)
    return ToolRequest(id=string(block, ID), name=name, arguments=arguments_of(value))


def arguments_of(value: JsonValue) -> JsonValue:
    """Parse a tool's arguments: the raw text when it is not JSON, nothing when it is masked."""
    if not isinstance(value, str):
        return value
    if value in MASKS:
        return None
    return decoded(value) if value.strip() else {}


def result_text(value: JsonValue) -> str:
    """Write a tool's result as text: text blocks joined, anything else as compact JSON."""
    return unwrapped(value)[0]


def unwrapped(value: JsonValue) -> tuple[str, bool]:
    """Write a result as text, and tell whether its wrapper says that the call failed."""
    failed = False
    if isinstance(value, dict) and isinstance(value.get("type"), str) and "value" in value:
        failed = str(value["type"]).startswith("error")
        value = value["value"]
    if isinstance(value, str):
        if not value.startswith("[{"):
            return value, failed
        inner = decoded(value)
        return (_joined(inner) if _is_text(inner) else value), failed
    if value is None:
        return "", failed
    if _is_text(value):
        return _joined(value), failed
    return msgspec.json.encode(value).decode(), failed


def error_flag(block: Block) -> bool | None:
    """Return the producer's own error flag, as a boolean or as a status."""
    for key in IS_ERROR:
        flag = block.get(key)
        if isinstance(flag, bool):
            return flag
    status = block.get("status")
    return STATUS_IS_ERROR.get(status) if isinstance(status, str) else None


def string(block: Block, keys: Keys) -> str:
    """Return the first value that is text and not empty."""
    for key in keys:
        value = block.get(key)
        if value and isinstance(value, str):
            return value
    return ""


def _is_text(value: JsonValue) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and kind_of(item) == "text" for item in value)
    )


def _joined(value: JsonValue) -> str:
    items = value if isinstance(value, list) else []
    return "\n".join(string(item, TEXT) for item in items if isinstance(item, dict))
