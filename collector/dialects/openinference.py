"""Read OpenInference, whose messages are flattened into one attribute a field."""

from __future__ import annotations

from typing import Any

from collector.dialects import flattened
from collector.dialects.attributes import decoded, first, grouped, text, unflattened
from collector.dialects.blocks import error_flag, string
from collector.dialects.dialect import Dialect, Names, Reading, Said, ToolUse
from collector.dialects.documents import documents_of
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.tools import definitions
from collector.model import Document, FactRole, Facts, JsonValue, Message, ToolRequest
from collector.telemetry import Attributes, Span

NAME = "openinference"
KIND = "openinference.span.kind"
ROLES: dict[str, FactRole] = {
    "LLM": "llm",
    "TOOL": "tool",
    "AGENT": "agent",
    "CHAIN": "chain",
    "DECISION": "chain",
    "RETRIEVER": "retriever",
    "RERANKER": "retriever",
    "EMBEDDING": "embedding",
    "GUARDRAIL": "guardrail",
    "EVALUATOR": "evaluation",
}
NAMES = Names(
    provider=("llm.provider", "llm.system"),
    model=(
        "llm.response.model_name",
        "llm.model_name",
        "llm.request.model_name",
        "embedding.model_name",
    ),
    response_id=("gen_ai.response.id",),
    finish_reason=("llm.finish_reason",),
    input_tokens=("llm.token_count.prompt",),
    output_tokens=("llm.token_count.completion",),
    cache_read=(
        "llm.token_count.prompt_details.cache_read",
        "llm.token_count.prompt_details.cache_input",
    ),
    cache_write=("llm.token_count.prompt_details.cache_write",),
    reasoning=("llm.token_count.completion_details.reasoning",),
    cost_usd=("llm.cost.total",),
    tool_name=("tool.name",),
    tool_call_id=("tool.id", "tool_call.id"),
    tool_arguments=("tool_call.function.arguments", "input.value"),
    tool_result=("output.value",),
)
INPUT, OUTPUT, TOOLS = "llm.input_messages.", "llm.output_messages.", "llm.tools."
DOCUMENTS = ("retrieval.documents.", "reranker.output_documents.")
VALUES = {"input": ("input.value",), "output": ("output.value",)}


def matches(span: Span) -> bool:
    """Tell whether the span names its OpenInference kind."""
    return KIND in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of the convention."""
    role = ROLES.get(text(span.attributes, (KIND,)).upper(), "other")
    return assembled(span, _reading(span, role, memory), NAMES, NAME)


def _reading(span: Span, role: FactRole, memory: Memory) -> Reading:
    attributes = span.attributes
    if role == "tool":
        return Reading(role=role, tool=_tool(span))
    if role == "retriever":
        return Reading(role=role, said=Said(documents=_documents(attributes)))
    if role not in {"llm", "agent"}:
        return Reading(role=role)
    groups = grouped(attributes)
    given = flattened.messages(groups.get(INPUT, ()), _message, memory, "user")
    output = flattened.messages(groups.get(OUTPUT, ()), _message, memory, "assistant")
    if role == "llm":
        given = given or _value(attributes, "input", memory)
        output = output or _value(attributes, "output", memory)
    system, given = split_system(given)
    schemas = [_schema(unflattened(group).get("tool")) for group in groups.get(TOOLS, ())]
    return Reading(
        role=role,
        said=Said(
            system_prompt=system,
            tools=definitions(schemas, memory),
            input=given,
            output=output,
        ),
    )


def _message(group: dict[str, JsonValue]) -> JsonValue:
    """Turn ``message.*`` into a message of provider shape: contents are blocks."""
    message = group.get("message")
    if not isinstance(message, dict):
        return None
    found: dict[str, JsonValue] = dict(message)
    contents = found.pop("contents", None)
    if isinstance(contents, list):
        found["contents"] = [_block(block) for block in contents]
    name = found.pop("function_call_name", None)
    if name:
        arguments = found.pop("function_call_arguments_json", None)
        found["function_call"] = {"name": name, "arguments": arguments}
    return found


def _block(block: JsonValue) -> JsonValue:
    if not isinstance(block, dict):
        return block
    inner = block.get("message_content")
    return {**inner, **block} if isinstance(inner, dict) else block


def _schema(tool: JsonValue) -> JsonValue:
    return decoded(tool.get("json_schema")) or tool if isinstance(tool, dict) else tool


def _value(attributes: Attributes, side: str, memory: Memory) -> tuple[Message, ...]:
    """Fall back to the raw value, for instrumentations that flatten nothing."""
    value = first(attributes, VALUES[side])
    if value is None:
        return ()
    return history(value, memory) if side == "input" else reply(value)


def _tool(span: Span) -> ToolUse:
    """Read a tool span.

    LangChain's instrumentation gives a bare input, the argument names lost, and puts the
    call's id into the serialised output.
    """
    use = tool_use(span, NAMES, name=span.name)
    output = decoded(first(span.attributes, NAMES.tool_result))
    wrapped: Any = output.get("data", output.get("kwargs")) if isinstance(output, dict) else None
    message = wrapped if isinstance(wrapped, dict) else output
    if not isinstance(message, dict) or "tool_call_id" not in message:
        return use
    request = use.request
    if request is not None:
        request = ToolRequest(
            id=request.id or string(message, ("tool_call_id",)),
            name=request.name,
            arguments=request.arguments,
        )
    return ToolUse(request=request, result=message.get("content"), is_error=error_flag(message))


def _documents(attributes: Attributes) -> tuple[Document, ...]:
    groups = grouped(attributes)
    for prefix in DOCUMENTS:
        found: list[JsonValue] = [unflattened(group) for group in groups.get(prefix, ())]
        if found:
            return documents_of(found)
    return documents_of(first(attributes, ("output.value",)))


DIALECT = Dialect(name=NAME, matches=matches, read=read)
