"""Turn what a dialect found into facts: usage, finish reason, provider, tool call.

The traps of the wire are handled here once for all conventions: usage counts only on leaf
calls, input tokens may or may not include the cached ones, and finish reasons lie.
"""

from __future__ import annotations

from typing import Any

from collector.dialects.attributes import Value, as_json, decoded, first, number, text
from collector.dialects.blocks import call_id, result_text
from collector.dialects.dialect import Names, Reading, Said, ToolUse
from collector.dialects.envelope import error_of, facts
from collector.dialects.tool_spans import arguments_in, opened
from collector.model import Facts, FinishReason, JsonValue, Message, ToolRequest, Usage
from collector.served import waits
from collector.telemetry import Attributes, Span

FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "incomplete": "length",
    "tool_call": "tool_call",
    "tool_calls": "tool_call",
    "tool-calls": "tool_call",
    "tool_use": "tool_call",
    "function_call": "tool_call",
    "content_filter": "content_filter",
    "content-filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
    "pause_turn": "pause",
    "error": "error",
    "failed": "error",
    "endoftext": "stop",
    "eos": "stop",
    "complete": "stop",
    "finish_reason_stop": "stop",
    "finishreason.stop": "stop",
    "finishreason.max_tokens": "length",
    "model_length": "length",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "recitation": "content_filter",
    "guardrail_intervened": "content_filter",
    "tool_calls_required": "tool_call",
    "cancelled": "error",
    "malformed_function_call": "error",
}
PROVIDERS = {
    "anthropic.messages": "anthropic",
    "az.ai.openai": "azure.ai.openai",
    "az.ai.inference": "azure.ai.inference",
    "openai.chat": "openai",
    "openai.responses": "openai",
    "vertex_ai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "gemini": "gcp.gemini",
    "google": "gcp.gen_ai",
    "xai": "x_ai",
    "bedrock": "aws.bedrock",
    "mistralai": "mistral_ai",
    "strands-agents": "",
    "langchain": "",
    "microsoft.agent_framework": "",
    "google_generativeai": "gcp.gemini",
    "google_genai": "gcp.gen_ai",
    "google_vertexai": "gcp.vertex_ai",
    "amazon_bedrock": "aws.bedrock",
    "aws": "aws.bedrock",
    "azure": "azure.ai.openai",
    "azure_openai": "azure.ai.openai",
    "mistral": "mistral_ai",
}
"""Spellings of providers; frameworks that name themselves are none."""
_MOST_TOKENS = 2**53
LEAVES = ("llm", "embedding")
"""The roles whose usage counts; every other sums up its children."""


def assembled(span: Span, reading: Reading, names: Names, dialect: str) -> Facts:
    """Build the facts of one span."""
    attributes = span.attributes
    role, said, tool = reading.role, reading.said, reading.tool
    found: dict[str, Any] = {
        "system_prompt": said.system_prompt,
        "tools": said.tools,
        "input": said.input,
        "output": said.output,
        "documents": said.documents,
        "previous_response_id": text(attributes, names.previous_response_id),
        "thread_id": text(attributes, names.thread_id),
        # An agent's model is part of the scope in which its histories are joined.
        "model": text(attributes, names.model) if role in (*LEAVES, "agent") else "",
    }
    if role in LEAVES:
        found["provider"] = provider(text(attributes, names.provider))
        found["response_id"] = text(attributes, names.response_id)
        found["usage"] = usage(attributes, names)
        found["cost_usd"] = number(attributes, names.cost_usd)
        found["first_token_s"] = first_token(attributes, names)
        found["finish_reason"] = finish_reason(
            first(attributes, names.finish_reason) or said.finish_reason, said.output
        )
    elif role == "tool":
        found["tool"] = tool.request
        found["tool_result"] = None if tool.result is None else result_text(tool.result)
        found["tool_is_error"] = True if error_of(span) else tool.is_error
    return facts(span, role=role, dialect=dialect, **found)


def provider(spelling: str) -> str:
    """Return a provider's name as the OTel convention spells it."""
    spelling = spelling.lower()
    return PROVIDERS.get(spelling, spelling)


def usage(attributes: Attributes, names: Names) -> Usage | None:
    """Read the tokens of one call; ``None`` when it says nothing.

    The conventions count cached tokens into the input, the raw provider APIs do not: where
    the cached ones exceed the input, it must be the latter form.
    """
    values = [
        number(attributes, keys)
        for keys in (
            names.input_tokens,
            names.output_tokens,
            names.cache_read,
            names.cache_write,
            names.reasoning,
        )
    ]
    if values[0] is None and values[1] is None:
        return None
    read, written, reasoning = (_tokens(value) for value in values[2:])
    total = _tokens(values[0])
    if read + written > total:
        total += read + written
    return Usage(
        input=total,
        output=_tokens(values[1]),
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
    )


def finish_reason(raw: Value, output: tuple[Message, ...]) -> FinishReason:
    """Normalise a finish reason; a reply that waits for a tool ended with that."""
    if isinstance(raw, str) and raw.startswith("["):
        raw = decoded(raw)
    spoken = [
        FINISH_REASONS.get(reason.lower(), "")
        for reason in (raw if isinstance(raw, list) else [raw])
        if isinstance(reason, str)
    ]
    reason: FinishReason = "tool_call"
    if "tool_call" not in spoken:
        reason = next((known for known in spoken if known), "")
    if reason in {"", "stop"} and waits(output):
        return "tool_call"
    return reason


def first_token(attributes: Attributes, names: Names) -> float | None:
    """Return the seconds to the first token; some producers say milliseconds."""
    seconds = number(attributes, names.first_token_s)
    if seconds is not None:
        return seconds
    milliseconds = number(attributes, names.first_token_ms)
    return None if milliseconds is None else milliseconds / 1000


def tool_use(span: Span, names: Names, *, name: str = "") -> ToolUse:
    """Read a tool span whose attributes hold name, id, arguments and result."""
    attributes = span.attributes
    name = text(attributes, names.tool_name) or name
    arguments = first(attributes, names.tool_arguments)
    status = text(attributes, names.tool_status).lower()
    use = ToolUse(
        request=ToolRequest(
            id=call_id(as_json(first(attributes, names.tool_call_id))),
            name=name,
            arguments=None if arguments is None else arguments_in(arguments),
        )
        if name
        else None,
        result=_json(first(attributes, names.tool_result)),
        is_error=status not in {"success", "ok", "completed"} if status else None,
    )
    return opened(use)


def parting_words(said: Said) -> Said:
    """Keep of an agent's merged output only what it said.

    Frameworks that merge all steps of a run into one message put them in the wrong order.
    """
    if not any(message.role == "tool" for message in said.output):
        return said
    return Said(
        system_prompt=said.system_prompt,
        tools=said.tools,
        input=said.input,
        output=tuple(
            Message(role="assistant", text=message.text)
            for message in said.output
            if message.role == "assistant" and message.text
        ),
    )


def _tokens(value: float | None) -> int:
    """Return a count of tokens; nobody spends more than a double can count exactly."""
    return int(min(max(0.0, value), _MOST_TOKENS)) if value else 0


def _json(value: Value) -> JsonValue:
    return value if isinstance(value, str) else decoded(value)
