"""Read what tool spans hold: arguments and results with whatever frameworks put around them."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.dialects.attributes import Value, decoded
from collector.dialects.blocks import arguments_of, call_id, error_flag, string
from collector.dialects.dialect import ToolUse
from collector.dialects.literals import literal
from collector.model import JsonValue, ToolRequest

CALLED = ("arguments", "tool_input", "toolInput", "tool_args", "args", "kwargs")
"""Where a record of a call keeps the arguments, beside the tool's name."""
NAMED = ("name", "tool_name", "toolName", "tool")
LANGCHAIN = "input_str"
IDS = ("tool_call_id", "tool_use_id", "toolCallId", "call_id")
RAW_OUTPUT = "raw_output"
"""What a result of LlamaIndex's tools has beside its text."""
WRAPPED = ("data", "kwargs", "output")
"""Where LangChain's serialised tool messages keep the message."""


def arguments_in(value: Value) -> JsonValue:
    """Return the arguments of a call as an object where they can be told."""
    given = arguments_of(decoded(value) if not isinstance(value, str) else value)
    if isinstance(given, str):
        given = _literal(given)
    if not isinstance(given, dict):
        return given
    if given.keys() == {"kwargs"} or ("kwargs" in given and "args" in given):
        return _called_with(given)
    if LANGCHAIN in given:
        inner = given.get("inputs")
        return inner if isinstance(inner, dict) and inner else _literal(given[LANGCHAIN])
    if any(isinstance(given.get(name), str) for name in NAMED) and len(given) <= 4:
        for key in CALLED:
            inner = given.get(key)
            inner = decoded(inner) if isinstance(inner, str) else inner
            if isinstance(inner, dict):
                return inner
    return given


def opened(use: ToolUse) -> ToolUse:
    """Take a result out of LangChain's tool message, Google's response or MCP's result."""
    found = decoded(use.result)
    if isinstance(found, str) and found != use.result:
        return msgspec.structs.replace(use, result=found)
    for key in WRAPPED:
        inner: Any = found.get(key) if isinstance(found, dict) else None
        if isinstance(inner, dict) and not inner.keys().isdisjoint(IDS):
            found = inner
    if not isinstance(found, dict):
        return use
    if not found.keys().isdisjoint(IDS):
        return _answered(use, found, found.get("content", found.get("output")))
    response = found.get("response")
    if isinstance(response, dict) and isinstance(found.get("name"), str):
        return _answered(use, found, response)
    is_llama = RAW_OUTPUT in found
    content = found.get("blocks" if is_llama and "blocks" in found else "content")
    if (is_llama or isinstance(content, list)) and isinstance(error_flag(found), bool):
        return msgspec.structs.replace(use, result=content, is_error=error_flag(found))
    return use


def _answered(use: ToolUse, message: dict[str, JsonValue], result: JsonValue) -> ToolUse:
    request = use.request
    if request is not None and not request.id:
        own = next(filter(None, (call_id(message.get(key)) for key in (*IDS, "id"))), "")
        request = ToolRequest(id=own, name=request.name, arguments=request.arguments)
    elif request is None and string(message, ("name",)):
        request = ToolRequest(name=string(message, ("name",)))
    flag = error_flag(message)
    return ToolUse(request=request, result=result, is_error=use.is_error if flag is None else flag)


def _called_with(entity: dict[str, JsonValue]) -> JsonValue:
    positional, named = entity.get("args"), entity.get("kwargs")
    if not positional:
        return named if isinstance(named, dict) else {}
    return {"args": positional, "kwargs": named} if named else positional


def _literal(text: JsonValue) -> JsonValue:
    """Read the ``repr`` of a dictionary; other text stays text."""
    if not isinstance(text, str) or not text.startswith("{'"):
        return text
    found = literal(text)
    return found if isinstance(found, dict) else text
