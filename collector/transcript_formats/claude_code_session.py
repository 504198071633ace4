"""Put the lines of Claude Code's session files together into conversations.

The main thread is the conversation. A sub-agent's thread is a run of an agent inside it: its
calls of models and tools count, its messages are its own. A thread that the user went back
behind is left out, though its tokens were spent. Usage stands on every line of a reply and
counts once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from collector.builder import conversation_of, tool_calls_of
from collector.dialects.attributes import as_number
from collector.dialects.inference import finish_reason
from collector.model import (
    AgentRun,
    Conversation,
    Episode,
    Identity,
    LlmCall,
    Message,
    ToolCall,
    ToolDefinition,
    Usage,
)
from collector.transcript_formats import anthropic_messages
from collector.transcript_formats.claude_code_lines import (
    SESSION,
    UNNAMED_TYPES,
    Line,
    lines_of,
    offered,
)
from collector.transcript_formats.span_fields import SPAN_DIGITS, digest, word

AGENT = "claude-code"
UNBORN = "default"
"""The session of prompts that were sent before the program had said its id."""
PROVIDER = "anthropic"
HELD_BYTES = 256 * 1024 * 1024
"""Of sessions that may still go on; over it, those that were quiet longest are concluded."""
USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_MOST_TOKENS = 2**53


class Sessions:
    """Gather lines by session until the end, or until there are too many."""

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._held_bytes = held_bytes
        self._size = 0
        self._open: OrderedDict[str, _Session] = OrderedDict()

    def add(self, row: Mapping[str, Any], *, size: int, unnamed: str) -> Iterator[Conversation]:
        """Take in one line of ``size`` bytes; yield the sessions that make room for it.

        ``unnamed`` is the id of a session that has none.
        """
        id_ = word(row, *SESSION)
        if not id_ and row.get("type") in UNNAMED_TYPES:
            return
        id_ = id_ or unnamed
        if row.get("subtype") == "init" and UNBORN in self._open:
            session = self._open.pop(UNBORN)
            session.id = id_
            self._open.setdefault(id_, session)
        session = self._open.setdefault(id_, _Session(id_))
        self._open.move_to_end(id_)
        session.add(row, size)
        self._size += size
        while len(self._open) > 1 and self._size > self._held_bytes:
            _, oldest = self._open.popitem(last=False)
            self._size -= oldest.size
            yield from oldest.conversations()

    def rest(self) -> Iterator[Conversation]:
        """Conclude every session, in the order in which they were touched last."""
        while self._open:
            _, session = self._open.popitem(last=False)
            yield from session.conversations()


class _Session:
    """Hold the threads of one session: the main one and the sub-agents'."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.size = 0
        self._threads: dict[str, list[Line]] = {}
        self._branches: dict[str, str] = {}
        self._seen: set[str] = set()
        self._version = ""
        self._tools: list[str] = []

    def add(self, row: Mapping[str, Any], size: int) -> None:
        """Take in one line; one that came before, as in a session that was resumed, is left out."""
        self.size += size
        self._version = word(row, "version", "claude_code_version") or self._version
        self._tools = offered(row) or self._tools
        for line in lines_of(row):
            if line.uuid and line.uuid in self._seen:
                continue
            self._seen.add(line.uuid)
            self._threads.setdefault(self._thread_of(line), []).append(line)

    def _thread_of(self, line: Line) -> str:
        """Return a sub-agent's id, or the first line of its thread where it has none."""
        if not line.is_side:
            return ""
        branch = line.branch or self._branches.get(line.parent) or line.uuid or "agent"
        if line.uuid:
            self._branches[line.uuid] = branch
        return branch

    def conversations(self) -> Iterator[Conversation]:
        """Yield the session, or each thread of a file that has only sub-agents'."""
        threads = {branch: _Thread(lines) for branch, lines in self._threads.items()}
        main = threads.pop("", None)
        if main is not None and main.messages:
            yield self._conversation(self.id, main, threads)
            return
        for branch, thread in threads.items():
            yield self._conversation(f"{self.id}/{branch}", thread, {})

    def _conversation(
        self,
        id: str,
        main: _Thread,
        sides: Mapping[str, _Thread],
    ) -> Conversation:
        names = main.agent_names()
        runs = [
            AgentRun(
                span_id=digest(f"{self.id} {branch}", SPAN_DIGITS),
                name=names.get(branch) or names.get(thread.prompt) or branch,
                started_ns=thread.started_ns,
                ended_ns=thread.ended_ns,
            )
            for branch, thread in sides.items()
        ]
        calls = main.llm_calls()
        inner: list[ToolCall] = []
        for run, thread in zip(runs, sides.values(), strict=True):
            calls += [msgspec.structs.replace(c, agent=run.span_id) for c in thread.llm_calls()]
            inner += thread.tool_calls(run.span_id)
        conversation = conversation_of(
            main.messages,
            id=id,
            identity=Identity(agent=AGENT, agent_version=self._version),
            episode=Episode(started_ns=main.started_ns, ended_ns=main.ended_ns),
            system_prompt=main.system_prompt,
            tools=[ToolDefinition(name=name) for name in self._tools],
            llm_calls=sorted(calls, key=lambda call: call.started_ns),
        )
        return msgspec.structs.replace(
            conversation,
            tool_calls=(*conversation.tool_calls, *inner),
            agents=tuple(sorted(runs, key=lambda run: run.started_ns)),
        )


class _Thread:
    """Say what the lines of one thread are together."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self.started_ns = min((line.time_ns for line in lines if line.time_ns), default=0)
        self.ended_ns = max((line.time_ns for line in lines), default=0)
        put_in: dict[str, None] = {}
        self.messages = tuple(_messages(_kept(lines), put_in))
        self.system_prompt = "\n\n".join(put_in)
        self.prompt = next((m.text for m in self.messages if m.role == "user"), "")

    def llm_calls(self) -> list[LlmCall]:
        """Return the model's replies, those on abandoned branches too: they were paid for.

        A stream's lines are written before a reply has ended, and only all replies together
        are counted to the end: what their lines do not say of it is the last one's.
        """
        replies: dict[str, list[Line]] = {}
        missing: dict[str, int] = {}
        counted = 0
        for number, line in enumerate(self._lines):
            if line.role == "assistant" and line.model:
                replies.setdefault(line.message_id or f"#{number}", []).append(line)
            elif line.is_total and len(replies) > counted:
                since = list(replies)[counted:]
                said = sum(_count(replies[reply], "output_tokens") for reply in since)
                missing[since[-1]] = max(0, _tokens(line.usage.get("output_tokens")) - said)
                counted = len(replies)
        return [_llm_call(lines, missing.get(reply, 0)) for reply, lines in replies.items()]

    def tool_calls(self, agent: str) -> list[ToolCall]:
        """Return the calls of a sub-agent, whose messages are not the conversation's."""
        return [
            msgspec.structs.replace(call, asked_at=-1, answered_at=-1, agent=agent)
            for call in tool_calls_of(self.messages)
        ]

    def agent_names(self) -> dict[str, str]:
        """Return the kinds of the sub-agents that were started here, by their id and by prompt."""
        kinds: dict[str, str] = {}
        found: dict[str, str] = {}
        for message in self.messages:
            for request in message.tool_requests:
                given = request.arguments
                kind = word(given, "subagent_type") if isinstance(given, dict) else ""
                if kind and isinstance(given, dict):
                    kinds[request.id] = found[request.id] = kind
                    found.setdefault(word(given, "prompt"), kind)
        for line in self._lines:
            if line.ran_agent:
                answered = (word(block, "tool_use_id") for block in line.blocks)
                kind = next((kinds[id_] for id_ in answered if id_ in kinds), "")
                if kind:
                    found[line.ran_agent] = kind
        return found


def _kept(lines: list[Line]) -> list[Line]:
    """Leave out what hangs on a prompt that the user took back and asked otherwise.

    That is where a later prompt follows the same line, and nothing follows the first any more.
    """
    latest: dict[str, str] = {}
    again_at: dict[str, int] = {}
    for index, line in enumerate(lines):
        if line.parent and line.uuid and line.is_prompt:
            before = latest.get(line.parent)
            if before is not None:
                again_at[before] = index
            latest[line.parent] = line.uuid
    if not again_at:
        return lines
    branch: dict[str, str] = {}
    above: dict[str, str] = {}
    goes_on: set[str] = set()
    for index, line in enumerate(lines):
        owner = branch.get(line.parent, "")
        if line.uuid in again_at:
            above[line.uuid], owner = owner, line.uuid
        branch[line.uuid] = owner
        while owner and owner not in goes_on and again_at[owner] < index:
            goes_on.add(owner)
            owner = above.get(owner, "")
    left = again_at.keys() - goes_on

    def is_left(owner: str) -> bool:
        while owner and owner not in left:
            owner = above.get(owner, "")
        return bool(owner)

    return [line for line in lines if not line.uuid or not is_left(branch[line.uuid])]


def _messages(lines: Iterable[Line], put_in: dict[str, None]) -> Iterator[Message]:
    """Yield the messages, a reply where its first block stands; ``put_in`` takes the rest."""
    said: list[dict[str, Any]] = []
    replies: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        if line.role == "system":
            for block in line.blocks:
                put_in[str(block.get("text", ""))] = None
        elif line.message_id and line.message_id in replies:
            blocks = replies[line.message_id]
            blocks += [block for block in line.blocks if block not in blocks]
        else:
            blocks = list(line.blocks)
            if blocks or line.role == "assistant":
                said.append({"role": line.role, "content": blocks})
            if line.message_id:
                replies[line.message_id] = blocks
    spoken = [message for message in said if message["content"]]
    yield from anthropic_messages.read_row({"messages": spoken}).messages


def _llm_call(lines: list[Line], missing: int) -> LlmCall:
    """Sum one reply up: its lines repeat the usage, the last ones have it whole."""
    given, returned, read, written = (_count(lines, key) for key in USAGE)
    content = [block for line in lines for block in line.blocks]
    output = anthropic_messages.read_row({"messages": [{"role": "assistant", "content": content}]})
    reason = next((line.stop_reason for line in reversed(lines) if line.stop_reason), "")
    return LlmCall(
        provider=PROVIDER,
        model=lines[-1].model,
        response_id=lines[0].message_id,
        usage=Usage(
            input=given + read + written,
            output=returned + missing,
            cache_read=read,
            cache_write=written,
        )
        if any(line.usage for line in lines)
        else None,
        started_ns=lines[0].time_ns,
        ended_ns=max(line.time_ns for line in lines),
        finish_reason=finish_reason(reason, output.messages),
        has_input=True,
        has_output=True,
    )


def _count(lines: list[Line], key: str) -> int:
    return max(_tokens(line.usage.get(key)) for line in lines)


def _tokens(value: Any) -> int:
    return int(min(max(as_number(value) or 0.0, 0.0), _MOST_TOKENS))
