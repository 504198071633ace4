"""Read a call of OpenAI's chat completions API, or of one that speaks like it."""

from __future__ import annotations

from collector.proxy.exchange import (
    Exchange,
    Json,
    Part,
    Reply,
    count,
    fields,
    items,
    number,
    text,
)
from collector.proxy.openai_parts import parts_of, request, response, tokens_of, tool_of


def exchange(request_body: Json, reply: Reply) -> Exchange:
    """Put a request's body and what came back into our words."""
    asked, answer = fields(request_body), fields(reply.body)
    choices = [fields(choice) for choice in items(answer.get("choices"))]
    reasons = tuple(reason for c in choices if (reason := text(c.get("finish_reason"))))
    output = [
        _message(choice.get("message")) | {"finish_reason": text(choice.get("finish_reason"))}
        for choice in choices
    ]
    limit = count(asked.get("max_completion_tokens"))
    return Exchange(
        request_model=text(asked.get("model")),
        model=text(answer.get("model")),
        response_id=text(answer.get("id")),
        user=text(asked.get("safety_identifier")) or text(asked.get("user")),
        input=tuple(_message(item) for item in items(asked.get("messages"))),
        output=tuple(message for message in output if message["parts"]),
        tools=tuple(tool_of(tool) for tool in items(asked.get("tools")))
        + tuple(
            tool_of({"type": "function", "function": old}) for old in items(asked.get("functions"))
        ),
        finish_reasons=reasons,
        tokens=tokens_of(
            fields(answer.get("usage")), given="prompt_tokens", made="completion_tokens"
        ),
        max_tokens=count(asked.get("max_tokens")) if limit is None else limit,
        temperature=number(asked.get("temperature")),
        top_p=number(asked.get("top_p")),
        streamed=asked.get("stream") is True,
        error=reply.error,
    )


def _message(item: Json) -> Part:
    message = fields(item)
    role = text(message.get("role")) or "assistant"
    if role in ("tool", "function"):
        id_ = message.get("tool_call_id") or message.get("name")
        return {"role": "tool", "parts": [response(id_, message.get("content"))]}
    parts: list[Part] = []
    thought = text(message.get("reasoning_content")) or text(message.get("reasoning"))
    if thought:
        parts.append({"type": "reasoning", "content": thought})
    parts += parts_of(message.get("content"))
    if spoken := text(fields(message.get("audio")).get("transcript")):
        parts.append({"type": "text", "content": spoken})
    if refused := text(message.get("refusal")):
        parts.append({"type": "refusal", "content": refused})
    for call in map(fields, items(message.get("tool_calls"))):
        asked = fields(call.get("function"))
        if custom := fields(call.get("custom")):
            parts.append(request(call.get("id"), custom.get("name"), custom.get("input")))
        else:
            parts.append(request(call.get("id"), asked.get("name"), asked.get("arguments")))
    if old := fields(message.get("function_call")):
        # Before calls had ids, the result named its function.
        parts.append(request(old.get("name"), old.get("name"), old.get("arguments")))
    return {"role": role, "parts": parts}
