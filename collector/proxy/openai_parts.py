"""Read what both APIs of OpenAI are made of: content parts, arguments, tools."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from collector.proxy.exchange import Json, Part, Tokens, count, fields, items, text
from collector.proxy.media import blob, linked, without_content


def parts_of(content: Json) -> list[Part]:
    """Read a message's content: text, or a list of parts."""
    if isinstance(content, str):
        return [{"type": "text", "content": content}] if content else []
    return [_part(fields(part)) for part in items(content)]


def request(id: Json, name: Json, arguments: Json) -> Part:
    """Write a tool call; arguments that are JSON text are opened."""
    opened = arguments
    if isinstance(arguments, str):
        try:
            opened = msgspec.json.decode(arguments) if arguments.strip() else {}
        except (msgspec.DecodeError, RecursionError):
            opened = arguments
    return {"type": "tool_call", "id": text(id), "name": text(name), "arguments": opened}


def response(id: Json, output: Json) -> Part:
    """Write a tool's result; a list of texts becomes one text."""
    return {"type": "tool_call_response", "id": text(id), "response": result_of(output)}


def result_of(output: Json) -> Json:
    """Return a result's text; what is no text stays beside it, without what is encoded."""
    if output is None or isinstance(output, str):
        return output or ""
    if not isinstance(output, list):
        return without_content(output)
    parts = parts_of(output)
    if parts and all(part["type"] == "text" for part in parts):
        return "\n".join(part["content"] for part in parts)
    return parts


def tool_of(item: Json) -> Part:
    """Write a tool definition; a provider's own tool is known by its type."""
    tool = fields(item)
    tool |= fields(tool.get("function")) or fields(tool.get("custom"))
    kind = text(tool.get("type"))
    if kind not in ("function", "custom"):
        return {"type": kind, "name": text(tool.get("name")) or kind}
    written: Part = {"type": "function", "name": text(tool.get("name"))}
    if description := text(tool.get("description")):
        written["description"] = description
    if tool.get("parameters") is not None:
        written["parameters"] = tool["parameters"]
    return written


def _part(part: dict[str, Json]) -> Part:
    kind = text(part.get("type"))
    known = _PARTS.get(kind)
    if known is not None:
        return known(part)
    return fields(without_content(part)) | {"type": kind or "unknown"}


def _said(part: dict[str, Json]) -> Part:
    return {"type": "text", "content": text(part.get("text"))}


def _refused(part: dict[str, Json]) -> Part:
    return {"type": "refusal", "content": text(part.get("refusal"))}


def _image(part: dict[str, Json]) -> Part:
    held = part.get("image_url")
    url = text(fields(held).get("url")) or text(held)
    if url:
        return linked(url, modality="image")
    return {"type": "file", "modality": "image", "file_id": text(part.get("file_id"))}


def _audio(part: dict[str, Json]) -> Part:
    audio = fields(part.get("input_audio"))
    format_ = text(audio.get("format"))
    mime_type = f"audio/{format_}" if format_ else ""
    return blob(text(audio.get("data")), mime_type=mime_type, modality="audio")


def _file(part: dict[str, Json]) -> Part:
    file = fields(part.get("file")) or part
    if url := text(file.get("file_data")) or text(file.get("file_url")):
        held = linked(url, modality="document")
        bare = held["type"] == "uri" and file.get("file_data")
        return blob(url, modality="document") if bare else held
    return {"type": "file", "modality": "document", "file_id": text(file.get("file_id"))}


_PARTS: dict[str, Callable[[dict[str, Json]], Part]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "reasoning_text"), _said),
    "refusal": _refused,
    "image_url": _image,
    "input_image": _image,
    "input_audio": _audio,
    "file": _file,
    "input_file": _file,
}
"""By the part's type."""


def tokens_of(usage: dict[str, Json], *, given: str, made: str) -> Tokens:
    """Read token counts; the two APIs differ in what they call what was given and made."""
    read, wrote = fields(usage.get(f"{given}_details")), fields(usage.get(f"{made}_details"))
    return Tokens(
        input=count(usage.get(given)),
        output=count(usage.get(made)),
        cache_read=count(read.get("cached_tokens")),
        cache_write=count(read.get("cache_write_tokens")),
        reasoning=count(wrote.get("reasoning_tokens")),
    )
