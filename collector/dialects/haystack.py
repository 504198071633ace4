"""Read Haystack's own tracing: whole inputs and outputs of components and of an agent's steps.

A component says what it is by the end of its class's name. Content is there only where
Haystack's content tracing is on.
"""

from __future__ import annotations

from typing import cast

import msgspec

from collector.dialects.attributes import Keys, Value, decoded, first, text
from collector.dialects.dialect import Dialect, Names, Reading
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.otel_genai import NAMES as OTEL
from collector.dialects.whole import retrieval_of, said_of, told_in
from collector.model import FactRole, Facts, JsonValue
from collector.telemetry import AttributeValue, Span

NAME = "haystack"
SCOPES = ("haystack",)
PREFIX = "haystack."
ROLES: dict[str, FactRole] = {
    "haystack.pipeline.run": "chain",
    "haystack.async_pipeline.run": "chain",
    "haystack.agent.run": "agent",
    "haystack.agent.step": "chain",
    "haystack.agent.step.llm": "llm",
    "haystack.agent.step.tool": "tool",
}
"""Role by the span's name; components are told by their type."""
TYPE: Keys = ("haystack.component.type",)
ENDINGS: dict[str, FactRole] = {
    "Generator": "llm",
    "Retriever": "retriever",
    "Ranker": "retriever",
    "Embedder": "embedding",
    "Agent": "agent",
}
"""Role by how a component's type ends; every other is a step."""
INPUT: Keys = ("haystack.component.input", "haystack.agent.step.llm.input", "haystack.agent.input")
OUTPUT: Keys = (
    "haystack.component.output",
    "haystack.agent.step.llm.output",
    "haystack.agent.output",
)
NAMES: Names = msgspec.structs.replace(
    OTEL,
    tool_name=("haystack.tool.name",),
    tool_arguments=("haystack.agent.step.tool.input",),
    tool_result=("haystack.agent.step.tool.output",),
)


def matches(span: Span) -> bool:
    """Tell by the span's name."""
    return span.name.startswith(PREFIX)


def read(span: Span, memory: Memory) -> Facts:
    """Read a pipeline, a component or a step."""
    attributes = span.attributes
    role = _role(span)
    given, returned = _opened(first(attributes, INPUT)), _opened(first(attributes, OUTPUT))
    reading = Reading(role=role)
    if role == "tool":
        reading = Reading(role=role, tool=tool_use(span, NAMES))
    elif role == "retriever":
        reading = Reading(role=role, said=retrieval_of(_asked(given), returned, memory))
    elif role in {"llm", "agent"}:
        reading = Reading(role=role, said=said_of(role, given, returned, memory))
        attributes = told_in(attributes, returned) if role == "llm" else attributes
    return assembled(msgspec.structs.replace(span, attributes=attributes), reading, NAMES, NAME)


def _role(span: Span) -> FactRole:
    kind = text(span.attributes, TYPE)
    if kind:
        return next((role for end, role in ENDINGS.items() if kind.endswith(end)), "chain")
    role = ROLES.get(span.name, "other")
    # Before each call had a span of its own, one stood for all calls of a step.
    nameless = role == "tool" and not text(span.attributes, NAMES.tool_name)
    return "chain" if nameless else role


def _asked(given: AttributeValue) -> AttributeValue:
    """Return what a retriever looked for, beside what else it was told."""
    query = given.get("query") if isinstance(given, dict) else None
    return query if isinstance(query, str) else given


def _opened(value: Value) -> AttributeValue:
    return cast("AttributeValue", _bare(decoded(value)))


def _bare(value: JsonValue) -> JsonValue:
    """Take the underscores off, with which older versions begin a message's keys."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if isinstance(value, dict):
        return {key.removeprefix("_"): _bare(item) for key, item in value.items()}
    return value


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=SCOPES)
