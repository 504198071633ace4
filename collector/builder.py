"""Build a conversation out of messages in normal form.

Online traffic and offline transcripts both end here, so that a scorer sees the same
conversation whichever way it came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from collector.model import (
    Conversation,
    Document,
    Episode,
    Identity,
    LlmCall,
    Message,
    ToolCall,
    ToolDefinition,
    ToolRequest,
    Turn,
)


def conversation_of(
    messages: Sequence[Message],
    *,
    id: str,
    identity: Identity,
    explicit: bool = True,
    episode: Episode | None = None,
    system_prompt: str = "",
    tools: Iterable[ToolDefinition] = (),
    llm_calls: Iterable[LlmCall] = (),
    documents: Iterable[Document] = (),
    trace_ids: Iterable[str] = (),
    span_count: int = 0,
) -> Conversation:
    """Build the conversation, its turns and its tool calls from a full message history.

    System messages are taken out of ``messages``; their text becomes the system prompt
    when none is given.
    """
    spoken = tuple(m for m in messages if m.role != "system")
    if not system_prompt:
        system_prompt = "\n\n".join(m.text for m in messages if m.role == "system")
    episode = episode or Episode()
    first = episode.first_message
    return Conversation(
        id=id,
        explicit=explicit,
        identity=identity,
        episode=episode,
        system_prompt=system_prompt,
        tools=tuple(tools),
        messages=spoken,
        turns=tuple(t for t in turns_of(spoken) if t.end_message > first),
        tool_calls=tuple(c for c in tool_calls_of(spoken) if c.asked_at >= first),
        llm_calls=tuple(llm_calls),
        documents=tuple(documents),
        trace_ids=tuple(trace_ids),
        span_count=span_count,
    )


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Cut messages into turns: each from a user's request to the last word before the next.

    An opening greeting of the agent belongs to the first turn, and so do user messages
    that follow each other without a reply between them.
    """
    turns: list[Turn] = []
    start = 0
    asked = replied = False
    for index, message in enumerate(messages):
        if message.role == "user":
            if asked and replied:
                turns.append(Turn(index=len(turns), first_message=start, end_message=index))
                start, replied = index, False
            asked = True
        elif asked:
            replied = True
    if messages:
        turns.append(Turn(index=len(turns), first_message=start, end_message=len(messages)))
    return turns


def tool_calls_of(messages: Sequence[Message]) -> list[ToolCall]:
    """Join each tool request with the first later result that answers it.

    A result without an id answers the oldest open request of the same name, or the oldest
    open one where it has no name either.
    """
    calls: list[ToolCall] = []
    waiting = _Waiting()
    for index, message in enumerate(messages):
        for request in message.tool_requests:
            waiting.add(len(calls), request)
            calls.append(
                ToolCall(
                    id=request.id,
                    name=request.name,
                    arguments=request.arguments,
                    asked_at=index,
                )
            )
        if message.role == "tool":
            position = waiting.answered(message)
            if position is not None:
                calls[position] = _with_result(calls[position], index, message)
    return calls


class _Waiting:
    """Hold the requests that nothing has answered yet, by id and by name."""

    def __init__(self) -> None:
        self._by_id: dict[str, deque[int]] = {}
        self._by_name: dict[str, deque[int]] = {}
        self._nameless: dict[str, deque[int]] = {}
        self._all: deque[int] = deque()
        self._anonymous: deque[int] = deque()
        self._open: set[int] = set()

    def add(self, position: int, request: ToolRequest) -> None:
        """Take in a request by its position among the calls."""
        self._open.add(position)
        self._all.append(position)
        self._by_name.setdefault(request.name, deque()).append(position)
        if request.id:
            self._by_id.setdefault(request.id, deque()).append(position)
        else:
            self._anonymous.append(position)
            self._nameless.setdefault(request.name, deque()).append(position)

    def answered(self, message: Message) -> int | None:
        """Return the position of the request that a result answers, once."""
        if message.tool_call_id:
            position = self._first(self._by_id.get(message.tool_call_id))
            if position is not None:
                return position
            by_name, rest = self._nameless, self._anonymous
        else:
            by_name, rest = self._by_name, self._all
        return self._first(by_name.get(message.tool_name) if message.tool_name else rest)

    def _first(self, positions: deque[int] | None) -> int | None:
        while positions:
            position = positions.popleft()
            if position in self._open:
                self._open.remove(position)
                return position
        return None


def _with_result(call: ToolCall, index: int, message: Message) -> ToolCall:
    return ToolCall(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        asked_at=call.asked_at,
        result=message.text,
        is_error=message.is_error,
        answered_at=index,
    )
