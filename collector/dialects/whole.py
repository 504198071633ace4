"""Read conventions that keep all of a span's input in one attribute, and all of its output.

Langfuse, LangSmith, Logfire, MLflow and Traceloop do so always, OpenInference on agents and chains.
"""

from __future__ import annotations

import re

import msgspec

from collector.dialects.attributes import decoded
from collector.dialects.bodies import offered, told, transcript
from collector.dialects.dialect import Names, Reading, Said
from collector.dialects.documents import documents_of
from collector.dialects.inference import tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.tools import bare_name, definitions
from collector.model import FactRole, Message, ToolDefinition
from collector.telemetry import Attributes, AttributeValue, Span

OFFERS = ('"tools"', '"functions"', '"parameters"', '"function_declarations"')
"""One of these stands in every text that offers tools."""
INSTRUCTIONS = '"instructions"'
UNREAD = re.compile(r"<[\w. ]+ object .{0,200}at 0x[0-9a-fA-F]+>\Z").match
"""What Python writes of a generator that nobody read."""
SUMS = ("agent", "chain")
"""Roles whose output may repeat all that went before it."""


def reading_of(
    span: Span,
    role: FactRole,
    given: AttributeValue,
    returned: AttributeValue,
    *,
    tools: tuple[ToolDefinition, ...],
    names: Names,
    memory: Memory,
) -> Reading:
    """Read a span by its role: a tool's by ``names``, all others by what was given and returned.

    Args:
        span: A tool's name is the span's.
        role: What the span is.
        given: Its whole input.
        returned: Its whole output.
        tools: What it offers, where the convention says so elsewhere.
        names: Where a tool's arguments and result stand.
        memory: For texts that come again.
    """
    if role == "tool":
        return Reading(role=role, tool=tool_use(span, names, name=bare_name(span.name)))
    if role == "retriever":
        return Reading(role=role, said=retrieval_of(given, returned, memory))
    if role in {"llm", "agent"} or (role == "chain" and not span.parent_id):
        said = said_of(role, given, returned, memory)
        return Reading(role=role, said=msgspec.structs.replace(said, tools=tools or said.tools))
    return Reading(role=role)


def said_of(
    role: FactRole, given: AttributeValue, returned: AttributeValue, memory: Memory
) -> Said:
    """Read input and output, whatever shape they have."""
    written = transcript(given) if role == "llm" else None
    system, messages = split_system(
        reply(written) if written else () if given is None else history(given, memory)
    )
    output = () if returned is None else reply(returned)
    if role in SUMS:
        return Said(system_prompt=system, input=messages, output=_parting(messages, output))
    tools = tools_in(given, memory)
    if isinstance(returned, str) and INSTRUCTIONS in returned:
        # OpenAI's responses repeat what the request said.
        system = system or _instructions(returned)
        tools = tools or tools_in(returned, memory)
    return Said(system_prompt=system, tools=tools, input=messages, output=output)


def _instructions(returned: str) -> str:
    found = decoded(returned)
    text = found.get("instructions") if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""


def tools_in(given: AttributeValue, memory: Memory) -> tuple[ToolDefinition, ...]:
    """Return the tools that a request offers beside its messages."""
    if isinstance(given, str) and not any(mark in given for mark in OFFERS):
        return ()
    found = offered(decoded(given))
    return definitions(found, memory) if found else ()


def told_in(attributes: Attributes, returned: AttributeValue) -> Attributes:
    """Return the attributes with what the response itself says of usage, reason and id."""
    if isinstance(returned, str) and not returned.startswith(("{", "[{")):
        return attributes
    more = told(decoded(returned))
    return more | attributes if more else attributes


def _parting(given: tuple[Message, ...], output: tuple[Message, ...]) -> tuple[Message, ...]:
    """Keep of what an agent returns only what it said last."""
    if given and output[: len(given)] == given:
        output = output[len(given) :]
    said = [m for m in output if m.role == "assistant" and m.text and not m.tool_requests]
    return tuple(m for m in said[-1:] if not UNREAD(m.text))


def retrieval_of(given: AttributeValue, returned: AttributeValue, memory: Memory) -> Said:
    """Read what was looked for, as a user's message, and what was found."""
    asked = () if given is None else history(given, memory)
    return Said(
        input=tuple(m for m in asked if m.role == "user")[-1:],
        documents=documents_of(returned),
    )
