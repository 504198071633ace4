"""Read a call of OpenAI's responses API."""

from __future__ import annotations

from collector.proxy.exchange import (
    Exchange,
    Json,
    Part,
    Reply,
    count,
    error_kind,
    fields,
    items,
    number,
    text,
)
from collector.proxy.media import without_content
from collector.proxy.openai_parts import parts_of, request, response, result_of, tokens_of, tool_of

_ASKED = ("arguments", "input", "action", "queries", "code", "operation")
"""Where the items of calls keep what was asked, first found."""
_ANSWERED = ("output", "result", "results", "outputs")


def exchange(request_body: Json, reply: Reply) -> Exchange:
    """Put a request's body and what came back into our words."""
    asked, answer = fields(request_body), fields(reply.body)
    reason = _reason(answer)
    output = [
        message | {"finish_reason": reason} for message in _messages(items(answer.get("output")))
    ]
    given = asked.get("input")
    kept = asked.get("conversation")
    error = reply.error
    if not error and answer.get("status") == "failed":
        error = error_kind(answer, 0)
    return Exchange(
        request_model=text(asked.get("model")),
        model=text(answer.get("model")),
        response_id=text(answer.get("id")),
        previous_response_id=text(asked.get("previous_response_id")),
        conversation_id=text(kept) or text(fields(kept).get("id")),
        user=text(asked.get("safety_identifier")) or text(asked.get("user")),
        system=tuple(parts_of(asked.get("instructions"))),
        input=(
            ({"role": "user", "parts": parts_of(given)},)
            if isinstance(given, str)
            else tuple(_messages(items(given)))
        ),
        output=tuple(output),
        tools=tuple(tool_of(tool) for tool in items(asked.get("tools"))),
        finish_reasons=(reason,) if reason else (),
        tokens=tokens_of(fields(answer.get("usage")), given="input_tokens", made="output_tokens"),
        max_tokens=count(asked.get("max_output_tokens")),
        temperature=number(asked.get("temperature")),
        top_p=number(asked.get("top_p")),
        streamed=asked.get("stream") is True,
        error=error,
    )


def _reason(answer: dict[str, Json]) -> str:
    status = text(answer.get("status"))
    if status == "incomplete":
        return text(fields(answer.get("incomplete_details")).get("reason")) or status
    return "" if status in ("in_progress", "queued") else status


def _messages(found: list[Json]) -> list[Part]:
    """Read items; what an assistant said and asked for in a row is one message."""
    messages: list[Part] = []
    for item in map(fields, found):
        for role, parts in _read(item):
            if messages and role == "assistant" == messages[-1]["role"]:
                messages[-1]["parts"] += parts
            elif parts:
                messages.append({"role": role, "parts": parts})
    return messages


def _read(item: dict[str, Json]) -> list[tuple[str, list[Part]]]:
    kind = text(item.get("type")) or "message"
    if kind == "message":
        return [(text(item.get("role")) or "user", parts_of(item.get("content")))]
    if kind == "reasoning":
        thoughts = [*items(item.get("summary")), *items(item.get("content"))]
        said = "\n".join(text(fields(thought).get("text")) for thought in thoughts)
        return [("assistant", [{"type": "reasoning", "content": said}])]
    call_id = item.get("call_id") or item.get("id")
    if kind.endswith("_call_output"):
        return [("tool", [response(call_id, item.get("output"))])]
    if kind.endswith("_call"):
        name = item.get("name") or kind.removesuffix("_call")
        asked = next((item[key] for key in _ASKED if item.get(key) is not None), None)
        call = request(call_id, name, without_content(asked))
        answered = next((item[key] for key in _ANSWERED if item.get(key) is not None), None)
        if answered is None and item.get("error") is None:
            return [("assistant", [call])]
        # The provider ran it: the result stands in the same item.
        result = response(call_id, result_of(without_content(answered)))
        if item.get("error") is not None:
            result |= {"response": without_content(item["error"]), "is_error": True}
        return [("assistant", [call]), ("tool", [result])]
    return [("assistant", [fields(without_content(item)) | {"type": kind}])]
