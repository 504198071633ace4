"""Read a call of the Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Callable

from collector.proxy.exchange import (
    Exchange,
    Json,
    Part,
    Reply,
    Tokens,
    count,
    fields,
    items,
    number,
    text,
)
from collector.proxy.media import blob, linked, without_content


def exchange(request: Json, reply: Reply) -> Exchange:
    """Put a request's body and what came back into our words."""
    asked, message = fields(request), fields(reply.body)
    content = _parts(message.get("content"))
    reason = text(message.get("stop_reason"))
    output: tuple[Part, ...] = ()
    if content:
        output = ({"role": "assistant", "parts": content, "finish_reason": reason},)
    usage = fields(message.get("usage"))
    return Exchange(
        request_model=text(asked.get("model")),
        model=text(message.get("model")),
        response_id=text(message.get("id")),
        previous_response_id=text(fields(asked.get("thread")).get("previous_message_id")),
        user=text(fields(asked.get("metadata")).get("user_id")),
        system=tuple(_parts(asked.get("system"))),
        input=tuple(_message(item) for item in items(asked.get("messages"))),
        output=output,
        tools=tuple(_tool(tool) for tool in items(asked.get("tools"))),
        finish_reasons=(reason,) if reason else (),
        tokens=_tokens(usage),
        max_tokens=count(asked.get("max_tokens")),
        temperature=number(asked.get("temperature")),
        top_p=number(asked.get("top_p")),
        streamed=asked.get("stream") is True,
        error=reply.error,
    )


def _message(item: Json) -> Part:
    message = fields(item)
    return {
        "role": text(message.get("role")) or "user",
        "parts": _parts(message.get("content")),
    }


def _parts(content: Json) -> list[Part]:
    if isinstance(content, str):
        return [{"type": "text", "content": content}] if content else []
    return [_part(fields(block)) for block in items(content)]


def _part(block: dict[str, Json]) -> Part:
    kind = text(block.get("type"))
    known = _PARTS.get(kind) or (_answered if kind.endswith("_tool_result") else None)
    if known is not None:
        return known(block)
    return fields(without_content(block)) | {"type": kind or "unknown"}


def _said(block: dict[str, Json]) -> Part:
    return {"type": "text", "content": text(block.get("text"))}


def _asked(block: dict[str, Json]) -> Part:
    return {
        "type": "tool_call",
        "id": text(block.get("id")),
        "name": text(block.get("name")),
        "arguments": block.get("input"),
    }


def _answered(block: dict[str, Json]) -> Part:
    result: Part = {
        "type": "tool_call_response",
        "id": text(block.get("tool_use_id")),
        "response": _result(block.get("content")),
    }
    if isinstance(block.get("is_error"), bool):
        result["is_error"] = block["is_error"]
    return result


def _thought(block: dict[str, Json]) -> Part:
    return {"type": "reasoning", "content": text(block.get("thinking"))}


def _found(block: dict[str, Json]) -> Part:
    said = [text(block.get("title")), str(_result(block.get("content")))]
    return {"type": "text", "content": "\n".join(word for word in said if word)}


def _shown(block: dict[str, Json]) -> Part:
    modality = text(block.get("type"))
    source = fields(block.get("source"))
    how = source.get("type")
    if how == "base64":
        mime_type = text(source.get("media_type"))
        return blob(text(source.get("data")), mime_type=mime_type, modality=modality)
    if how == "url":
        return linked(text(source.get("url")), modality=modality)
    if how == "text":
        return {"type": "text", "content": text(source.get("data"))}
    if how == "content":
        return {"type": "text", "content": str(_result(source.get("content")))}
    return {"type": "file", "modality": modality, "file_id": text(source.get("file_id"))}


_PARTS: dict[str, Callable[[dict[str, Json]], Part]] = {
    "text": _said,
    "tool_use": _asked,
    "server_tool_use": _asked,
    "mcp_tool_use": _asked,
    "tool_result": _answered,
    "thinking": _thought,
    "redacted_thinking": _thought,
    "search_result": _found,
    "image": _shown,
    "document": _shown,
}
"""By the block's type; results of the provider's own tools end in ``_tool_result``."""


def _result(content: Json) -> Json:
    """Return a result's text; what is no text stays beside it, without what is encoded."""
    if content is None or isinstance(content, str):
        return content or ""
    blocks = [fields(block) for block in items(content)]
    if blocks and all(block.get("type") == "text" for block in blocks):
        return "\n".join(text(block.get("text")) for block in blocks)
    return without_content(content) if isinstance(content, dict) else [_part(b) for b in blocks]


def _tool(item: Json) -> Part:
    tool = fields(item)
    schema = tool.get("input_schema")
    if schema is None:
        return {"type": text(tool.get("type")) or "custom", "name": text(tool.get("name"))}
    return {
        "type": "function",
        "name": text(tool.get("name")),
        "description": text(tool.get("description")),
        "parameters": schema,
    }


def _tokens(usage: dict[str, Json]) -> Tokens:
    read, written = (
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
    )
    fresh = count(usage.get("input_tokens"))
    return Tokens(
        # This API counts the cached ones apart.
        input=None if fresh is None else fresh + (read or 0) + (written or 0),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(fields(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
