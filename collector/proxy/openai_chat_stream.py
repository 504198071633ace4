"""Put a streamed chat completion together again, into the form it has unstreamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from collector import loose_json
from collector.proxy.exchange import Json, Reply, fields, items, text
from collector.proxy.sse import DONE, Event, told

_GROWING = ("content", "refusal", "reasoning_content", "reasoning")
"""Of a delta: what comes in pieces of text."""
_LAST = 1 << 30


class _Call:
    """One tool call as it grows; id and name come with its first piece."""

    def __init__(self) -> None:
        self.id = self.type = self.name = ""
        self.pieces: list[str] = []

    def add(self, delta: dict[str, Json]) -> None:
        """Take one piece in."""
        asked = fields(delta.get("function") or delta.get("custom"))
        self.id = text(delta.get("id")) or self.id
        self.type = text(delta.get("type")) or self.type
        self.name = text(asked.get("name")) or self.name
        said = asked.get("arguments")
        if isinstance(said, dict):  # as some servers give them: whole, and no text
            said = loose_json.dumps(said).decode()
        self.pieces.append(text(said) or text(asked.get("input")))

    def whole(self) -> dict[str, Any]:
        """Return the call."""
        said = "".join(self.pieces)
        if self.type == "custom":
            return {"id": self.id, "type": "custom", "custom": {"name": self.name, "input": said}}
        asked = {"name": self.name, "arguments": said}
        return {"id": self.id, "type": "function", "function": asked}


class _Choice:
    """One choice as it grows."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._calls: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._function = _Call()
        self.finish_reason: Json = None

    def add(self, choice: dict[str, Json]) -> None:
        """Take one chunk's share in."""
        # Some servers stream one chunk that is the whole message.
        delta = fields(choice.get("delta")) or fields(choice.get("message"))
        for key in _GROWING:
            if piece := text(delta.get(key)):
                self._pieces.setdefault(key, []).append(piece)
        for part in map(fields, items(delta.get("content"))):
            self._add_part(part)
        if spoken := text(fields(delta.get("audio")).get("transcript")):
            self._pieces.setdefault("audio", []).append(spoken)
        for share in map(fields, items(delta.get("tool_calls"))):
            call = self._call_of(share)
            call.add(share)
            self._by_id.setdefault(call.id, call)
        if isinstance(delta.get("function_call"), dict):
            self._function.add({"function": delta["function_call"]})
        self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def _add_part(self, part: dict[str, Json]) -> None:
        """Take in a piece that says of what kind it is, as Mistral's models that think do."""
        thought = part.get("thinking")
        inner = [text(fields(item).get("text")) for item in items(thought)]
        for key, piece in (
            ("content", text(part.get("text"))),
            ("reasoning", text(thought) or "".join(inner)),
        ):
            if piece:
                self._pieces.setdefault(key, []).append(piece)

    def _call_of(self, piece: dict[str, Json]) -> _Call:
        """Return the call that a piece belongs to.

        Some servers leave the index out, or say 0 of every call; theirs come whole, one after another.
        """
        index, id_ = piece.get("index"), text(piece.get("id"))
        place = index if isinstance(index, int) else _LAST + len(self._calls)
        there = self._calls.get(place)
        if there is not None and id_ and there.id not in ("", id_):
            place = _LAST + len(self._calls)
            return self._by_id.get(id_) or self._calls.setdefault(place, _Call())
        return self._calls.setdefault(place, _Call())

    def whole(self, index: int) -> dict[str, Any]:
        """Return the choice."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        message |= {key: "".join(pieces) for key, pieces in self._pieces.items()}
        if "audio" in message:
            message["audio"] = {"transcript": message["audio"]}
        if self._calls:
            message["tool_calls"] = [self._calls[place].whole() for place in sorted(self._calls)]
        if self._function.name:
            message["function_call"] = self._function.whole()["function"]
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


def reply(events: Iterable[Event]) -> Reply:
    """Return what a stream amounts to, as far as it came."""
    body: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    whole, error = False, ""
    said = told(events)
    for kind, chunk in said.events:
        if kind == DONE:
            whole = True
            continue
        if problem := chunk.get("error"):
            error = (
                text(fields(problem).get("type")) or text(fields(problem).get("code")) or "error"
            )
        body |= {k: v for k in ("id", "model", "usage") if (v := chunk.get(k)) not in (None, "")}
        for choice in map(fields, items(chunk.get("choices"))):
            index = choice.get("index")
            choices.setdefault(index if isinstance(index, int) else 0, _Choice()).add(choice)
    if choices:
        body["choices"] = [choices[index].whole(index) for index in sorted(choices)]
        whole = whole or all(choice.finish_reason for choice in choices.values())
    return Reply(body=body or None, whole=whole, error=error, unread=said.unread)
