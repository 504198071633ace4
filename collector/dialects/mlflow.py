"""Read MLflow's tracing, by which it records DSPy, CrewAI, AutoGen and many others.

Every value is JSON text, names too. Inputs and outputs are whole: a provider's request and
response, or the arguments and the return value of a function.
"""

from __future__ import annotations

import msgspec

from collector.dialects.attributes import Keys, decoded, first
from collector.dialects.dialect import Dialect, Names
from collector.dialects.inference import assembled
from collector.dialects.interning import Memory
from collector.dialects.tools import definitions
from collector.dialects.whole import reading_of, told_in
from collector.model import FactRole, Facts
from collector.telemetry import Attributes, Span

NAME = "mlflow"
KIND = "mlflow.spanType"
ROLES: dict[str, FactRole] = {
    "LLM": "llm",
    "CHAT_MODEL": "llm",
    "TOOL": "tool",
    "AGENT": "agent",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "TASK": "chain",
    "RETRIEVER": "retriever",
    "RERANKER": "retriever",
    "EMBEDDING": "embedding",
    "GUARDRAIL": "guardrail",
    "EVALUATOR": "evaluation",
}
INPUT: Keys = ("mlflow.spanInputs",)
OUTPUT: Keys = ("mlflow.spanOutputs",)
TOOLS: Keys = ("mlflow.chat.tools",)
USAGE = "mlflow.chat.tokenUsage"
COST = "mlflow.llm.cost"
NAMED = ("mlflow.llm.model", "mlflow.llm.provider")
NAMES = Names(
    provider=("mlflow.llm.provider", "gen_ai.provider.name", "gen_ai.system"),
    model=("gen_ai.response.model", "mlflow.llm.model", "gen_ai.request.model"),
    response_id=("gen_ai.response.id",),
    finish_reason=("gen_ai.response.finish_reasons",),
    input_tokens=(f"{USAGE}.input_tokens", "gen_ai.usage.input_tokens"),
    output_tokens=(f"{USAGE}.output_tokens", "gen_ai.usage.output_tokens"),
    cache_read=(f"{USAGE}.cache_read_input_tokens", "gen_ai.usage.cache_read.input_tokens"),
    cache_write=(
        f"{USAGE}.cache_creation_input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
    ),
    reasoning=("gen_ai.usage.reasoning.output_tokens",),
    cost_usd=(f"{COST}.total_cost",),
    tool_call_id=("gen_ai.tool.call.id",),
    tool_arguments=INPUT,
    tool_result=OUTPUT,
)


def matches(span: Span) -> bool:
    """Tell whether the span names its MLflow type."""
    return KIND in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of any integration."""
    attributes = span.attributes
    kind = decoded(attributes.get(KIND))
    role = ROLES.get(kind.upper(), "other") if isinstance(kind, str) else "other"
    given, returned = first(attributes, INPUT), first(attributes, OUTPUT)
    tools = definitions(first(attributes, TOOLS), memory)
    reading = reading_of(span, role, given, returned, tools=tools, names=NAMES, memory=memory)
    if role == "llm":
        attributes = _spelled(told_in(attributes, returned))
    return assembled(msgspec.structs.replace(span, attributes=attributes), reading, NAMES, NAME)


def _spelled(attributes: Attributes) -> Attributes:
    """Take names and numbers out of their JSON."""
    more: Attributes = {}
    for key in (USAGE, COST):
        counts = decoded(attributes.get(key))
        if isinstance(counts, dict):
            more |= {
                f"{key}.{name}": count
                for name, count in counts.items()
                if isinstance(count, (int, float))
            }
    for key in NAMED:
        name = decoded(attributes.get(key))
        if isinstance(name, str):
            more[key] = name
    return attributes | more


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=("mlflow",))
