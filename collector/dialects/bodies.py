"""Take messages out of whole requests and responses, and out of what frameworks put around them.

Conventions that keep one attribute for "the input" and one for "the output" put anything
there: a provider's request, its response, LangChain's generations, an agent's state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from collector.dialects.attributes import Keys, as_number
from collector.dialects.blocks import string
from collector.dialects.chat_message import chat_message
from collector.dialects.literals import literal
from collector.model import JsonValue
from collector.telemetry import Attributes, AttributeValue

Body = dict[str, JsonValue]

REQUEST: Keys = ("messages", "input", "contents", "new_message")
"""Where a request keeps its messages; looked at before the whole is taken for a message."""
RESPONSE: Keys = ("choices", "candidates", "generations", "replies", "output", "messages")
ASKED: Keys = (
    "prompt",
    "inputText",
    "inputs",
    "question",
    "query",
    "task",
    "user_prompt",
    "user_input",
    "user_message",
    "chat_input",
    "text",
    "message",
)
"""Names of the text that a user gave, where there are no messages."""
ANSWERED: Keys = (
    "message",
    "outputs",
    "response",
    "answer",
    "result",
    "output_text",
    "final_output",
    "final_answer",
    "completion",
    "generated_text",
    "combined_chunk_content",
    "return_values",
    "text",
)
SYSTEM: Keys = (
    "system",
    "instructions",
    "system_instruction",
    "systemInstruction",
    "system_instructions",
    "system_prompt",
    "developer_prompt",
)
SETTINGS: Keys = ("config", "generation_config", "generationConfig", "kwargs", "toolConfig")
"""Where requests keep what is no message: Google's and LangChain's, and Bedrock's tools."""
TOOLS: Keys = ("tools", "functions", "function_declarations", "functionDeclarations")
SPEAKERS = frozenset(
    (
        "system",
        "developer",
        "user",
        "human",
        "assistant",
        "ai",
        "model",
        "tool",
        "function",
        "function_call",
        "function_call_output",
        "message",
        "aimessagechunk",
    ),
)
"""Types that make a dictionary a message though it names no role."""
CONTENT: Keys = ("role", "parts", "content", "contents", "tool_calls")
REPR = re.compile(
    r"role=['\"](\w+)['\"] content=(None|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL
).match
REPR_CALLS = re.compile(r" tool_calls=(\[.*\]) [a-z_]+=", re.DOTALL).search
REPR_ID = re.compile(r" tool_call_id=['\"]([^'\"]*)['\"]").search
OPENING = re.compile(r"(?:system|developer|user|human|assistant): ", re.IGNORECASE).match
LINE = re.compile(r"^(system|developer|user|human|assistant|tool): ", re.IGNORECASE | re.MULTILINE)
"""How OpenLIT writes a chat down as one text."""
CALLED = frozenset(("args", "kwargs"))
"""What decorators record of a function's input."""
DEEPEST = 8
COUNTS: dict[str, Sequence[tuple[str, ...]]] = {
    "gen_ai.usage.input_tokens": (
        ("input_tokens",),
        ("prompt_tokens",),
        ("prompt_token_count",),
        ("promptTokenCount",),
        ("inputTokens",),
        ("promptTokens",),
        ("prompt_eval_count",),
    ),
    "gen_ai.usage.output_tokens": (
        ("output_tokens",),
        ("completion_tokens",),
        ("candidates_token_count",),
        ("candidatesTokenCount",),
        ("outputTokens",),
        ("completionTokens",),
        ("eval_count",),
    ),
    "gen_ai.usage.cache_read.input_tokens": (
        ("cache_read_input_tokens",),
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("input_token_details", "cache_read"),
        ("cached_content_token_count",),
        ("cachedContentTokenCount",),
        ("cacheReadInputTokens",),
    ),
    "gen_ai.usage.cache_creation.input_tokens": (
        ("cache_creation_input_tokens",),
        ("prompt_tokens_details", "cache_write_tokens"),
        ("input_tokens_details", "cache_write_tokens"),
        ("input_token_details", "cache_creation"),
        ("cacheWriteInputTokens",),
    ),
    "gen_ai.usage.reasoning.output_tokens": (
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("output_token_details", "reasoning"),
        ("thoughts_token_count",),
        ("thoughtsTokenCount",),
    ),
}
"""Where providers' own usage objects keep a count, by the key it is looked up under."""
INPUT_TOKENS = "gen_ai.usage.input_tokens"
EXCLUSIVE: Keys = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic's own counts of cached tokens, which its input does not include."""
USAGE: Keys = ("usage", "usage_metadata", "usageMetadata", "token_usage", "tokenUsage")
METADATA: Keys = (
    "response_metadata",
    "llm_output",
    "generation_info",
    "meta",
    "kwargs",
    "message",
    "data",
    "raw",
)
FINISH: Keys = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason")
ID: Keys = ("id", "responseId", "response_id")
RESPONSE_ID = re.compile(r"(?:msg_|chatcmpl-|resp_)\w").match
"""How the ids of responses begin, as opposed to those that frameworks give their messages."""
MODEL: Keys = ("model", "model_name", "modelVersion", "model_version")


def asked(body: Body) -> list[JsonValue] | None:
    """Return the messages of a request, its instructions first; ``None`` when it is none."""
    if CALLED.issuperset(body):
        return _called_with(body)
    found = _listed(body, REQUEST)
    if found is None and not is_message(body):
        found = _listed(body, (*ASKED, *REQUEST))
    if found is None:
        return None
    return [*_instructions(body), *found]


def answered(body: Body) -> list[JsonValue] | None:
    """Return the messages of a response; ``None`` when it is none."""
    found = _listed(body, RESPONSE)
    if found is None and not is_message(body):
        found = _listed(body, (*ANSWERED, *RESPONSE))
    return found


def is_message(body: Body) -> bool:
    """Tell whether a dictionary is one message."""
    kind = body.get("type")
    return any(key in body for key in CONTENT) or (
        isinstance(kind, str) and kind.lower() in SPEAKERS
    )


def offered(value: JsonValue) -> JsonValue:
    """Return the tools that a request offers, or that LangChain put among its messages."""
    if isinstance(value, dict):
        for place in (value, *(value.get(key) for key in SETTINGS)):
            for key in TOOLS:
                found = place.get(key) if isinstance(place, dict) else None
                if isinstance(found, list) and found:
                    return found
        value = value.get("messages")
    if isinstance(value, list):
        return [definition for item in value if (definition := definition_in(item)) is not None]
    return []


def definition_in(message: JsonValue) -> JsonValue:
    """Return the tool definition that was put in the place of a message."""
    if not isinstance(message, dict) or message.get("role") != "tool":
        return None
    content = message.get("content")
    if not isinstance(content, dict) or "tool_call_id" in message:
        return None
    inner = content.get("function", content)
    if (
        isinstance(inner, dict)
        and "name" in inner
        and not {"parameters", "description"}.isdisjoint(inner)
    ):
        return content
    return None


def spoken(text: str) -> JsonValue:
    """Read the ``repr`` of a message object; text that is none stays text."""
    found = REPR(text) if text.startswith("role=") else None
    if found is None:
        return chat_message(text)
    content = None if found[2] == "None" else literal(found[2])
    message: Body = {"role": found[1], "content": content}
    calls, answers = REPR_CALLS(text, found.end()), REPR_ID(text, found.end())
    if calls:
        message["tool_calls"] = literal(calls[1])
    if answers:
        message["tool_call_id"] = answers[1]
    return message


def transcript(text: AttributeValue) -> list[AttributeValue]:
    """Split a text that was put together of ``role: words``; empty when it is none."""
    if not isinstance(text, str) or not OPENING(text):
        return []
    parts = LINE.split(text)
    return [
        {"role": role.lower(), "content": words.strip("\n")}
        for role, words in zip(parts[1::2], parts[2::2], strict=True)
    ]


def told(body: JsonValue) -> Attributes:
    """Return what a response says beside its messages, under OTel's keys."""
    found: Attributes = {}
    for place in _places(body, DEEPEST):
        for key in USAGE:
            usage = place.get(key)
            if isinstance(usage, dict):
                counted = _counts(usage)
                # Another object may count in more detail; a total it may count otherwise.
                if found.get(INPUT_TOKENS, counted.get(INPUT_TOKENS)) == counted.get(INPUT_TOKENS):
                    found = counted | found
        reason = string(place, FINISH)
        if reason:
            found.setdefault("gen_ai.response.finish_reasons", [reason])
        model = string(place, MODEL)
        if model:
            found.setdefault("gen_ai.response.model", model)
        given = string(place, ID)
        if given and (RESPONSE_ID(given) or place.get("object") == "response"):
            found.setdefault("gen_ai.response.id", given)
            status = string(place, ("status",))
            if status:
                found.setdefault("gen_ai.response.finish_reasons", [status])
    if isinstance(body, dict):
        found = {**found, **_own(body, found)}
    return found


def _own(body: Body, found: Attributes) -> Attributes:
    """Return what a whole response says of itself, whatever stands deeper in it."""
    own: Attributes = {}
    if {"choices", "content", "output", "candidates"}.isdisjoint(body):
        return own
    given = string(body, ID)
    if given:
        own["gen_ai.response.id"] = given
    status = string(body, ("status",)) if "output" in body else ""
    if status and "gen_ai.response.finish_reasons" not in found:
        own["gen_ai.response.finish_reasons"] = [status]
    return own


def _counts(usage: Body) -> Attributes:
    found: Attributes = {}
    for key, paths in COUNTS.items():
        for path in paths:
            value: JsonValue = usage
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            number = as_number(value)
            if number is not None:
                found[key] = int(number)
                break
    given = found.get("gen_ai.usage.input_tokens")
    if isinstance(given, int) and "input_tokens" in usage:
        cached = (as_number(usage.get(key)) for key in EXCLUSIVE)
        found["gen_ai.usage.input_tokens"] = given + int(sum(n for n in cached if n))
    return found


def _places(body: JsonValue, depth: int) -> Iterable[Body]:
    """Walk the dictionaries in which responses keep usage and reasons."""
    if isinstance(body, list):
        for item in body[-1:]:
            yield from _places(item, depth - 1)
    if not isinstance(body, dict) or depth <= 0:
        return
    yield body
    for key in (*METADATA, "choices", "candidates", "generations", "replies", "messages"):
        inner = body.get(key)
        if isinstance(inner, (dict, list)):
            yield from _places(inner, depth - 1)


def _called_with(body: Body) -> list[JsonValue] | None:
    """Return what a function was asked: its only text, or the messages it was given."""
    args, kwargs = body.get("args"), body.get("kwargs")
    named = asked(kwargs) if isinstance(kwargs, dict) and kwargs else None
    if named is not None:
        return named
    given = args if isinstance(args, list) else []
    for value in given:
        if isinstance(value, dict):
            found = asked(value)
            if found is not None:
                return found
    texts = [value for value in given if isinstance(value, str)]
    if len(texts) == 1:
        return list(texts)
    return given[0] if given and isinstance(given[0], list) else None


def _listed(body: Body, keys: Keys) -> list[JsonValue] | None:
    for key in keys:
        inner = body.get(key)
        if isinstance(inner, str):
            if inner:
                return [inner]
        elif isinstance(inner, dict) and inner:
            below = None if is_message(inner) else _listed(inner, keys)
            return [_unwrapped(inner)] if below is None else below
        elif isinstance(inner, list) and inner:
            return [_unwrapped(item) for item in _flat(inner)]
    return None


def _flat(items: list[JsonValue]) -> Iterable[JsonValue]:
    for item in items:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def _unwrapped(item: JsonValue) -> JsonValue:
    """Open a choice, a candidate, a generation or a serialised message."""
    if not isinstance(item, dict) or "role" in item:
        return item
    for key in ("message", "delta"):
        inner = item.get(key)
        if isinstance(inner, dict):
            return inner
    inner = item.get("content")
    if isinstance(inner, dict) and "parts" in inner:
        return inner
    if not is_message(item) and isinstance(item.get("text"), str):
        return string(item, ("text",))
    return item


def _instructions(body: Body) -> list[JsonValue]:
    for place in (body, *(body.get(key) for key in SETTINGS)):
        for key in SYSTEM:
            found = place.get(key) if isinstance(place, dict) else None
            if isinstance(found, dict) and "parts" in found:
                found = found["parts"]
            if isinstance(found, (str, list)) and found:
                return [{"role": "system", "content": found}]
    return []
