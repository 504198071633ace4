"""Put the content that Langfuse took out of a span's attributes back where it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.dialects.attributes import decoded, grouped, unflattened
from collector.telemetry import Attributes
from collector.transcript_formats.span_fields import as_text, first, listing, mapping, parsed, word

OTEL_MARKS = ("gen_ai.", "openinference.", "llm.", "ai.", "traceloop.")
"""How the attributes of instrumentations begin that have a dialect of their own."""
OPENINFERENCE = "openinference.span.kind"
VERCEL = "ai.operationId"
TRACELOOP = "traceloop.span.kind"
OPERATION = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
NAMES = ("tool.name", "ai.toolCall.name", "traceloop.entity.name", "mcp.tool.name", "tool_name")
IDS = ("tool.id", "tool_call.id", "ai.toolCall.id", "tool_call_id")
FLATTENED = ("gen_ai.prompt.0.", "gen_ai.completion.0.")
"""Content that Langfuse copies but leaves in its place."""
TOOLS = ("gen_ai.tool.definitions", "ai.prompt.tools", "llm.tools", "tools")
PARAMETERS = "model_request_parameters"
TOOL_SCHEMAS = "llm.tools."
FUNCTIONS = "llm.request.functions."


def restored(kind: str, kept: Attributes, given: Any, returned: Any) -> Attributes | None:
    """Return the attributes as the instrumentation sent them; ``None`` where that is unknown."""
    if OPENINFERENCE in kept:
        return _with(kept, {"input.value": given, "output.value": returned})
    if VERCEL in kept:
        return _vercel(kept, given, returned)
    if TRACELOOP in kept:
        return _with(kept, {"traceloop.entity.input": given, "traceloop.entity.output": returned})
    return _otel(kind, kept, given, returned)


def _otel(kind: str, kept: Attributes, given: Any, returned: Any) -> Attributes | None:
    if kind == "TOOL" or TOOL_NAME in kept:
        names = {"gen_ai.tool.call.arguments": given, "gen_ai.tool.call.result": returned}
        found = kept if "input.value" in kept or "output.value" in kept else _with(kept, names)
        return found if {OPERATION, TOOL_NAME} & found.keys() else None
    if (given is None and returned is None) or any(k.startswith(FLATTENED) for k in kept):
        return kept
    if _is_otel(given) and _is_otel(returned) and OPERATION in kept:
        names = {"gen_ai.input.messages": given, "gen_ai.output.messages": returned}
        return _with(kept, names)
    return None


def tool_named(kept: Attributes) -> Attributes:
    """Say a tool's name and the id of its call as OTel does, whoever said it."""
    found: Attributes = {}
    for key, names in (("gen_ai.tool.name", NAMES), ("gen_ai.tool.call.id", IDS)):
        said = word(kept, *names)
        if said and key not in kept:
            found[key] = said
    return found


def _vercel(kept: Attributes, given: Any, returned: Any) -> Attributes:
    """Put back what the Vercel AI SDK calls prompt and response, or a tool's arguments and result."""
    if kept[VERCEL] == "ai.toolCall":
        return _with(kept, {"ai.toolCall.args": given, "ai.toolCall.result": returned})
    prompt = "ai.prompt.messages" if isinstance(given, list) else "ai.prompt"
    text, calls = returned, None
    if isinstance(returned, dict) and {"content", "text", "tool_calls"} & returned.keys():
        text = first(returned, "content", "text")
        calls = first(returned, "tool_calls", "toolCalls")
    elif isinstance(returned, list) and all(
        isinstance(call, dict) and "toolName" in call for call in returned
    ):
        text, calls = None, returned
    content = {prompt: given, "ai.response.text": text, "ai.response.toolCalls": calls}
    return _with(kept, {key: value for key, value in content.items() if value not in (None, "")})


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
            return [parsed(tool) for tool in found]
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
