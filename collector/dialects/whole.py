"""Read conventions that keep all of a span's input in one attribute, and all of its output.

Langfuse, LangSmith, Logfire and Traceloop do so always, OpenInference on agents and chains.
"""

from __future__ import annotations

import re

from collector.dialects.attributes import decoded
from collector.dialects.bodies import offered, told, transcript
from collector.dialects.dialect import Said
from collector.dialects.documents import documents_of
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.tools import definitions
from collector.model import FactRole, Message, ToolDefinition
from collector.telemetry import Attributes, AttributeValue

OFFERS = ('"tools"', '"functions"', '"parameters"', '"function_declarations"')
"""One of these stands in every text that offers tools."""
INSTRUCTIONS = '"instructions"'
UNREAD = re.compile(r"<[\w. ]+ object .{0,200}at 0x[0-9a-fA-F]+>\Z").match
"""What Python writes of a generator that nobody read."""
SUMS = ("agent", "chain")
"""Roles whose output may repeat all that went before it."""


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
