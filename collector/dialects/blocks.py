"""Read the blocks that a message's content is made of, in every provider's shape.

OTel parts, Anthropic and OpenAI blocks, Bedrock Converse blocks, Vercel parts and Google
parts say the same three things: text, a tool call, a tool result. Images, audio and files
become a line of text with their digest. Reasoning is dropped.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from collector.dialects.attributes import MASKS, Keys, decoded, plain
from collector.dialects.media import MARKS, is_media, placeholder, without_media
from collector.model import JsonValue, Message, ToolRequest

Block: TypeAlias = "dict[str, JsonValue]"
Kind = Literal["text", "request", "result", "both", "media", "drop", "unknown"]

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
    "custom_tool_call": "request",
    "toolCall": "request",
    "functionCall": "request",
    "tool_call_response": "result",
    "tool_result": "result",
    "tool-result": "result",
    "function_call_output": "result",
    "server_tool_call_response": "result",
    "mcp_tool_result": "result",
    "custom_tool_call_output": "result",
    "computer_call_output": "result",
    "local_shell_call_output": "result",
    "shell_call_output": "result",
    "function_result": "result",
    "function_response": "result",
    "tool_response": "result",
    "tool-response": "result",
    "toolResult": "result",
    "reasoning": "drop",
    "thinking": "drop",
    "redacted_thinking": "drop",
    "reasoning_content": "drop",
    "reasoning_summary": "drop",
    "compaction": "drop",
    "item_reference": "drop",
    "step-start": "drop",
    "cachePoint": "drop",
}
"""By the block's ``type``; media and calls that the provider serves itself are told by the name."""

UNTYPED: dict[str, Kind] = {
    "toolUse": "request",
    "functionCall": "request",
    "function_call": "request",
    "toolResult": "result",
    "functionResponse": "result",
    "function_response": "result",
    "executableCode": "request",
    "executable_code": "request",
    "codeExecutionResult": "result",
    "code_execution_result": "result",
    "tool_call": "request",
    "tool_call_result": "result",
    "text": "text",
    "reasoningContent": "drop",
    "cachePoint": "drop",
    "guardContent": "text",
}
"""By the key that is there, for the shapes that have no ``type``."""

TEXT: Keys = ("content", "text", "refusal", "value")
ID: Keys = ("call_id", "callId", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")
NAME: Keys = ("name", "toolName", "tool_name")
SERVER_CALL = "server_tool_call"
ARGUMENTS: Keys = ("arguments", "input", "args", "parameters", SERVER_CALL)
RESULT: Keys = (
    "response",
    "result",
    "output",
    "content",
    "server_tool_call_response",
)
NESTED: Keys = (
    "tool_call",
    "toolUse",
    "functionCall",
    "function_call",
    "function",
    "executableCode",
    "executable_code",
)
NESTED_RESULT: Keys = (
    "toolResult",
    "functionResponse",
    "function_response",
    "codeExecutionResult",
    "code_execution_result",
    "tool_call_result",
)
ORIGIN = "origin"
"""Where Haystack's results keep the call that they answer."""
SERVED = "_call"
"""What the types of calls end in that OpenAI serves itself: ``web_search_call``, ``mcp_call``."""
SERVED_ARGUMENTS: Keys = ("arguments", "action", "queries", "query", "code", "prompt")
SERVED_RESULT: Keys = ("output", "results", "outputs", "result")
CODE = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")
CODE_TOOL = "code_execution"
IS_ERROR: Keys = ("is_error", "isError", "error")
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
            self.texts.append(without_media(text))

    def add(self, block: JsonValue) -> None:
        """Add one block of content."""
        if isinstance(block, str):
            self.say(block)
        elif isinstance(block, dict):
            kind = kind_of(block)
            if kind == "text":
                self.say(string(_guarded(block), TEXT))
            elif kind == "request":
                self.ask(block)
                served = block.get(SERVER_CALL)
                if isinstance(served, dict) and served.get("output") is not None:
                    self.answer({"id": id_of(block), "output": served["output"]})
            elif kind == "result":
                self.answer(block)
            elif kind == "both":
                self._serve(block)
            elif kind == "media":
                self._show(block)
            elif kind == "unknown" and string(block, TEXT):
                self.say(string(block, TEXT))
            else:
                self.dropped = True

    def ask(self, block: JsonValue) -> None:
        """Add a tool call, unless the same call is there already."""
        request = request_of(block)
        if request is not None and not (
            request.id and any(request.id == known.id for known in self.requests)
        ):
            self.requests.append(request)

    def _show(self, block: Block) -> None:
        """Add the words of a document that is text, else a line that stands for the content."""
        source = block.get("source")
        inner = source if isinstance(source, dict) else block
        if string(inner, ("type",)) == "text" and string(inner, ("data",)):
            self.say(string(inner, ("data",)))
            return
        content = inner.get("content")
        if not isinstance(content, list):
            self.say(string(block, ("transcript",)) or placeholder(block))
            return
        for part in content:
            self.add(part)

    def _serve(self, block: Block) -> None:
        """Add a call that the provider served itself, with its result where that is there."""
        kind = string(block, ("type",))
        name = string(block, NAME) or kind.removesuffix(SERVED)
        given = next((block[key] for key in SERVED_ARGUMENTS if block.get(key) is not None), None)
        self.ask({"id": string(block, ID), "name": name, "arguments": given})
        value = next((block[key] for key in SERVED_RESULT if block.get(key) is not None), None)
        if value is not None or block.get("error") is not None:
            self.answer(
                {
                    "id": string(block, ID),
                    "name": name,
                    "output": block.get("error") if value is None else value,
                    "is_error": block.get("error") is not None or None,
                }
            )

    def answer(self, block: Block) -> None:
        """Add a tool result; a masked one is dropped."""
        for key in NESTED_RESULT:
            inner = block.get(key)
            if isinstance(inner, dict):
                block = {"name": CODE_TOOL} | block | inner if key in CODE else block | inner
        origin = block.get(ORIGIN)
        block = origin | block if isinstance(origin, dict) else block
        value = next((block[key] for key in RESULT if block.get(key) is not None), None)
        result, failed = unwrapped(value)
        if result in MASKS:
            self.dropped = True
            return
        self.results.append(
            Message(
                role="tool",
                text=result,
                tool_call_id=id_of(block),
                tool_name=string(block, NAME),
                is_error=True if failed else error_flag(block),
            )
        )


def _guarded(block: Block) -> Block:
    """Open what Bedrock's guardrail is to look at: it is what the user said."""
    for key in ("guardContent", "text"):
        inner = block.get(key)
        block = inner if isinstance(inner, dict) else block
    return block


def kind_of(block: Block) -> Kind:
    """Tell what a block is."""
    kind = block.get("type")
    if isinstance(kind, str):
        known = KINDS.get(kind)
        if known is not None:
            return known
        if is_media(kind):
            return "media"
        if kind.endswith("_tool_result"):
            return "result"
        return "both" if kind.endswith(SERVED) else "unknown"
    known = next((kind for key, kind in UNTYPED.items() if key in block), None)
    return known or ("unknown" if MARKS.isdisjoint(block) else "media")


def is_blocks(value: JsonValue) -> bool:
    """Tell whether a list is made of content blocks and nothing else."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict)
            and (
                isinstance(item.get("type"), str)
                or any(key in item for key in UNTYPED)
                or (len(item) == 1 and not MARKS.isdisjoint(item))
            )
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
            block = {"name": CODE_TOOL, "args": inner} if key in CODE else block | inner
    name = string(block, NAME)
    if not name:
        return None
    value = next((block[key] for key in ARGUMENTS if key in block), None)
    served = block.get(SERVER_CALL)
    if value is served and isinstance(served, dict):
        value = next((served[key] for key in ARGUMENTS if key in served), _untyped(served))
    return ToolRequest(id=id_of(block), name=name, arguments=arguments_of(value))


def _untyped(block: Block) -> Block:
    return {key: value for key, value in block.items() if key != "type"}


def id_of(block: Block) -> str:
    """Return the id of a call; where it is a path of ids, the last one is the call's own."""
    for key in ID:
        found = call_id(block.get(key))
        if found:
            return found
    return ""


def call_id(value: JsonValue) -> str:
    """Read a call's id: text, in quotes or not, or a list whose last item is the call's own."""
    if isinstance(value, str) and value.startswith(('["', '"')):
        value = decoded(value)
    if isinstance(value, list):
        value = value[-1] if value else None
    return plain(value)


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
            return without_media(value), failed
        inner = decoded(value)
        return (_joined(inner) if _is_text(inner) else without_media(value)), failed
    if value is None:
        return "", failed
    if _is_text(value):
        return _joined(value), failed
    return without_media(msgspec.json.encode(value).decode()), failed


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
        and all(isinstance(item, dict) and kind_of(item) in {"text", "media"} for item in value)
    )


def _joined(value: JsonValue) -> str:
    items = value if isinstance(value, list) else []
    return "\n".join(
        placeholder(item) if kind_of(item) == "media" else without_media(string(item, TEXT))
        for item in items
        if isinstance(item, dict)
    )
