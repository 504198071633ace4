"""Read OpenLLMetry, old (flattened prompts) and new (OTel keys), and Traceloop's decorators."""

from __future__ import annotations

import msgspec

from collector.dialects import flattened, otel_genai, traceloop_langchain
from collector.dialects.attributes import as_json, first, grouped, text, unflattened
from collector.dialects.dialect import Dialect, Reading, Said, ToolUse
from collector.dialects.documents import documents_of
from collector.dialects.inference import LEAVES, assembled, finish_reason, tool_use, usage
from collector.dialects.interning import Memory
from collector.dialects.messages import split_system
from collector.dialects.tool_spans import arguments_in
from collector.dialects.tools import bare_name, definitions
from collector.dialects.whole import said_of, told_in
from collector.model import FactRole, Facts, JsonValue, Message, ToolRequest
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
ITEM = "fc_"
"""How the ids of items begin, of which a call is one."""
ENTITY_INPUT = ("traceloop.entity.input",)
ENTITY_OUTPUT = ("traceloop.entity.output",)
DATABASE = frozenset(("db.system", "db.system.name"))
FOUND = "db.query.result"
"""The event of vector databases: one passage each, its fields under keys of this prefix."""
PROMPT, COMPLETION, FUNCTIONS = "gen_ai.prompt.", "gen_ai.completion.", "llm.request.functions."
OTEL_SCOPES = ("genai.", "openai_v2", "google_genai", "openai_agents_v2")
SCOPE = "opentelemetry.instrumentation."
"""OTel's and Traceloop's packages share this prefix; OTel's continue as in ``OTEL_SCOPES``."""


def matches(span: Span) -> bool:
    """Tell OpenLLMetry by its own keys, its new generation by its scope."""
    attributes = span.attributes
    if not MARKS.isdisjoint(attributes):
        return True
    if span.events and _is_search(span):
        return True
    scope = span.scope_name
    return (
        scope.startswith(SCOPE)
        and not scope[len(SCOPE) :].startswith(OTEL_SCOPES)
        and otel_genai.matches(span)
    )


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of either generation."""
    if span.events and _is_search(span):
        return assembled(span, Reading(role="retriever", said=_found(span)), NAMES, NAME)
    role = _role(span)
    if span.scope_name == traceloop_langchain.SCOPE:
        if role == "chain" and span.parent_id:
            return _task(span)
        span = msgspec.structs.replace(span, attributes=traceloop_langchain.opened(span.attributes))
    reading = otel_genai.reading(span, role, memory, NAMES)
    if role == "tool":
        reading = Reading(role=role, tool=_tool(span, reading.tool))
    elif role == "llm":
        said = _said(span.attributes, reading.said, memory)
        reading = Reading(role=role, said=_call(span.attributes, said, memory))
        span = _told(span)
    elif role == "agent" or (role == "chain" and not span.parent_id):
        said = _said(span.attributes, reading.said, memory)
        reading = Reading(role=role, said=_entity(span.attributes, role, said, memory))
    return assembled(span, reading, NAMES, NAME)


def _task(span: Span) -> Facts:
    """Read what a task tells of the call in it; the call is the model's own span."""
    found = assembled(span, Reading(role="chain"), NAMES, NAME)
    attributes, output = traceloop_langchain.told_by_task(span.attributes)
    if not attributes:
        return found
    return msgspec.structs.replace(
        found,
        response_id=text(attributes, NAMES.response_id),
        usage=usage(attributes, NAMES),
        finish_reason=finish_reason(first(attributes, NAMES.finish_reason), output),
        output=output,
    )


def _is_search(span: Span) -> bool:
    return not DATABASE.isdisjoint(span.attributes) and any(e.name == FOUND for e in span.events)


def _found(span: Span) -> Said:
    """Read the passages that a vector database returned."""
    prefix = f"{FOUND}."
    passages: list[JsonValue] = [
        {key.removeprefix(prefix): as_json(value) for key, value in event.attributes.items()}
        for event in span.events
        if event.name == FOUND
    ]
    return Said(documents=documents_of(passages))


def _entity(attributes: Attributes, role: FactRole, said: Said, memory: Memory) -> Said:
    """Fill in what a decorated function was given and returned."""
    if said.input and said.output:
        return said
    whole = said_of(role, first(attributes, ENTITY_INPUT), first(attributes, ENTITY_OUTPUT), memory)
    return msgspec.structs.replace(
        said, input=said.input or whole.input, output=said.output or whole.output
    )


def _call(attributes: Attributes, said: Said, memory: Memory) -> Said:
    """Fill in the tools and the calls that LlamaIndex's package leaves in raw values."""
    if KIND not in attributes or any(m.text or m.tool_requests for m in said.output):
        return said
    whole = said_of(
        "llm", first(attributes, ENTITY_INPUT), first(attributes, ENTITY_OUTPUT), memory
    )
    return msgspec.structs.replace(
        said,
        tools=said.tools or whole.tools,
        input=said.input or whole.input,
        output=whole.output or said.output,
    )


def _told(span: Span) -> Span:
    """Add what only the raw response counts."""
    returned = first(span.attributes, ENTITY_OUTPUT)
    if returned is None:
        return span
    return msgspec.structs.replace(span, attributes=told_in(span.attributes, returned))


def _role(span: Span) -> FactRole:
    attributes = span.attributes
    role = ROLES.get(text(attributes, (KIND,)))
    if role == "chain" and otel_genai.role_of(span) in LEAVES:
        # LlamaIndex's package calls each step a task, the model's call too.
        role = None
    if role is None and otel_genai.OPERATION not in attributes:
        kind = text(attributes, (REQUEST_TYPE,))
        role = REQUEST_ROLES.get(kind) or REQUEST_ROLES.get(kind.removeprefix(otel_genai.ASYNC))
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
        said, system_prompt=system, tools=tools, input=_aligned(given), output=output
    )


def _aligned(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Give calls the ids of their results, where the request names the item and not the call.

    Of OpenAI's responses the request has the id of the item, the result the call's.
    """
    asked = [r.id for m in messages for r in m.tool_requests]
    if not any(own.startswith(ITEM) for own in asked):
        return messages
    strange = [m.tool_call_id for m in messages if m.role == "tool" and m.tool_call_id not in asked]
    answered = {m.tool_call_id for m in messages if m.role == "tool"}
    waiting = [own for own in asked if own.startswith(ITEM) and own not in answered]
    ids = dict(zip(waiting, strange, strict=False))
    return tuple(
        msgspec.structs.replace(
            m,
            tool_requests=tuple(
                msgspec.structs.replace(r, id=ids.get(r.id, r.id)) for r in m.tool_requests
            ),
        )
        if m.tool_requests
        else m
        for m in messages
    )


def _tool(span: Span, use: ToolUse) -> ToolUse:
    """Read a decorated function: keyword arguments are the tool's arguments."""
    use = use if use.request else tool_use(span, NAMES, name=bare_name(span.name))
    request = use.request
    if request is None or request.arguments is not None:
        return use
    given = first(span.attributes, ENTITY_INPUT)
    request = ToolRequest(
        id=request.id,
        name=request.name,
        arguments=None if given is None else arguments_in(given),
    )
    return msgspec.structs.replace(use, request=request)


def _same(group: dict[str, JsonValue]) -> JsonValue:
    return group


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=("traceloop.",))
