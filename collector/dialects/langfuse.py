"""Read Langfuse's SDK, which puts an observation's input and output into one attribute each."""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, as_number, decoded, first, text
from collector.dialects.dialect import Dialect, Names, Reading
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.tools import bare_name
from collector.dialects.whole import retrieval_of, said_of, told_in
from collector.model import FactRole, Facts
from collector.telemetry import Attributes, Span

NAME = "langfuse"
KIND = "langfuse.observation.type"
ROLES: dict[str, FactRole] = {
    "generation": "llm",
    "tool": "tool",
    "agent": "agent",
    "chain": "chain",
    "span": "chain",
    "retriever": "retriever",
    "embedding": "embedding",
    "guardrail": "guardrail",
    "evaluator": "evaluation",
}
INPUT: Keys = ("langfuse.observation.input",)
OUTPUT: Keys = ("langfuse.observation.output",)
TRACE_INPUT: Keys = ("langfuse.observation.input", "langfuse.trace.input")
TRACE_OUTPUT: Keys = ("langfuse.observation.output", "langfuse.trace.output")
"""Root spans may hold the trace's own."""
DETAILS = {
    "langfuse.observation.usage_details": "langfuse.usage.",
    "langfuse.observation.cost_details": "langfuse.cost.",
}
"""Attributes that hold a JSON object of numbers, and the prefix these are looked up under."""
NAMES = Names(
    provider=("gen_ai.provider.name", "gen_ai.system"),
    model=("langfuse.observation.model.name", "gen_ai.response.model", "gen_ai.request.model"),
    response_id=("gen_ai.response.id",),
    finish_reason=("gen_ai.response.finish_reasons",),
    input_tokens=(
        "langfuse.usage.input",
        "langfuse.usage.input_tokens",
        "langfuse.usage.prompt_tokens",
        "langfuse.usage.promptTokens",
        "gen_ai.usage.input_tokens",
    ),
    output_tokens=(
        "langfuse.usage.output",
        "langfuse.usage.output_tokens",
        "langfuse.usage.completion_tokens",
        "langfuse.usage.completionTokens",
        "gen_ai.usage.output_tokens",
    ),
    cache_read=(
        "langfuse.usage.cache_read_input_tokens",
        "langfuse.usage.input_cached_tokens",
        "langfuse.usage.input_cache_read",
        "langfuse.usage.cache_read",
        "langfuse.usage.prompt_details.cache_read",
        "langfuse.usage.prompt_tokens_details.cached_tokens",
        "gen_ai.usage.cache_read.input_tokens",
    ),
    cache_write=(
        "langfuse.usage.cache_creation_input_tokens",
        "langfuse.usage.input_cache_creation",
        "langfuse.usage.cache_creation",
        "langfuse.usage.prompt_details.cache_write",
        "gen_ai.usage.cache_creation.input_tokens",
    ),
    reasoning=(
        "langfuse.usage.output_reasoning_tokens",
        "langfuse.usage.output_reasoning",
        "langfuse.usage.completion_details.reasoning",
        "langfuse.usage.completion_tokens_details.reasoning_tokens",
        "gen_ai.usage.reasoning.output_tokens",
    ),
    cost_usd=("langfuse.cost.total",),
    tool_name=("gen_ai.tool.name", "tool.name"),
    tool_call_id=("gen_ai.tool.call.id", "langfuse.observation.metadata.tool_call_id"),
    tool_arguments=INPUT,
    tool_result=OUTPUT,
)
TOTAL = "langfuse.usage.total"
TOOL_MARK = '"tool_call_id"'
"""Stands in what LangChain's tools return; older SDKs record them as plain spans."""


def matches(span: Span) -> bool:
    """Tell whether the span names its Langfuse type."""
    return KIND in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read an observation."""
    attributes = span.attributes
    role = _role(span)
    reading = Reading(role=role)
    if role == "tool":
        reading = Reading(role=role, tool=tool_use(span, NAMES, name=bare_name(span.name)))
    elif role == "retriever":
        said = retrieval_of(first(attributes, INPUT), first(attributes, OUTPUT), memory)
        reading = Reading(role=role, said=said)
    elif role == "llm":
        given, returned = first(attributes, INPUT), first(attributes, OUTPUT)
        reading = Reading(role=role, said=said_of(role, given, returned, memory))
        attributes = told_in(attributes, returned)
    elif role == "agent" or (role == "chain" and not span.parent_id):
        given, returned = first(attributes, TRACE_INPUT), first(attributes, TRACE_OUTPUT)
        reading = Reading(role=role, said=said_of(role, given, returned, memory))
    return assembled(_with_details(span, attributes), reading, NAMES, NAME)


def _role(span: Span) -> FactRole:
    role = ROLES.get(text(span.attributes, (KIND,)).lower(), "other")
    if role != "chain" or not span.parent_id:
        return role
    returned = first(span.attributes, OUTPUT)
    is_tool = isinstance(returned, str) and TOOL_MARK in returned and '"messages"' not in returned
    return "tool" if is_tool else role


def _with_details(span: Span, attributes: Attributes) -> Span:
    more: Attributes = {}
    for name, prefix in DETAILS.items():
        details = decoded(span.attributes.get(name))
        if isinstance(details, dict):
            more |= {
                prefix + key: value
                for key, value in details.items()
                if isinstance(value, (int, float))
            }
    more |= _inclusive(more)
    if not more and attributes is span.attributes:
        return span
    return msgspec.structs.replace(span, attributes=attributes | more)


def _inclusive(usage: Attributes) -> Attributes:
    """Add cached tokens to the input where the total says that they are not in it."""
    if TOTAL not in usage:
        return {}
    given, returned, read, written = (
        next(((key, n) for key in keys if (n := as_number(usage.get(key))) is not None), ("", 0.0))
        for keys in (
            NAMES.input_tokens,
            NAMES.output_tokens,
            NAMES.cache_read,
            NAMES.cache_write,
        )
    )
    cached = read[1] + written[1]
    if not given[0] or not cached or usage.get(TOTAL) != given[1] + returned[1] + cached:
        return {}
    return {given[0]: int(given[1] + cached)}


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=("langfuse",))
