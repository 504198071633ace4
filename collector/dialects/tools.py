"""Read tool definitions in the shapes that conventions and providers give them."""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, Value, decoded
from collector.dialects.blocks import string
from collector.dialects.interning import Memory
from collector.model import JsonValue, ToolDefinition

WRAPPERS: Keys = ("function", "toolSpec", "tool", "data")
"""OpenAI's nested form, Bedrock's, OpenInference's, Haystack's."""
LISTS: Keys = (
    "function_declarations",
    "functionDeclarations",
    "function_tools",
    "builtin_tools",
    "native_tools",
    "output_tools",
    "tools",
)
PREFIXES: Keys = (
    "execute_tool ",
    "running tool: ",
    "running tool ",
    "tools/call ",
    "call_tool ",
    "Function: ",
    "MCP tool: ",
    "tool: ",
    "tool.",
)
"""What frameworks write before a tool's name in a span's."""
NAMELESS = frozenset(("function", "object", "array", "string", "custom", "json_schema"))
"""Types that are no tool's name."""
PARAMETERS: Keys = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "parametersJsonSchema",
    "json_schema",
    "schema",
    "args_schema",
)


def definitions(value: Value, memory: Memory) -> tuple[ToolDefinition, ...]:
    """Read a list of tool definitions; a list seen before is not parsed again."""
    if not value:
        return ()
    key = value if isinstance(value, str) else msgspec.json.encode(value)
    known = memory.tools.get(key, len(key))
    if known is None:
        known = _read(decoded(value))
        memory.tools.put(key, known, len(key))
    return known


def bare_name(span_name: str) -> str:
    """Return a tool's name out of a span's name, without the words around it."""
    for prefix in PREFIXES:
        if span_name.startswith(prefix):
            return span_name.removeprefix(prefix)
    return span_name.removesuffix(".tool")


def _read(value: JsonValue) -> tuple[ToolDefinition, ...]:
    found: dict[str, ToolDefinition] = {}
    for item in value if isinstance(value, list) else [value]:
        for definition in _definition(item):
            known = found.get(definition.name)
            if known is None or known.parameters is None:
                found[definition.name] = definition
    return tuple(found.values())


def _definition(item: JsonValue) -> tuple[ToolDefinition, ...]:
    if isinstance(item, str):
        inner = decoded(item) if item.startswith("{") else item
        if isinstance(inner, str):
            return (ToolDefinition(name=inner),) if inner else ()
        item = inner
    if not isinstance(item, dict):
        return ()
    several = [inner for key in LISTS if isinstance(inner := item.get(key), list)]
    if several:
        return _read([tool for inner in several for tool in inner])
    schema = item.get("json_schema")
    if isinstance(schema, (str, dict)) and not isinstance(item.get("name"), str):
        opened = decoded(schema)
        item = opened if isinstance(opened, dict) else item
    for key in WRAPPERS:
        inner = item.get(key)
        if isinstance(inner, dict):
            item = item | inner
    # A tool that the provider serves has a type and often no name.
    name = string(item, ("name", "tool.name")) or _served(item)
    if not name:
        return ()
    return (
        ToolDefinition(
            name=name,
            description=string(item, ("description", "tool.description")),
            parameters=_parameters(item),
            read_only=_hint(item, "readOnlyHint"),
            destructive=_hint(item, "destructiveHint"),
        ),
    )


def _served(item: dict[str, JsonValue]) -> str:
    kind = string(item, ("type", "kind"))
    return "" if kind in NAMELESS else kind


def _parameters(item: dict[str, JsonValue]) -> JsonValue:
    for key in PARAMETERS:
        found = item.get(key)
        if isinstance(found, str):
            found = decoded(found)
        if isinstance(found, dict):
            wrapped = found.get("json")
            return wrapped if isinstance(wrapped, dict) else found
    return None


def _hint(item: dict[str, JsonValue], name: str) -> bool | None:
    for place in (item.get("annotations"), item):
        hint = place.get(name) if isinstance(place, dict) else None
        if isinstance(hint, bool):
            return hint
    return None
