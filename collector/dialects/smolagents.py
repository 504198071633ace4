"""Read how smolagents writes its steps down: as text, where other frameworks have tool calls.

An assistant's text ``Calling tools:`` holds the calls as a Python literal, the user's text
``Observation:`` after it their result.
"""

from __future__ import annotations

import re

import msgspec

from collector.dialects.blocks import request_of
from collector.dialects.literals import literal
from collector.model import Message, ToolRequest

CALLING = "Calling tools:\n"
OBSERVED = "Observation:\n"
LATER = re.compile(r"(?:^|\n)Call id: (\S+)\n").search


def acted(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Turn written calls and observations into tool calls and results."""
    if not any(m.role == "assistant" and CALLING in m.text for m in messages):
        return messages
    out: list[Message] = []
    open_: list[ToolRequest] = []
    for message in messages:
        requests = _calls(message) if message.role == "assistant" else ()
        if requests:
            words = message.text.partition(CALLING)[0].rstrip()
            out.append(msgspec.structs.replace(message, text=words, tool_requests=requests))
            open_ = list(requests)
        elif open_ and message.role in {"user", "tool"} and message.text.startswith(OBSERVED):
            out.append(_result(message, open_))
        else:
            out.append(message)
    return tuple(out)


def _calls(message: Message) -> tuple[ToolRequest, ...]:
    _, found, written = message.text.partition(CALLING)
    calls = literal(written.strip()) if found and not message.tool_requests else None
    read = [request_of(call) for call in calls] if isinstance(calls, list) else []
    return tuple(request for request in read if request is not None)


def _result(message: Message, open_: list[ToolRequest]) -> Message:
    text = message.text.removeprefix(OBSERVED)
    named = LATER(text)
    call = next((r for r in open_ if named and r.id == named[1]), open_[0])
    open_.remove(call)
    return Message(role="tool", text=text, tool_call_id=call.id, tool_name=call.name)
