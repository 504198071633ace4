"""Read Langfuse's SDK, which puts an observation's input and output into one attribute each."""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.dialect import Dialect, Names, Reading, Said
from collector.dialects.documents import documents_of
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
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
    input_tokens=("langfuse.usage.input", "langfuse.usage.input_tokens"),
    output_tokens=("langfuse.usage.output", "langfuse.usage.output_tokens"),
    cache_read=("langfuse.usage.cache_read_input_tokens", "langfuse.usage.input_cached_tokens"),
    cache_write=("langfuse.usage.cache_creation_input_tokens",),
    reasoning=("langfuse.usage.output_reasoning_tokens",),
    cost_usd=("langfuse.cost.total",),
    tool_arguments=INPUT,
    tool_result=OUTPUT,
)


def matches(span: Span) -> bool:
    """Tell whether the span names its Langfuse type."""
    return KIND in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read an observation."""
    attributes = span.attributes
    role = ROLES.get(text(attributes, (KIND,)).lower(), "other")
    reading = Reading(role=role)
    if role == "tool":
        reading = Reading(role=role, tool=tool_use(span, NAMES, name=span.name))
    elif role == "retriever":
        documents = documents_of(first(attributes, OUTPUT))
        reading = Reading(role=role, said=Said(documents=documents))
    elif role == "llm":
        system, given = split_system(history(first(attributes, INPUT), memory))
        output = reply(first(attributes, OUTPUT))
        reading = Reading(role=role, said=Said(system_prompt=system, input=given, output=output))
    return assembled(_with_details(span), reading, NAMES, NAME)


def _with_details(span: Span) -> Span:
    more: Attributes = {}
    for name, prefix in DETAILS.items():
        details = decoded(span.attributes.get(name))
        if isinstance(details, dict):
            more |= {
                prefix + key: value
                for key, value in details.items()
                if isinstance(value, (int, float))
            }
    return msgspec.structs.replace(span, attributes=span.attributes | more) if more else span


DIALECT = Dialect(name=NAME, matches=matches, read=read)
