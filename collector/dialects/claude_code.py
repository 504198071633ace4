"""Read Claude Code, and programs built on its Agent SDK: log events, and spans where switched on.

One event a fact: what the user typed, what was answered, each API request with its tokens,
each tool's result. They name the session, and mostly no span, so each stands for itself; a
request is known by its id and a tool's call by the id of its use, by which they meet the
spans that tell of the same. Cached tokens are not in the input here. Content is
``<REDACTED>`` unless the user switched it on.
"""

from __future__ import annotations

import re

import msgspec

from collector.dialects.attributes import Keys, decoded, first, number, plain, text
from collector.dialects.dialect import Dialect, Names, Reading, Said
from collector.dialects.inference import assembled, tool_use
from collector.dialects.interning import Memory
from collector.dialects.messages import history, reply, split_system
from collector.dialects.whole import said_of, told_in
from collector.model import FactRole, Facts
from collector.telemetry import Attributes, LogRecord, Span

NAME = "claude_code"
SCOPES = ("com.anthropic.claude_code",)
PREFIX = "claude_code."
"""Before the names of spans and of log bodies; ``event.name`` has it only in some versions."""
SPAN_TYPE: Keys = ("span.type",)
ROLES: dict[str, FactRole] = {
    "interaction": "agent",
    "llm_request": "llm",
    "tool": "tool",
    "tool.execution": "other",
    "tool.blocked_on_user": "other",
    "user_prompt": "agent",
    "assistant_response": "agent",
    "api_request": "llm",
    "api_error": "llm",
    "api_refusal": "llm",
    "api_request_body": "llm",
    "api_response_body": "llm",
    "tool_result": "tool",
}
"""Role by the kind of span, and by the name of the event."""
EVENTS = frozenset(
    (
        "user_prompt",
        "assistant_response",
        "api_request",
        "api_error",
        "api_refusal",
        "api_request_body",
        "api_response_body",
        "tool_result",
    )
)
"""The events that say something of a conversation."""
INPUT_TOKENS, CACHE_READ, CACHE_WRITE = (
    "input_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
)
NAMES = Names(
    model=("gen_ai.response.model", "model", "gen_ai.request.model"),
    response_id=("request_id", "gen_ai.response.id"),
    finish_reason=("stop_reason", "gen_ai.response.finish_reasons"),
    input_tokens=(INPUT_TOKENS,),
    output_tokens=("output_tokens",),
    cache_read=(CACHE_READ, "cache_read_input_tokens"),
    cache_write=(CACHE_WRITE, "cache_creation_input_tokens"),
    cost_usd=("cost_usd",),
    first_token_ms=("ttft_ms",),
    tool_name=("tool_name", "gen_ai.tool.name"),
    tool_call_id=("tool_use_id", "gen_ai.tool.call.id"),
    tool_arguments=("tool_input", "tool_parameters", "gen_ai.tool.call.arguments"),
    tool_result=("tool_output", "tool_result", "output", "gen_ai.tool.call.result"),
)
PROMPT: Keys = ("prompt", "user_prompt", "gen_ai.input.messages")
ANSWER: Keys = ("response", "text", "assistant_response", "gen_ai.output.messages")
BODY: Keys = ("body", "request_body", "response_body")
OUTPUT_EVENT = "tool.output"
"""Event on a tool's span that holds its output."""
MCP_TOOL = "mcp_tool"
"""What events call every tool of an MCP server; which one, the parameters say."""
SUCCESS: Keys = ("success",)
ERROR: Keys = ("error", "error_type", "error_message")
DURATION: Keys = ("duration_ms",)
LONGEST_MS = 10**10
PROVIDER = "anthropic"
REFUSED = "refusal"


def matches(span: Span) -> bool:
    """Tell by the scope, or by the span's name."""
    return span.scope_name.startswith(SCOPES) or span.name.startswith(PREFIX)


def read(span: Span, memory: Memory) -> Facts:
    """Read a span."""
    kind = text(span.attributes, SPAN_TYPE) or span.name
    return _read(span, kind.removeprefix(PREFIX), memory)


def read_log(record: LogRecord, memory: Memory) -> Facts | None:
    """Read an event; ``None`` for those that say nothing of a conversation."""
    kind = event_of(record)
    if not kind:
        return None
    took = min(max(number(record.attributes, DURATION) or 0.0, 0.0), LONGEST_MS)
    span = Span(
        trace_id=record.trace_id,
        span_id="",
        name=PREFIX + kind,
        start_ns=max(0, record.time_ns - int(took * 1e6)),
        end_ns=record.time_ns,
        attributes=record.attributes,
        resource=record.resource,
    )
    return _read(span, kind, memory)


def event_of(record: LogRecord) -> str:
    """Return the event's name without prefix; empty when it is none of ours."""
    name = record.event_name or plain(record.body)
    kind = name.removeprefix(PREFIX)
    if kind not in EVENTS:
        return ""
    is_ours = (
        record.scope_name.startswith(SCOPES)
        or name.startswith(PREFIX)
        or plain(record.body).startswith(PREFIX)
    )
    return kind if is_ours else ""


def _read(span: Span, kind: str, memory: Memory) -> Facts:
    role = ROLES.get(kind, "other")
    attributes = span.attributes
    reading = Reading(role=role)
    if role == "agent":
        reading = Reading(role=role, said=_said(attributes, memory))
    elif role == "tool":
        use = tool_use(_told(span), NAMES)
        succeeded = _succeeded(attributes)
        failed = use.is_error if succeeded is None else not succeeded
        reading = Reading(role=role, tool=msgspec.structs.replace(use, is_error=failed))
    elif role == "llm":
        attributes = _counted(_failed(attributes, kind))
        body = first(attributes, BODY)
        said = _said(attributes, memory)
        if kind == "api_request_body":
            said = said_of(role, body, None, memory)
        elif kind == "api_response_body":
            said = said_of(role, None, body, memory)
            attributes = told_in(attributes, body)
        reading = Reading(role=role, said=said)
    found = assembled(msgspec.structs.replace(span, attributes=attributes), reading, NAMES, NAME)
    return msgspec.structs.replace(found, provider=PROVIDER) if role == "llm" else found


def _told(span: Span) -> Span:
    """Give a tool its full name and its output, which stand beside the usual attributes."""
    attributes = span.attributes
    if text(attributes, NAMES.tool_name) == MCP_TOOL:
        given = decoded(first(attributes, ("tool_parameters",)))
        of = given if isinstance(given, dict) else {}
        server, tool = of.get("mcp_server_name"), of.get("mcp_tool_name")
        if isinstance(server, str) and isinstance(tool, str):
            attributes = attributes | {"tool_name": _mcp_name(server, tool)}
    for event in span.events:
        if event.name == OUTPUT_EVENT and "output" in event.attributes:
            attributes = attributes | {"tool_output": event.attributes["output"]}
    return msgspec.structs.replace(span, attributes=attributes)


def _mcp_name(server: str, tool: str) -> str:
    """Return the name by which the model, and with it the tool's span, knows an MCP server's tool."""
    return "__".join(("mcp", *(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in (server, tool))))


def _succeeded(attributes: Attributes) -> bool | None:
    """Return whether it succeeded; older versions write the flag as text."""
    value = first(attributes, SUCCESS)
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(plain(value).lower())


def _said(attributes: Attributes, memory: Memory) -> Said:
    prompt, answer = first(attributes, PROMPT), first(attributes, ANSWER)
    system, given = split_system(() if prompt is None else history(prompt, memory))
    output = () if answer is None else reply(answer)
    return Said(system_prompt=system, input=given, output=output)


def _counted(attributes: Attributes) -> Attributes:
    """Add the cached tokens to the input, which does not include them here."""
    given = number(attributes, NAMES.input_tokens)
    cached = [number(attributes, keys) or 0 for keys in (NAMES.cache_read, NAMES.cache_write)]
    if given is None or not any(cached):
        return attributes
    return attributes | {INPUT_TOKENS: given + sum(cached)}


def _failed(attributes: Attributes, kind: str) -> Attributes:
    if kind == "api_refusal":
        return {"stop_reason": REFUSED} | attributes
    failed = kind == "api_error" or _succeeded(attributes) is False
    if not failed or "error.type" in attributes:
        return attributes
    return attributes | {"error.type": text(attributes, ERROR)[:200] or "error"}


DIALECT = Dialect(name=NAME, matches=matches, read=read, read_log=read_log, scopes=SCOPES)
