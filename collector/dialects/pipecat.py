"""Read Pipecat's voice agents: OTel's names for models and tokens, generic ones for content.

Speech services follow the same shape with operations of their own, which are no calls. Models
of speech tell of request and response, and of a tool's call and result, in spans of their own.
"""

from __future__ import annotations

import msgspec

from collector.dialects import otel_genai
from collector.dialects.attributes import Keys, decoded, first, text
from collector.dialects.dialect import Dialect, Reading, Said
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system, system_text
from collector.dialects.tools import definitions
from collector.model import FactRole, Facts, Message
from collector.telemetry import Attributes, Span

NAME = "pipecat"
SCOPES = ("pipecat",)
ROLES: dict[str, FactRole] = {
    "conversation": "chain",
    "turn": "chain",
    "llm": "llm",
    "llm_request": "llm",
    "llm_response": "llm",
    "llm_tool_call": "tool",
    "llm_tool_result": "tool",
}
"""Role by the span's name; every other span is of speech."""
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    first_token_s=("metrics.ttfb",),
    tool_name=("tool.function_name",),
    tool_call_id=("tool.call_id",),
    tool_arguments=("tool.arguments",),
    tool_result=("tool.result",),
    tool_status=("tool.result_status",),
)
INPUT: Keys = ("input",)
OUTPUT: Keys = ("output", "text_output")
SYSTEM: Keys = ("gen_ai.system_instructions", "system_instructions", "system")
TOOLS: Keys = ("tools", "tools.definitions")
SPOKEN = "transcript"
IS_HEARD = "transcript.is_input"
MARK = "tool.function_name"


def matches(span: Span) -> bool:
    """Tell by the scope, or by a key that is nobody else's."""
    return span.scope_name.startswith(SCOPES) or MARK in span.attributes


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of any service."""
    attributes = span.attributes
    role = ROLES.get(span.name, "other")
    if role == "other" and text(attributes, (otel_genai.OPERATION,)) == "chat":
        role = "llm"
    reading = Reading(role=role)
    if role == "tool" or MARK in attributes:
        reading = Reading(role="tool", tool=tool_use(span, NAMES))
    elif role == "llm":
        reading = Reading(role=role, said=_said(attributes, memory))
    return assembled(span, reading, NAMES, NAME)


def _said(attributes: Attributes, memory: Memory) -> Said:
    system, given = split_system(history(first(attributes, INPUT), memory))
    returned = first(attributes, OUTPUT)
    output = () if returned is None else reply(returned)
    words = text(attributes, (SPOKEN,))
    if words and attributes.get(IS_HEARD) is True:
        given = given or (Message(role="user", text=words),)
    elif words and not output:
        output = (Message(role="assistant", text=words),)
    return Said(
        system_prompt=system_text(_instructions(attributes), memory) or system,
        tools=definitions(first(attributes, TOOLS), memory),
        input=given,
        output=output,
    )


def _instructions(attributes: Attributes) -> str:
    found = text(attributes, SYSTEM)
    opened = decoded(found) if found.startswith('"') else found
    return opened if isinstance(opened, str) else found


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=SCOPES)
