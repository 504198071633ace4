"""Read tool definitions in the shapes that conventions and providers give them."""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, Value, decoded
from collector.dialects.blocks import string
from collector.dialects.interning import Memory
from collector.model import JsonValue, ToolDefinition

WRAPPERS: Keys = ("function", "toolSpec", "tool")
"""OpenAI's nested form, Bedrock's, OpenInference's."""
LISTS: Keys = ("function_declarations", "functionDeclarations", "function_tools", "tools")
PARAMETERS: Keys = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "json_schema",
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
    several = next((item[key] for key in LISTS if isinstance(item.get(key), list)), None)
    if several is not None:
        return _read(several)
    schema = item.get("json_schema")
    if isinstance(schema, (str, dict)) and not isinstance(item.get("name"), str):
        opened = decoded(schema)
        item = opened if isinstance(opened, dict) else item
    for key in WRAPPERS:
        inner = item.get(key)
        if isinstance(inner, dict):
            item = item | inner
    name = string(item, ("name",))
    if not name:
        return ()
    return (
        ToolDefinition(
            name=name,
            description=string(item, ("description",)),
            parameters=_parameters(item),
            read_only=_hint(item, "readOnlyHint"),
            destructive=_hint(item, "destructiveHint"),
        ),
    )


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
