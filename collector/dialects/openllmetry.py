"""Read OpenLLMetry, old (flattened prompts) and new (OTel keys), and Traceloop's decorators."""

from __future__ import annotations

import msgspec

from collector.dialects import flattened, otel_genai
from collector.dialects.attributes import (
    decoded,
    first,
    grouped,
    text,
    unflattened,
)
from collector.dialects.dialect import Dialect, Reading, Said, ToolUse
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import split_system
from collector.dialects.tools import definitions
from collector.model import FactRole, Facts, JsonValue, ToolRequest
from collector.telemetry import Attributes, Span

NAME = "openllmetry"
KIND = "traceloop.span.kind"
ROLES: dict[str, FactRole] = {
    "workflow": "chain",
    "task": "chain",
    "agent": "agent",
    "tool": "tool",
}
REQUEST_TYPE = "llm.request.type"
REQUEST_ROLES: dict[str, FactRole] = {
    "chat": "llm",
    "completion": "llm",
    "embedding": "embedding",
    "rerank": "retriever",
}
MARKS = frozenset((KIND, REQUEST_TYPE, "gen_ai.prompt.0.role", "gen_ai.completion.0.role"))
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    finish_reason=(*otel_genai.NAMES.finish_reason, "gen_ai.completion.0.finish_reason"),
    tool_name=(*otel_genai.NAMES.tool_name, "traceloop.entity.name"),
    tool_result=(*otel_genai.NAMES.tool_result, "traceloop.entity.output"),
)
ENTITY_INPUT = ("traceloop.entity.input",)
PROMPT, COMPLETION, FUNCTIONS = "gen_ai.prompt.", "gen_ai.completion.", "llm.request.functions."
OTEL_SCOPES = ("genai.", "openai_v2", "google_genai", "openai_agents_v2")
SCOPE = "opentelemetry.instrumentation."
"""OTel's and Traceloop's packages share this prefix; OTel's continue as in ``OTEL_SCOPES``."""


def matches(span: Span) -> bool:
    """Tell OpenLLMetry by its own keys, its new generation by its scope."""
    attributes = span.attributes
    if not MARKS.isdisjoint(attributes):
        return True
    scope = span.scope_name
    return (
        scope.startswith(SCOPE)
        and not scope[len(SCOPE) :].startswith(OTEL_SCOPES)
        and otel_genai.matches(span)
    )


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of either generation."""
    role = _role(span)
    reading = otel_genai.reading(span, role, memory, NAMES)
    if role == "tool":
        reading = Reading(role=role, tool=_tool(span, reading.tool))
    elif role in {"llm", "agent"}:
        reading = Reading(role=role, said=_said(span.attributes, reading.said, memory))
    return assembled(span, reading, NAMES, NAME)


def _role(span: Span) -> FactRole:
    attributes = span.attributes
    role = ROLES.get(text(attributes, (KIND,)))
    if role is None and otel_genai.OPERATION not in attributes:
        role = REQUEST_ROLES.get(text(attributes, (REQUEST_TYPE,)))
    return role or otel_genai.role_of(span)


def _said(attributes: Attributes, said: Said, memory: Memory) -> Said:
    """Add what only the flattened keys hold."""
    system = said.system_prompt
    given, output = said.input, said.output
    groups = grouped(attributes)
    if not given:
        flat, given = split_system(
            flattened.messages(groups.get(PROMPT, ()), _same, memory, "user")
        )
        system = system or flat
    if not output:
        output = flattened.messages(groups.get(COMPLETION, ()), _same, memory, "assistant")
    functions: list[JsonValue] = [unflattened(group) for group in groups.get(FUNCTIONS, ())]
    tools = said.tools or definitions(functions, memory)
    return msgspec.structs.replace(
        said, system_prompt=system, tools=tools, input=given, output=output
    )


def _tool(span: Span, use: ToolUse) -> ToolUse:
    """Read a decorated function: keyword arguments are the tool's arguments."""
    use = use if use.request else tool_use(span, NAMES, name=span.name.removesuffix(".tool"))
    request = use.request
    if request is None or request.arguments is not None:
        return use
    request = ToolRequest(
        id=request.id,
        name=request.name,
        arguments=_called_with(decoded(first(span.attributes, ENTITY_INPUT))),
    )
    return msgspec.structs.replace(use, request=request)


def _called_with(entity: JsonValue) -> JsonValue:
    if not isinstance(entity, dict) or not ({"args", "kwargs"} & set(entity)):
        return entity
    positional, named = entity.get("args"), entity.get("kwargs")
    if not positional:
        return named or {}
    return entity if named else positional


def _same(group: dict[str, JsonValue]) -> JsonValue:
    return group


DIALECT = Dialect(name=NAME, matches=matches, read=read)
