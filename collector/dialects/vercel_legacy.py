"""Read the Vercel AI SDK's legacy integration: ``ai.*`` keys and ``ai.operationId``."""

from __future__ import annotations

from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.blocks import request_of
from collector.dialects.dialect import Dialect, Names, Reading, Said
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, split_system
from collector.dialects.tools import definitions
from collector.model import FactRole, Facts, Message
from collector.telemetry import Attributes, Span

NAME = "vercel_legacy"
OPERATION = "ai.operationId"
ROLES: dict[str, FactRole] = {
    "ai.generateText.doGenerate": "llm",
    "ai.streamText.doStream": "llm",
    "ai.generateObject.doGenerate": "llm",
    "ai.streamObject.doStream": "llm",
    "ai.embed.doEmbed": "embedding",
    "ai.embedMany.doEmbed": "embedding",
    "ai.toolCall": "tool",
    "ai.generateText": "agent",
    "ai.streamText": "agent",
    "ai.generateObject": "agent",
    "ai.streamObject": "agent",
}
"""The outer spans sum up the ``do`` spans, which are the calls."""
NAMES = Names(
    provider=("gen_ai.system", "ai.model.provider"),
    model=("ai.response.model", "gen_ai.response.model", "ai.model.id"),
    response_id=("ai.response.id", "gen_ai.response.id"),
    finish_reason=(
        "ai.response.finishReason",
        "ai.finishReason",
        "gen_ai.response.finish_reasons",
    ),
    input_tokens=(
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
        "ai.usage.tokens",
        "gen_ai.usage.input_tokens",
    ),
    output_tokens=(
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
        "gen_ai.usage.output_tokens",
    ),
    cache_read=("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"),
    cache_write=("ai.usage.inputTokenDetails.cacheWriteTokens",),
    reasoning=("ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"),
    first_token_ms=("ai.response.msToFirstChunk",),
    tool_name=("ai.toolCall.name",),
    tool_call_id=("ai.toolCall.id",),
    tool_arguments=("ai.toolCall.args",),
    tool_result=("ai.toolCall.result",),
)
INPUT: Keys = ("ai.prompt.messages", "ai.prompt")
TEXT: Keys = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
CALLS: Keys = ("ai.response.toolCalls", "ai.result.toolCalls")
TOOLS: Keys = ("ai.prompt.tools",)


def matches(span: Span) -> bool:
    """Tell whether the span names its operation."""
    return OPERATION in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of the integration."""
    role = ROLES.get(text(span.attributes, (OPERATION,)), "other")
    reading = Reading(role=role)
    if role == "tool":
        reading = Reading(role=role, tool=tool_use(span, NAMES))
    elif role in {"llm", "agent"}:
        reading = Reading(role=role, said=_said(span.attributes, role, memory))
    return assembled(span, reading, NAMES, NAME)


def _said(attributes: Attributes, role: FactRole, memory: Memory) -> Said:
    system, given = split_system(history(first(attributes, INPUT), memory))
    # The outer span repeats the calls of all steps beside the last step's text.
    calls = decoded(first(attributes, CALLS)) if role == "llm" else None
    found = [request_of(call) for call in calls] if isinstance(calls, list) else []
    requests = tuple(request for request in found if request is not None)
    words = text(attributes, TEXT)
    output = (Message(role="assistant", text=words, tool_requests=requests),)
    return Said(
        system_prompt=system,
        tools=definitions(first(attributes, TOOLS), memory),
        input=given,
        output=output if words or requests else (),
    )


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=("ai",))
