"""Put a streamed OpenAI response together again; its last event holds all of it, if it came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector.proxy.exchange import Json, Reply, fields, items, text
from collector.proxy.sse import Event, told

_LAST = ("response.completed", "response.incomplete", "response.failed")
_TEXTS = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
}
"""By event: the list whose part grows, the part's type, and its key."""
_ARGUMENTS = {
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


class _Item:
    """One output item as it grows."""

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.done: dict[str, Any] | None = None
        self._parts: dict[tuple[str, int], tuple[str, str, list[str]]] = {}
        self._arguments: dict[str, list[str]] = {}

    def add(self, kind: str, data: dict[str, Json]) -> None:
        """Take one event about it in."""
        if kind == "response.output_item.added":
            self.start = fields(data.get("item"))
        elif kind == "response.output_item.done":
            self.done = fields(data.get("item"))
        elif kind in _TEXTS:
            where, type_, key = _TEXTS[kind]
            place = data.get(f"{where}_index")
            index = place if isinstance(place, int) else 0
            part = self._parts.setdefault((where, index), (type_, key, []))
            part[2].append(text(data.get("delta")))
        elif kind in _ARGUMENTS:
            self._arguments.setdefault(_ARGUMENTS[kind], []).append(text(data.get("delta")))

    def whole(self) -> dict[str, Any]:
        """Return the item, as far as it came."""
        if self.done is not None:
            return self.done
        item = dict(self.start)
        lists: dict[str, list[Any]] = {}
        for (where, _), (type_, key, pieces) in sorted(self._parts.items()):
            lists.setdefault(where, []).append({"type": type_, key: "".join(pieces)})
        item |= lists
        item |= {key: "".join(pieces) for key, pieces in self._arguments.items()}
        return item


def reply(events: Iterable[Event]) -> Reply:
    """Return what a stream amounts to, as far as it came."""
    body: dict[str, Any] = {}
    output: dict[int, _Item] = {}
    whole, error = False, ""
    said = told(events)
    for kind, data in said.events:
        index = data.get("output_index")
        if kind in _LAST:
            body, whole = fields(data.get("response")), True
        elif kind in ("response.created", "response.in_progress"):
            body = fields(data.get("response"))
        elif kind == "error":
            error = text(data.get("code")) or text(fields(data.get("error")).get("type")) or "error"
        elif isinstance(index, int):
            output.setdefault(index, _Item()).add(kind, data)
    # Some servers leave the output out of the last event.
    if output and not items(body.get("output")):
        body = body | {"output": [output[index].whole() for index in sorted(output)]}
    return Reply(body=body or None, whole=whole, error=error, unread=said.unread)
