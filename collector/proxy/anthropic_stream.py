"""Put a streamed Anthropic message together again, into the form it has unstreamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from collector.proxy.exchange import Json, Reply, fields, text
from collector.proxy.sse import Event, told

_GROWING = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""By the delta's type: the key that holds its piece."""


class _Block:
    """One content block as it grows."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: dict[str, list[str]] = {}
        self._citations: list[Json] = []

    def add(self, delta: dict[str, Json]) -> None:
        """Take one delta in; one of a kind that nobody told us of says nothing."""
        kind = text(delta.get("type"))
        key = _GROWING.get(kind)
        if key is not None:
            self._pieces.setdefault(key, []).append(text(delta.get(key)))
        elif kind == "citations_delta":
            self._citations.append(delta.get("citation"))

    def whole(self) -> dict[str, Any]:
        """Return the block."""
        block = dict(self._start)
        for key, pieces in self._pieces.items():
            said = "".join(pieces)
            if key == "partial_json":
                if said:
                    block["input"] = _arguments(said)
            else:
                block[key] = text(block.get(key)) + said
        if self._citations:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else ()), *self._citations]
        return block


def reply(events: Iterable[Event]) -> Reply:
    """Return what a stream amounts to, as far as it came."""
    message: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    whole, error = False, ""
    said = told(events)
    for kind, data in said.events:
        said_index = data.get("index")
        index = said_index if isinstance(said_index, int) else -1
        if kind == "message_start":
            message = dict(fields(data.get("message")))
        elif kind == "content_block_start" and index >= 0:
            blocks[index] = _Block(fields(data.get("content_block")))
        elif kind == "content_block_delta" and index in blocks:
            blocks[index].add(fields(data.get("delta")))
        elif kind == "message_delta":
            message |= {k: v for k, v in fields(data.get("delta")).items() if v is not None}
            # Usage is cumulative, and says again only what changed.
            later = {k: v for k, v in fields(data.get("usage")).items() if v is not None}
            message["usage"] = fields(message.get("usage")) | later
        elif kind == "message_stop":
            whole = True
        elif kind == "error":
            error = text(fields(data.get("error")).get("type")) or "error"
    if message or blocks:
        message["content"] = [blocks[index].whole() for index in sorted(blocks)]
    return Reply(body=message or None, whole=whole, error=error, unread=said.unread)


def _arguments(said: str) -> Json:
    """Parse a tool's input; one that was cut off, or is none, stays text."""
    try:
        return msgspec.json.decode(said)
    except (msgspec.DecodeError, RecursionError):
        return said
