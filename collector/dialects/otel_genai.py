"""Read the OpenTelemetry GenAI convention, of the current and of earlier years.

Also everything that follows its keys: pydantic-ai, Strands, Google ADK, Vercel's new
integration, the Anthropic SDK's own spans, and MCP spans.
"""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.blocks import arguments_of
from collector.dialects.bodies import transcript
from collector.dialects.dialect import Dialect, Names, Reading, Said, ToolUse
from collector.dialects.envelope import conversation_of, ends, identity_of
from collector.dialects.genai_events import (
    CHOICE,
    DETAILS,
    SPOKEN,
    Heard,
    heard,
    instructions,
    offered_in,
    spoken,
)
from collector.dialects.inference import assembled, finish_reason, parting_words, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.tools import bare_name, definitions
from collector.dialects.whole import retrieval_of, told_in, tools_in
from collector.model import FactRole, Facts, JsonValue, ToolRequest
from collector.telemetry import Attributes, AttributeValue, LogRecord, Span

NAME = "otel_genai"
OPERATION = "gen_ai.operation.name"
ROLES: dict[str, FactRole] = {
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "generate": "llm",
    "llm_request": "llm",
    "fetch_response": "llm",
    "response": "llm",
    "responses": "llm",
    "anthropic_messages": "llm",
    "embeddings": "embedding",
    "embedding": "embedding",
    "retrieval": "retriever",
    "rerank": "retriever",
    "vector_db_retrieve": "retriever",
    "search_memory": "retriever",
    "invoke_agent": "agent",
    "execute_tool": "tool",
    "invoke_workflow": "chain",
    "chain": "chain",
    "agent_step": "chain",
    "plan": "chain",
    "execute_task": "chain",
    "execute_event_loop_cycle": "chain",
}
"""Role by ``gen_ai.operation.name``; every other operation is ``other``."""
ASYNC = "a"
"""What LiteLLM puts before the operation of a call that was awaited."""
MERGED_TOOLS = "(merged tools)"
"""ADK's span over parallel calls, each of which has its own."""
NAMES = Names(
    provider=("gen_ai.provider.name", "gen_ai.system"),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    response_id=("gen_ai.response.id",),
    previous_response_id=(
        "gen_ai.request.previous_response.id",
        "gen_ai.request.previous_response_id",
        "openai.request.previous_response_id",
    ),
    thread_id=("gen_ai.thread.id", "gen_ai.openai.thread.id", "openai.thread.id"),
    finish_reason=("gen_ai.response.finish_reasons", "anthropic.message.stop_reason"),
    input_tokens=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output_tokens=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cache_read=(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_input_tokens",
        "gen_ai.usage.details.cached_tokens",
    ),
    cache_write=(
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
        "gen_ai.usage.details.cache_write_tokens",
        "gen_ai.usage.details.cache_creation_input_tokens",
    ),
    reasoning=(
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
    ),
    cost_usd=("operation.cost", "gen_ai.usage.cost", "gen_ai.cost.total_cost"),
    first_token_s=("gen_ai.response.time_to_first_chunk",),
    first_token_ms=("gen_ai.server.time_to_first_token",),
    tool_name=("gen_ai.tool.name",),
    tool_call_id=("gen_ai.tool.call.id",),
    tool_arguments=(
        "gen_ai.tool.call.arguments",
        "tool_arguments",
        "gcp.vertex.agent.tool_call_args",
        "mcp.request.argument",
        "gen_ai.tool.input",
        "input.value",
    ),
    tool_result=(
        "gen_ai.tool.call.result",
        "anthropic.tool_result.content",
        "tool_response",
        "gcp.vertex.agent.tool_response",
        "mcp.response.value",
        "gen_ai.tool.output",
        "output.value",
    ),
    tool_status=("gen_ai.tool.status",),
)
SYSTEM: Keys = ("gen_ai.system_instructions",)
INPUT: Keys = ("gen_ai.input.messages", "gen_ai.prompt", "gcp.vertex.agent.llm_request")
WHOLE_INPUT: Keys = ("gen_ai.prompt", "gcp.vertex.agent.llm_request")
WHOLE_OUTPUT: Keys = ("gen_ai.completion", "gcp.vertex.agent.llm_response")
"""Older forms, which may hold a whole request and response."""
OUTPUT: Keys = ("gen_ai.output.messages", "gen_ai.completion", "gcp.vertex.agent.llm_response")
TOOLS: Keys = ("gen_ai.tool.definitions", "model_request_parameters", "gen_ai.agent.tools")
TOOL_SCHEMA: Keys = ("gen_ai.tool.json_schema",)
TOOL_DESCRIPTION: Keys = ("gen_ai.tool.description",)
DOCUMENTS: Keys = ("gen_ai.retrieval.documents", "gen_ai.memory.records", "output.value")
QUERY: Keys = ("gen_ai.retrieval.query.text", "gen_ai.memory.query.text", "input.value")
MARKS = (OPERATION, "mcp.method.name", "gen_ai.tool.name", "gen_ai.request.model")
CONTENT_MARKS = frozenset(
    ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt", "gen_ai.completion")
)
"""What makes a span worth reading where nothing says what it is."""
CALL_MARKS = frozenset(
    (
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.response.id",
    )
)
"""What makes it a call."""
CONTENT_ROLES = ("llm", "agent", "embedding")


def matches(span: Span) -> bool:
    """Tell whether any key of the convention is there."""
    attributes = span.attributes
    return any(mark in attributes for mark in MARKS) or not CONTENT_MARKS.isdisjoint(attributes)


def role_of(span: Span) -> FactRole:
    """Resolve the role: the operation, else the MCP method, else which keys are there."""
    attributes = span.attributes
    operation = text(attributes, (OPERATION,))
    if operation:
        role = operation_role(operation)
        merged = role == "tool" and text(attributes, NAMES.tool_name) == MERGED_TOOLS
        return "chain" if merged else role
    method = text(attributes, ("mcp.method.name",))
    if method:
        return "tool" if method == "tools/call" else "other"
    if "gen_ai.tool.name" in attributes:
        return "tool"
    if not CALL_MARKS.isdisjoint(attributes):
        return "llm"
    return "other" if CONTENT_MARKS.isdisjoint(attributes) else "chain"


def operation_role(operation: str) -> FactRole:
    """Return the role of an operation by its name."""
    return ROLES.get(operation) or ROLES.get(operation.removeprefix(ASYNC), "other")


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of the convention."""
    role = role_of(span)
    found = reading(span, role, memory, NAMES)
    if role == "llm":
        returned = first(span.attributes, WHOLE_OUTPUT)
        if returned is not None:
            attributes = told_in(span.attributes, returned)
            span = msgspec.structs.replace(span, attributes=attributes)
    return assembled(span, found, NAMES, NAME)


def reading(span: Span, role: FactRole, memory: Memory, names: Names) -> Reading:
    """Find the content of a span whose role is known."""
    if role == "tool":
        return Reading(role=role, tool=_tool(span, names), said=_defined(span.attributes, memory))
    if role == "retriever":
        query, found = first(span.attributes, QUERY), first(span.attributes, DOCUMENTS)
        return Reading(role=role, said=retrieval_of(query, found, memory))
    if role not in CONTENT_ROLES and (role != "chain" or OPERATION in span.attributes):
        return Reading(role=role)
    events = (
        heard((event.name, event.attributes) for event in span.events) if span.events else Heard()
    )
    said = content(_with_details(span), memory, events)
    return Reading(role=role, said=said if role == "llm" else parting_words(said))


def content(attributes: Attributes, memory: Memory, events: Heard) -> Said:
    """Read the messages, instructions and tools that attributes hold, else the events."""
    asked = first(attributes, INPUT)
    system, given = split_system(reply(transcript(asked) or None) or history(asked, memory))
    value = first(attributes, OUTPUT)
    output = reply(value) if value is not None else ()
    tools = next(
        (found for key in TOOLS if (found := definitions(attributes.get(key), memory))), ()
    ) or tools_in(first(attributes, WHOLE_INPUT), memory)
    finish = events.finish_reason
    if output and not finish and not first(attributes, NAMES.finish_reason):
        finish = _finish(value)
    return Said(
        system_prompt=instructions(first(attributes, SYSTEM), memory)
        or system
        or events.system_prompt,
        tools=tools,
        input=given or events.input,
        output=output or events.output,
        finish_reason=finish,
    )


def read_log(record: LogRecord, memory: Memory) -> Facts | None:
    """Read a GenAI log event: a whole call, or one message of it."""
    name = record.event_name
    if name != DETAILS and name not in SPOKEN:
        return None
    span = Span(
        trace_id=record.trace_id,
        span_id=record.span_id,
        name=name,
        start_ns=record.time_ns,
        attributes=record.attributes,
        resource=record.resource,
    )
    if name == DETAILS:
        attributes = record.attributes
        if isinstance(record.body, dict):
            attributes = record.body | attributes
        said = content(attributes, memory, Heard())
        return assembled(span, Reading(role="llm", said=said), NAMES, NAME)
    tools = offered_in(record.body, memory)
    if tools:
        return _share(record, Said(tools=tools))
    messages = spoken(name, record.body)
    system, rest = split_system(messages)
    reason = record.body.get("finish_reason") if isinstance(record.body, dict) else None
    return _share(
        record,
        Said(
            system_prompt=system,
            input=() if name == CHOICE else rest,
            output=rest if name == CHOICE else (),
            finish_reason=reason if isinstance(reason, str) else "",
        ),
    )


def _share(record: LogRecord, said: Said) -> Facts:
    return Facts(
        trace_id=record.trace_id,
        span_id=record.span_id,
        role="llm",
        dialect=NAME,
        name=record.event_name,
        start_ns=record.time_ns,
        identity=identity_of(record.attributes, record.resource),
        conversation_id=conversation_of(record.attributes, record.resource),
        ends_conversation=ends(record.attributes),
        partial=True,
        system_prompt=said.system_prompt,
        tools=said.tools,
        input=said.input,
        output=said.output,
        finish_reason=finish_reason(said.finish_reason, said.output) if said.output else "",
    )


def _with_details(span: Span) -> Attributes:
    """Add what ``operation.details`` span events hold; several are shares of one call."""
    attributes = span.attributes
    for event in span.events:
        if event.name == DETAILS:
            more = dict(event.attributes)
            for key in (*INPUT, *OUTPUT):
                if key in attributes and key in more:
                    more[key] = _joined(attributes[key], more[key])
            attributes = attributes | more
    return attributes


def _joined(one: AttributeValue, other: AttributeValue) -> AttributeValue:
    before, after = decoded(one), decoded(other)
    if not isinstance(before, list) or not isinstance(after, list) or before == after:
        return other
    return msgspec.json.encode([*before, *after]).decode()


def _finish(value: AttributeValue) -> str:
    found = decoded(value)
    for item in found if isinstance(found, list) else [found]:
        reason = item.get("finish_reason") if isinstance(item, dict) else None
        if isinstance(reason, str) and reason:
            return reason
    return ""


def _defined(attributes: Attributes, memory: Memory) -> Said:
    """Read the schema that Strands puts on each tool span, and nowhere else."""
    schema = text(attributes, TOOL_SCHEMA)
    name = text(attributes, NAMES.tool_name)
    if not schema or not name:
        return Said()
    description = text(attributes, TOOL_DESCRIPTION)
    tool: JsonValue = {"name": name, "description": description, "parameters": schema}
    return Said(tools=definitions([tool], memory))


def _tool(span: Span, names: Names) -> ToolUse:
    use = tool_use(span, names, name=bare_name(span.name))
    request, result = use.request, use.result
    for event in span.events:
        # Strands: the arguments are the tool message's content, the result is the choice.
        if event.name == "gen_ai.tool.message" and request and request.arguments is None:
            given = arguments_of(decoded(event.attributes.get("content")))
            request = ToolRequest(id=request.id, name=request.name, arguments=given)
        elif event.name == CHOICE and result is None:
            result = decoded(event.attributes.get("message"))
    return ToolUse(request=request, result=result, is_error=use.is_error)


DIALECT = Dialect(
    name=NAME,
    matches=matches,
    read=read,
    read_log=read_log,
    scopes=(
        "opentelemetry.instrumentation.genai.",
        "opentelemetry.instrumentation.openai_v2",
        "opentelemetry.instrumentation.google_genai",
        "com.anthropic.sdk",
        "com.anthropic.claude-platform",
        "strands.",
        "gcp.vertex.agent",
        "agent_framework",
        "gen_ai",
    ),
)
