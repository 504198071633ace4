"""Read pydantic-ai and Logfire: OTel keys, and beside them whole requests, responses, events.

Logfire's integrations of Anthropic and OpenAI record ``request_data`` and ``response_data``,
of the Responses API and older pydantic-ai a list of ``events``. A streamed call is a span
without a reply and, when the stream ended, a second one with it: only that one is the call.
"""

from __future__ import annotations

import re

import msgspec

from collector.dialects import otel_genai
from collector.dialects.attributes import Keys, attributes_of, decoded, first, plain, text
from collector.dialects.bodies import told
from collector.dialects.dialect import Dialect, Reading, Said
from collector.dialects.genai_events import heard
from collector.dialects.inference import assembled, parting_words, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.tools import bare_name
from collector.dialects.whole import said_of, told_in
from collector.model import FactRole, Facts, JsonValue, Message, ToolRequest
from collector.telemetry import Attributes, AttributeValue, Span

NAME = "logfire"
SCOPES = ("pydantic-ai", "logfire")
REQUEST: Keys = ("request_data", "raw_input")
RESPONSE: Keys = ("response_data", "response")
EVENTS: Keys = ("events",)
GENERATION: tuple[Keys, Keys] = (("input",), ("output",))
"""Of the OpenAI Agents SDK: its ``request_data`` has the reply among what was asked."""
RAW_USAGE: Keys = ("gen_ai.usage.raw", "usage")
"""The provider's own counts, some of which stand nowhere else."""
ALL: Keys = ("pydantic_ai.all_messages", "all_messages_events")
"""Everything that was said in an agent's run: messages, and in the oldest form events."""
RESULT: Keys = ("final_result",)
AGENT_MARKS = frozenset((*ALL, *RESULT, "agent_name"))
CALL_MARKS = frozenset((*REQUEST, *RESPONSE))
REPLY_MARKS = frozenset(
    (
        "gen_ai.output.messages",
        "response_data",
        "response",
        "output",
        "gen_ai.usage.output_tokens",
        "images",
    ),
)
MARKS = frozenset((*AGENT_MARKS, *CALL_MARKS, *EVENTS, "rpc.method"))
NAMES = msgspec.structs.replace(
    otel_genai.NAMES,
    tool_arguments=(*otel_genai.NAMES.tool_arguments, "input", "request"),
    tool_result=(*otel_genai.NAMES.tool_result, "output", "response"),
)
FUNCTION, RUN, REMOTE = "Function: ", "Agent run", "tools/call"
"""How spans of the OpenAI Agents integration and of MCP begin, and MCP's method."""
REFUSED = re.compile(r'Content filter triggered\. Refusal: "(.+?)"(?:, body:|\Z)', re.DOTALL).match
"""What pydantic-ai's error says where OpenAI's message has a refusal and no content."""
EVENT_NAME = "event.name"
FAILED = 2
STEP = "sdk_span_type"
"""Marks the turns and the task of the OpenAI Agents SDK."""
DIRECT = "anthropic"
"""The provider whose arguments are recorded inside an object with ``input``."""


def matches(span: Span) -> bool:
    """Tell by the scope, and by keys that are nobody else's."""
    attributes = span.attributes
    if span.scope_name.startswith(SCOPES):
        return (
            not MARKS.isdisjoint(attributes)
            or span.name.startswith((FUNCTION, RUN))
            or otel_genai.matches(span)
        )
    return "request_data" in attributes and otel_genai.matches(span)


def read(span: Span, memory: Memory) -> Facts:
    """Read a span of either package."""
    role = role_of(span)
    attributes = span.attributes
    reading = otel_genai.reading(span, role, memory, NAMES)
    if role == "tool":
        use = reading.tool
        if span.name.startswith(FUNCTION):
            use = tool_use(span, NAMES, name=text(attributes, ("name",)) or bare_name(span.name))
        reading = msgspec.structs.replace(reading, tool=use)
    elif role == "agent":
        reading = Reading(role=role, said=_run(span, reading.said, memory))
    elif role == "llm":
        reading = Reading(role=role, said=_call(attributes, reading.said, memory))
        attributes = told_in(attributes, _exchanged(attributes)[1])
        attributes = told({"usage": decoded(first(attributes, RAW_USAGE))}) | attributes
    found = assembled(msgspec.structs.replace(span, attributes=attributes), reading, NAMES, NAME)
    name = text(attributes, ("name", "agent_name")) if role == "agent" else ""
    return msgspec.structs.replace(found, name=name) if name else found


def role_of(span: Span) -> FactRole:
    """Resolve the role: the operation, else which keys are there."""
    attributes = span.attributes
    known = otel_genai.role_of(span)
    if known == "llm" and _is_stream(span):
        return "other"
    if known not in {"other", "llm"} or otel_genai.OPERATION in attributes:
        return known
    method = text(attributes, ("rpc.method",))
    if method:
        return "tool" if method == REMOTE else "other"
    return _without_operation(span, known)


def _without_operation(span: Span, known: FactRole) -> FactRole:
    attributes = span.attributes
    if STEP in attributes:
        return "chain"
    if not AGENT_MARKS.isdisjoint(attributes) or span.name.startswith(RUN):
        return "agent"
    if known == "llm":
        return known
    if span.name.startswith(FUNCTION):
        return "tool"
    is_call = "gen_ai.response.model" in attributes or not CALL_MARKS.isdisjoint(attributes)
    return "llm" if is_call and "rpc.system" not in attributes else "other"


def _is_stream(span: Span) -> bool:
    """Tell whether the reply of this call stands in the span that ended the stream."""
    attributes = span.attributes
    return (
        "request_data" in attributes
        and "duration" not in attributes
        and REPLY_MARKS.isdisjoint(attributes)
        and span.status_code != FAILED
    )


def _call(attributes: Attributes, said: Said, memory: Memory) -> Said:
    """Fill in from the events, then from the raw request and response."""
    if not said.input or not said.output:
        said = _filled(said, _happened(first(attributes, EVENTS)))
    request, response = _exchanged(attributes)
    if (request is None and response is None) or (said.input and said.output and said.tools):
        return said
    whole = said_of("llm", request, response, memory)
    if text(attributes, NAMES.provider) == DIRECT:
        output = tuple(map(_direct, whole.output))
        whole = msgspec.structs.replace(whole, output=output)
    return _filled(said, whole)


def _exchanged(attributes: Attributes) -> tuple[AttributeValue, AttributeValue]:
    """Return the raw request and the raw response."""
    own = GENERATION if first(attributes, GENERATION[1]) is not None else (REQUEST, RESPONSE)
    return first(attributes, own[0]), first(attributes, own[1])


def _run(span: Span, said: Said, memory: Memory) -> Said:
    """Read an agent's run: what it was asked, and what it said last."""
    attributes = span.attributes
    said = parting_words(said)
    if said.input and said.output:
        return said
    everything = first(attributes, ALL)
    found = decoded(everything)
    if isinstance(found, list) and any(isinstance(e, dict) and EVENT_NAME in e for e in found):
        happened = _happened(everything)
        system, messages = happened.system_prompt, (*happened.input, *happened.output)
    else:
        system, messages = split_system(() if everything is None else history(everything, memory))
    last = len(messages) - 1 if messages and messages[-1].role == "assistant" else len(messages)
    result = first(attributes, RESULT)
    output = messages[last:] or (reply(result) if result is not None else _refusal(span))
    return _filled(said, Said(system_prompt=system, input=messages[:last], output=output))


def _refusal(span: Span) -> tuple[Message, ...]:
    """Read how the model refused, of which only the error that ended the run tells."""
    for event in span.events:
        found = REFUSED(plain(event.attributes.get("exception.message")))
        if found:
            return (Message(role="assistant", text=found[1]),)
    return ()


def _happened(value: object) -> Said:
    """Read a list of events, one a message; the last words are the reply."""
    found = decoded(value) if isinstance(value, (str, list)) else None
    events = [
        (plain(event.get(EVENT_NAME)), attributes_of(event))
        for event in (found if isinstance(found, list) else [])
        if isinstance(event, dict)
    ]
    said = heard(events)
    given, output = said.input, said.output
    while not output and given and given[-1].role == "assistant":
        given, output = given[:-1], (given[-1], *output)
    return Said(
        system_prompt=said.system_prompt,
        input=given,
        output=output,
        finish_reason=said.finish_reason,
    )


def _filled(said: Said, more: Said) -> Said:
    return Said(
        system_prompt=said.system_prompt or more.system_prompt,
        tools=said.tools or more.tools,
        input=said.input or more.input,
        output=said.output or more.output,
        documents=said.documents,
        finish_reason=said.finish_reason or more.finish_reason,
    )


def _direct(message: Message) -> Message:
    requests = tuple(
        ToolRequest(id=r.id, name=r.name, arguments=_inner(r.arguments))
        for r in message.tool_requests
    )
    return msgspec.structs.replace(message, tool_requests=requests)


def _inner(arguments: JsonValue) -> JsonValue:
    only = isinstance(arguments, dict) and arguments.keys() == {"input"}
    inner = arguments.get("input") if only and isinstance(arguments, dict) else None
    return inner if isinstance(inner, dict) else arguments


DIALECT = Dialect(name=NAME, matches=matches, read=read, scopes=SCOPES)
