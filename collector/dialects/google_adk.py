"""Read Google's Agent Development Kit, whose older versions put whole requests into attributes.

Newer ones follow OTel and send the messages as log events.
"""

from __future__ import annotations

import msgspec

from collector.dialects import openinference, otel_genai
from collector.dialects.attributes import Keys, first, text
from collector.dialects.dialect import Dialect
from collector.dialects.inference import assembled
from collector.dialects.interning import Memory
from collector.dialects.whole import told_in
from collector.model import FactRole, Facts, Message
from collector.telemetry import LogRecord, Span

NAME = "google_adk"
SCOPE = "gcp.vertex.agent"
RESPONSE: Keys = ("gcp.vertex.agent.llm_response",)
MARKS = frozenset((*RESPONSE, "gcp.vertex.agent.llm_request", "gcp.vertex.agent.event_id"))
PREFIXES: dict[str, FactRole] = {
    "agent_run": "agent",
    "invocation": "chain",
    "call_llm": "llm",
    "send_data": "other",
}
"""Role by how a span's name begins, for the versions that name no operation."""
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    provider=("gen_ai.provider.name",),
    tool_arguments=("gcp.vertex.agent.tool_call_args", *otel_genai.NAMES.tool_arguments),
    tool_result=("gcp.vertex.agent.tool_response", *otel_genai.NAMES.tool_result),
)
PROVIDER = "gcp.gemini"
"""Said to be the system by versions that name themselves there."""


def matches(span: Span) -> bool:
    """Tell by the scope, or by the kit's own keys."""
    if span.scope_name == SCOPE:
        return True
    return not MARKS.isdisjoint(span.attributes) and otel_genai.matches(span)


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of any version."""
    role = _role(span)
    found = otel_genai.reading(span, role, memory, NAMES)
    attributes = span.attributes
    returned = first(attributes, RESPONSE) if role == "llm" else None
    if returned is not None:
        attributes = told_in(attributes, returned)
    if role == "llm" and not text(attributes, NAMES.provider):
        system = text(attributes, ("gen_ai.system",))
        attributes = attributes | {
            "gen_ai.provider.name": PROVIDER if system in {SCOPE, ""} else system
        }
    span = msgspec.structs.replace(span, attributes=attributes)
    facts = _without_numbers(assembled(span, found, NAMES, NAME))
    if role == "llm" and openinference.KIND in attributes and not (facts.input or facts.output):
        return _told_by_openinference(facts, openinference.read(span, memory))
    return facts


def _role(span: Span) -> FactRole:
    if otel_genai.OPERATION not in span.attributes:
        for prefix, role in PREFIXES.items():
            if span.name.startswith(prefix):
                return role
    return otel_genai.role_of(span)


def read_log(record: LogRecord, memory: Memory) -> Facts | None:
    """Read what the kit says of one call; a streamed reply is listed chunk by chunk."""
    if record.scope_name != SCOPE:
        return None
    found = otel_genai.read_log(record, memory)
    if found is None:
        return None
    found = _without_numbers(found)
    if len(found.output) < 2 or any(m.role != "assistant" for m in found.output):
        return found
    whole = Message(
        role="assistant",
        text="".join(message.text for message in found.output),
        tool_requests=tuple(r for message in found.output for r in message.tool_requests),
    )
    return msgspec.structs.replace(found, output=(whole,))


def _told_by_openinference(facts: Facts, told: Facts) -> Facts:
    """Take the messages that OpenInference wrote onto the kit's own span.

    It writes every call of a run onto the one span of the agent, each over the last: requests of
    an earlier reply, which the history repeats, are not of the last one.
    """
    known = [(r.name, r.arguments) for message in told.input for r in message.tool_requests]
    output = tuple(
        msgspec.structs.replace(
            message,
            tool_requests=tuple(
                r for r in message.tool_requests if (r.name, r.arguments) not in known
            ),
        )
        if message.text
        else message
        for message in told.output
    )
    return msgspec.structs.replace(
        facts,
        system_prompt=facts.system_prompt or told.system_prompt,
        tools=told.tools or facts.tools,
        input=told.input,
        output=output,
    )


def _without_numbers(facts: Facts) -> Facts:
    """Take out the ids that the kit makes up for calls that Gemini gave none.

    They are the tool's name and its place in the message, ``get_order_0``: other than the id on
    the tool's span, and the same again in the next turn.
    """
    made = {
        request.id: request.name
        for message in (*facts.input, *facts.output)
        for request in message.tool_requests
        if _is_place(request.id, request.name)
    }
    if not made:
        return facts
    return msgspec.structs.replace(
        facts,
        input=tuple(_renamed(message, made) for message in facts.input),
        output=tuple(_renamed(message, made) for message in facts.output),
    )


def _is_place(id: str, name: str) -> bool:
    head, _, place = id.rpartition("_")
    return bool(name) and head == name and place.isdecimal()


def _renamed(message: Message, made: dict[str, str]) -> Message:
    answers = made.get(message.tool_call_id, "")
    return msgspec.structs.replace(
        message,
        tool_requests=tuple(
            msgspec.structs.replace(request, id="") if request.id in made else request
            for request in message.tool_requests
        ),
        tool_call_id="" if answers else message.tool_call_id,
        tool_name=message.tool_name or answers,
    )


DIALECT = Dialect(name=NAME, matches=matches, read=read, read_log=read_log, scopes=(SCOPE,))
