"""Put the content that Langfuse took out of a span's attributes back where it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.dialects.attributes import decoded, grouped, unflattened
from collector.telemetry import Attributes
from collector.transcript_formats.span_fields import as_text, listing, mapping, parsed

OTEL_MARKS = ("gen_ai.", "openinference.", "llm.", "ai.", "traceloop.")
"""How the attributes of instrumentations begin that have a dialect of their own."""
OPENINFERENCE = "openinference.span.kind"
FLATTENED = ("gen_ai.prompt.0.", "gen_ai.completion.0.")
"""Content that Langfuse copies but leaves in its place."""
TOOLS = ("gen_ai.tool.definitions", "llm.tools", "tools")
PARAMETERS = "model_request_parameters"
TOOL_SCHEMAS = "llm.tools."
FUNCTIONS = "llm.request.functions."


def restored(kind: str, kept: Attributes, given: Any, returned: Any) -> Attributes | None:
    """Return the attributes as the instrumentation sent them; ``None`` where that is unknown."""
    if OPENINFERENCE in kept:
        found = _with(kept, {"input.value": given, "output.value": returned})
    elif kind == "TOOL" or "gen_ai.tool.name" in kept:
        names = {"gen_ai.tool.call.arguments": given, "gen_ai.tool.call.result": returned}
        found = kept if "input.value" in kept or "output.value" in kept else _with(kept, names)
        if not {"gen_ai.operation.name", "gen_ai.tool.name"} & found.keys():
            return None
    elif (given is None and returned is None) or any(k.startswith(FLATTENED) for k in kept):
        found = kept
    elif _is_otel(given) and _is_otel(returned) and "gen_ai.operation.name" in kept:
        names = {"gen_ai.input.messages": given, "gen_ai.output.messages": returned}
        found = _with(kept, names)
    else:
        return None
    return found


def with_tools(given: Any, row: Mapping[str, Any], kept: Attributes) -> Any:
    """Put the tools that a generation was offered beside its messages."""
    tools = _tools(row, kept)
    if not tools or (isinstance(given, dict) and given.get("tools")):
        return given
    if isinstance(given, dict):
        return {**given, "tools": tools}
    return given if given is None else {"messages": given, "tools": tools}


def _tools(row: Mapping[str, Any], kept: Attributes) -> list[Any]:
    said = parsed(row.get("toolDefinitions") or row.get("tool_definitions"))
    if isinstance(said, dict):
        # A map of names to what is said of each, mostly as JSON text.
        return [{"name": name, **mapping(inner)} for name, inner in said.items()]
    if isinstance(said, list) and said:
        return [parsed(tool) for tool in said]
    for key in TOOLS:
        found = listing(kept.get(key))
        if found:
            return found
    parameters = mapping(kept.get(PARAMETERS))
    found = [*listing(parameters.get("function_tools")), *listing(parameters.get("output_tools"))]
    groups = grouped(kept)
    for stem in (TOOL_SCHEMAS, FUNCTIONS):
        for group in groups.get(stem, ()):
            tool = unflattened(group)
            inner = mapping(tool.get("tool"))
            found.append(decoded(inner.get("json_schema")) or tool)
    return found


def _with(kept: Attributes, content: Mapping[str, Any]) -> Attributes:
    more: Attributes = {
        key: as_text(value)
        for key, value in content.items()
        if value is not None and key not in kept
    }
    return kept | more


def _is_otel(messages: Any) -> bool:
    """Tell OTel's messages, which have parts; nothing at all is no contradiction."""
    if messages is None:
        return True
    return isinstance(messages, list) and all(
        isinstance(message, dict) and "parts" in message for message in messages
    )
