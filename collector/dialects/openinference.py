"""Read OpenInference, whose messages are flattened into one attribute a field."""

from __future__ import annotations

import re

import msgspec

from collector.dialects import flattened
from collector.dialects.attributes import Value, decoded, first, grouped, text, unflattened
from collector.dialects.bodies import offered
from collector.dialects.dialect import Dialect, Names, Reading, Said, ToolUse
from collector.dialects.documents import documents_of
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import split_system
from collector.dialects.smolagents import acted
from collector.dialects.tool_spans import arguments_in
from collector.dialects.tools import bare_name, definitions
from collector.dialects.whole import retrieval_of, said_of, told_in
from collector.model import Document, FactRole, Facts, JsonValue, ToolDefinition, ToolRequest
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
        "gen_ai.response.model",
        "embedding.model_name",
    ),
    response_id=("gen_ai.response.id",),
    finish_reason=("llm.finish_reason", "gen_ai.response.finish_reasons"),
    input_tokens=("llm.token_count.prompt", "gen_ai.usage.input_tokens"),
    output_tokens=("llm.token_count.completion", "gen_ai.usage.output_tokens"),
    cache_read=(
        "llm.token_count.prompt_details.cache_read",
        "llm.token_count.prompt_details.cache_input",
        "gen_ai.usage.cache_read.input_tokens",
    ),
    cache_write=(
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_creation.input_tokens",
    ),
    reasoning=(
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.reasoning.output_tokens",
    ),
    cost_usd=("llm.cost.total",),
    tool_name=("tool.name", "tool_call.function.name", "gen_ai.tool.name"),
    tool_call_id=("tool.id", "tool_call.id", "gen_ai.tool.call.id"),
    tool_arguments=(
        "tool_call.function.arguments",
        "gcp.vertex.agent.tool_call_args",
        "gen_ai.tool.call.arguments",
        "input.value",
    ),
    tool_result=("output.value", "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"),
)
INPUT, OUTPUT, TOOLS = "llm.input_messages.", "llm.output_messages.", "llm.tools."
TOOL_LIST = "llm.tools"
DOCUMENTS = ("retrieval.documents.", "reranker.output_documents.")
PARAMETERS = ("tool.parameters", "tool_call.function.arguments")
QUERY = ("reranker.query", "retrieval.query")
RESPONSE_ID = re.compile(r'\{\s*"id":\s*"((?:msg|chatcmpl|resp|gen|run)[\w-]{1,100})"').match
"""How the responses of providers begin."""
SCOPES = ("openinference.", "@arizeai/")
LLAMA_INDEX = "openinference.instrumentation.llama_index"
PREPARES = re.compile(r"\w+\._").match
"""How the names of a model's own methods begin, which prepare a call: each is said to be one."""
LEFT: dict[str, FactRole] = {"llm.": "llm", "retrieval.": "retriever", "tool": "tool"}
"""Role by how a key begins, for spans that lost their kind to a limit of attributes."""
VALUES = {"input": ("input.value",), "output": ("output.value",)}
SETTINGS = "llm.invocation_parameters"
ASKS = re.compile(r'"(?:messages|prompt|inputText)": ').search
"""What Bedrock's bodies have, whole among the settings where they are flattened nowhere."""
OFFERS = re.compile(r'"(?:tools|functions)":\s*\[\s*\{').search
SERVES = re.compile(
    r'"type":\s*"(?:web_search|file_search|tool_search|code_interpreter|image_generation|mcp)_call"'
).search
"""Calls that OpenAI serves itself, which are not flattened."""


def matches(span: Span) -> bool:
    """Tell whether the span names its OpenInference kind, or lost it to a limit of attributes."""
    if KIND in span.attributes:
        return True
    return span.dropped_attributes > 0 and _role(span) != "other"


def _role(span: Span) -> FactRole:
    """Return the role that the kind says; where that was left out, what else is there tells."""
    kind = text(span.attributes, (KIND,))
    if kind == "LLM" and span.scope_name == LLAMA_INDEX and PREPARES(span.name):
        return "chain"
    if kind or not span.scope_name.startswith(SCOPES):
        return ROLES.get(kind.upper(), "other")
    left = span.attributes
    return next(
        (role for start, role in LEFT.items() if any(k.startswith(start) for k in left)), "other"
    )


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of the convention."""
    role = _role(span)
    reading = _reading(span, role, memory)
    return assembled(_told(span) if role == "llm" else span, reading, NAMES, NAME)


def _told(span: Span) -> Span:
    """Add what only the raw response says: its id, and what older versions do not tell."""
    attributes = span.attributes
    returned = first(attributes, VALUES["output"])
    if returned is None:
        return span
    if NAMES.input_tokens[0] not in attributes or NAMES.finish_reason[0] not in attributes:
        return msgspec.structs.replace(span, attributes=told_in(attributes, returned))
    # Newer ones say all themselves but the id, which is looked for at its usual place.
    own = RESPONSE_ID(returned) if isinstance(returned, str) else None
    if own is None:
        return span
    return msgspec.structs.replace(span, attributes=attributes | {"gen_ai.response.id": own[1]})


def _reading(span: Span, role: FactRole, memory: Memory) -> Reading:
    attributes = span.attributes
    if role == "tool":
        return Reading(role=role, tool=_tool(span), said=Said(tools=_defined(attributes, memory)))
    if role == "retriever":
        return Reading(role=role, said=_retrieval(attributes, memory))
    if role == "chain" and not span.parent_id:
        return Reading(
            role=role,
            said=said_of(
                role,
                first(attributes, VALUES["input"]),
                first(attributes, VALUES["output"]),
                memory,
            ),
        )
    if role not in {"llm", "agent"}:
        return Reading(role=role)
    groups = grouped(attributes)
    given = flattened.messages(groups.get(INPUT, ()), _message, memory, "user")
    output = flattened.messages(groups.get(OUTPUT, ()), _message, memory, "assistant")
    system, given = split_system(given)
    schemas = [_schema(unflattened(group).get("tool")) for group in groups.get(TOOLS, ())]
    tools = definitions(schemas, memory) or definitions(attributes.get(TOOL_LIST), memory)
    raw_input, raw_output = (first(attributes, VALUES[side]) for side in VALUES)
    settings = attributes.get(SETTINGS)
    if raw_input is None and isinstance(settings, str) and ASKS(settings):
        raw_input = settings
    spoken = any(m.text or m.tool_requests for m in output) and not _serves(raw_output)
    if span.dropped_attributes > 0 and raw_input is not None:
        # Of what was taken apart some is left out, of the whole nothing.
        everything = said_of(role, raw_input, None, memory)
        system = system or everything.system_prompt
        given = max(given, everything.input, key=len)
    if not given or not spoken:
        # Instrumentations that flatten nothing leave the raw values; some leave things out.
        whole = said_of(role, None if given else raw_input, None if spoken else raw_output, memory)
        system, tools = system or whole.system_prompt, tools or whole.tools
        given, output = given or whole.input, (output if spoken else whole.output or output)
    for value in (raw_input, settings):
        if not tools and isinstance(value, str) and OFFERS(value):
            tools = definitions(offered(decoded(value)), memory)
    return Reading(
        role=role, said=Said(system_prompt=system, tools=tools, input=acted(given), output=output)
    )


def _serves(output: Value) -> bool:
    return isinstance(output, str) and SERVES(output) is not None


def _message(group: dict[str, JsonValue]) -> JsonValue:
    """Turn ``message.*`` into a message of provider shape: contents are blocks."""
    message = group.get("message")
    if not isinstance(message, dict):
        return None
    found: dict[str, JsonValue] = dict(message)
    contents = found.pop("contents", None)
    if isinstance(contents, list):
        blocks = [_block(block) for block in contents]
        found["contents"] = blocks
        # OpenAI Agents' instrumentation repeats the text of its blocks, joined.
        texts = [
            str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block
        ]
        if texts and found.get("content") == "\n".join(texts):
            del found["content"]
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


def _tool(span: Span) -> ToolUse:
    """Read a tool span.

    LangChain's instrumentation gives a bare input, the argument names lost, and puts the
    call's id into the serialised output. Others put the arguments where the schema belongs.
    """
    use = tool_use(span, NAMES, name=bare_name(span.name))
    request = use.request
    if request is None or request.arguments is not None:
        return use
    given = arguments_in(first(span.attributes, PARAMETERS))
    if not isinstance(given, dict) or "properties" in given:
        return use
    request = ToolRequest(id=request.id, name=request.name, arguments=given)
    return msgspec.structs.replace(use, request=request)


def _defined(attributes: Attributes, memory: Memory) -> tuple[ToolDefinition, ...]:
    """Read the definition that a tool's own span carries; some tell it nowhere else."""
    schema = decoded(attributes.get(PARAMETERS[0]))
    name = attributes.get(NAMES.tool_name[0])
    if not isinstance(schema, dict) or "properties" not in schema or not isinstance(name, str):
        return ()
    tool: JsonValue = {
        "name": name,
        "description": text(attributes, ("tool.description",)),
        "parameters": schema,
    }
    return definitions([tool], memory)


def _retrieval(attributes: Attributes, memory: Memory) -> Said:
    asked, returned = (first(attributes, VALUES[side]) for side in VALUES)
    query = first(attributes, QUERY)
    found = _documents(attributes)
    said = retrieval_of(query if asked is None else asked, None if found else returned, memory)
    return msgspec.structs.replace(said, documents=found) if found else said


def _documents(attributes: Attributes) -> tuple[Document, ...]:
    groups = grouped(attributes)
    for prefix in DOCUMENTS:
        found: list[JsonValue] = [unflattened(group) for group in groups.get(prefix, ())]
        if found:
            return documents_of(found)
    return ()


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=SCOPES)
