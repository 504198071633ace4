"""Read spans of the Model Context Protocol: what client and server say of a tool's call.

The client's span nests in the agent's own tool span, the server's in the client's: the same
call, which the assembly counts once. Other methods say nothing of a conversation.
"""

from __future__ import annotations

import msgspec

from collector.dialects import otel_genai
from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.dialect import Dialect, Reading, ToolUse
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.tool_spans import arguments_in
from collector.dialects.tools import bare_name
from collector.model import Facts, JsonValue, ToolRequest
from collector.telemetry import Span

NAME = "mcp"
METHOD: Keys = ("mcp.method.name", "rpc.method", "mcp.method", "mcp.request.method")
CALL = "tools/call"
SYSTEM = "mcp"
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    tool_name=(
        "gen_ai.tool.name",
        "mcp.tool.name",
        "mcp.request.params.name",
        "fastmcp.component.name",
        "traceloop.entity.name",
    ),
    tool_arguments=(
        *otel_genai.NAMES.tool_arguments,
        "mcp.request.arguments",
        "mcp.tool.arguments",
        "mcp.request.params.arguments",
        "traceloop.entity.input",
        "request",
    ),
    tool_result=(
        *otel_genai.NAMES.tool_result,
        "mcp.response",
        "mcp.tool.result",
        "mcp.response.content",
        "traceloop.entity.output",
        "response",
    ),
)
PARAMS: Keys = ("params", "root")
"""Where a whole JSON-RPC request keeps name and arguments."""
FAILED = "tool_error"


def matches(span: Span) -> bool:
    """Tell by the method; the name of the RPC system tells where only that is there."""
    attributes = span.attributes
    return "mcp.method.name" in attributes or (
        attributes.get("rpc.system") in (SYSTEM, "jsonrpc") and bool(text(attributes, METHOD))
    )


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of either side."""
    del memory
    if text(span.attributes, METHOD) != CALL:
        return assembled(span, Reading(role="other"), NAMES, NAME)
    use = tool_use(span, NAMES, name=_named(span.name))
    return assembled(span, Reading(role="tool", tool=_opened(span, use)), NAMES, NAME)


def _named(span_name: str) -> str:
    """Return the tool's name from a span's, which often ends in method and tool."""
    _, found, rest = span_name.rpartition(f"{CALL} ")
    return rest if found else bare_name(span_name)


def _opened(span: Span, use: ToolUse) -> ToolUse:
    """Take name and arguments out of a whole request, and the flag out of a failed call."""
    request = use.request
    given = request.arguments if request is not None else None
    inner = _params(given)
    if request is not None and inner is not None:
        named = inner.get("name")
        request = ToolRequest(
            id=request.id,
            name=named if isinstance(named, str) and named else request.name,
            arguments=arguments_in(decoded(inner.get("arguments"))),
        )
    failed = first(span.attributes, ("error.type",)) == FAILED
    return ToolUse(request=request, result=use.result, is_error=True if failed else use.is_error)


def _params(given: JsonValue) -> dict[str, JsonValue] | None:
    for key in PARAMS:
        inner = given.get(key) if isinstance(given, dict) else None
        if isinstance(inner, dict):
            return _params(inner) or inner
    return None


DIALECT = Dialect(
    name=NAME,
    matches=matches,
    read=read,
    scopes=("mcp", "fastmcp", "opentelemetry.instrumentation.mcp"),
)
