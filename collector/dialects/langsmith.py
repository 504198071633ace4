"""Read LangSmith's OTel export, which puts a run's whole inputs and outputs into one attribute.

Its ``gen_ai.operation.name`` is wrong on retrievers and chains, so its own kind decides.
"""

from __future__ import annotations

import msgspec

from collector.dialects import otel_genai
from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.dialect import Dialect
from collector.dialects.inference import assembled
from collector.dialects.interning import Memory
from collector.dialects.tools import definitions
from collector.dialects.whole import reading_of, told_in
from collector.model import FactRole, Facts
from collector.telemetry import Span

NAME = "langsmith"
KIND = "langsmith.span.kind"
ROLES: dict[str, FactRole] = {
    "llm": "llm",
    "tool": "tool",
    "chain": "chain",
    "retriever": "retriever",
    "embedding": "embedding",
    "agent": "agent",
    "prompt": "other",
    "parser": "other",
}
INPUT: Keys = ("gen_ai.prompt",)
OUTPUT: Keys = ("gen_ai.completion",)
TOOLS: Keys = ("gen_ai.tool.definitions",)
USAGE: Keys = ("langsmith.metadata.usage_metadata",)
CACHE = {
    "cache_read": "langsmith.usage.cache_read",
    "cache_creation": "langsmith.usage.cache_creation",
}
"""Keys under which the nested token details are looked up; the flat ones are Python reprs."""
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    cache_read=(*otel_genai.NAMES.cache_read, CACHE["cache_read"]),
    cache_write=(*otel_genai.NAMES.cache_write, CACHE["cache_creation"]),
    tool_arguments=INPUT,
    tool_result=OUTPUT,
)


def matches(span: Span) -> bool:
    """Tell whether the span names its LangSmith kind."""
    return KIND in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read a run."""
    attributes = span.attributes
    role = ROLES.get(text(attributes, (KIND,)), "other")
    given, returned = first(attributes, INPUT), first(attributes, OUTPUT)
    tools = definitions(first(attributes, TOOLS), memory)
    reading = reading_of(span, role, given, returned, tools=tools, names=NAMES, memory=memory)
    if role == "llm":
        span = msgspec.structs.replace(span, attributes=told_in(attributes, returned))
    return assembled(_with_cache(span), reading, NAMES, NAME)


def _with_cache(span: Span) -> Span:
    usage = decoded(first(span.attributes, USAGE))
    details = usage.get("input_token_details") if isinstance(usage, dict) else None
    if not isinstance(details, dict):
        return span
    more = {key: details.get(name) for name, key in CACHE.items()}
    numbers = {key: value for key, value in more.items() if isinstance(value, int)}
    return msgspec.structs.replace(span, attributes=span.attributes | numbers)


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=("langsmith",))
