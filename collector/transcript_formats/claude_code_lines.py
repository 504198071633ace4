"""Read the lines of a Claude Code session: what one line says, apart from the others.

A session file has a line for every message, and for much else. A model's reply comes as one
line a content block, all with the message's id; what the program puts in for the user is
marked as such. The same lines come, with other names, from ``--output-format stream-json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from collector.transcript_formats.anthropic_messages import CALLS
from collector.transcript_formats.content import text_of
from collector.transcript_formats.span_fields import as_text, nanoseconds, word

SESSION = ("sessionId", "session_id")
OWN_TYPES = frozenset(
    (
        "agent-name",
        "ai-title",
        "attachment",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "result",
        "summary",
        "system",
        "tag",
    )
)
"""Types of lines beside ``user`` and ``assistant``."""
UNNAMED_TYPES = frozenset(("summary", "file-history-snapshot"))
"""Types of lines that name no session."""
SPEAKERS = ("user", "assistant")
PUT_IN = ("<system-reminder>", "<local-command-stdout>", "<local-command-stderr>", "Caveat: The ")
"""How texts begin that the program puts into the user's messages."""
SYNTHETIC = "<synthetic>"
"""The model of messages that the program wrote itself."""
NOTHING_SAID = "No response requested."


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One message, or one block of one."""

    role: Literal["user", "assistant", "system"]
    """``system`` for what the program put in: context, reminders, summaries."""
    blocks: tuple[Mapping[str, Any], ...]
    """Content blocks of the Messages API."""
    uuid: str = ""
    parent: str = ""
    time_ns: int = 0
    branch: str = ""
    """What tells a sub-agent's lines from others; empty on the main thread."""
    is_side: bool = False
    """A sub-agent's line."""
    message_id: str = ""
    """Shared by all lines of one reply."""
    model: str = ""
    usage: Mapping[str, Any] = {}
    stop_reason: str = ""
    ran_agent: str = ""
    """Id of the sub-agent whose result this line brings."""

    @property
    def is_prompt(self) -> bool:
        """Tell whether it is what a user said, no tool's result."""
        return self.role == "user" and not any(map(_is_result, self.blocks))


def is_line(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is a line of a session."""
    kind = row.get("type")
    if not isinstance(kind, str) or "messages" in row:
        return False
    if kind in SPEAKERS:
        return isinstance(row.get("message"), dict)
    return kind in UNNAMED_TYPES or (kind in OWN_TYPES and bool(word(row, *SESSION)))


def lines_of(row: Mapping[str, Any]) -> Iterator[Line]:
    """Yield what a row says; a row that is no message may still stand between two that are."""
    kind = row.get("type")
    if kind in SPEAKERS:
        yield from _spoken(row)
        return
    if kind == "progress":
        yield from _progress(row)
    held = row.get("attachment") if kind == "attachment" else None
    if isinstance(held, dict) and held.get("type") == "queued_command":
        # What a user typed while the agent was at work.
        yield from _spoken({**row, "type": "user", "message": {"content": held.get("prompt")}})
    elif word(row, "uuid") and row.get("isSidechain") is not True:
        yield Line(role="system", blocks=(), uuid=word(row, "uuid"), parent=word(row, "parentUuid"))


def offered(row: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that the first line of a stream offers."""
    named = row.get("tools") if row.get("subtype") == "init" else None
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def _spoken(row: Mapping[str, Any]) -> Iterator[Line]:
    said = row.get("message")
    if not isinstance(said, dict):
        return
    is_reply = row.get("type") == "assistant"
    model = word(said, "model")
    blocks = tuple(_blocks(said.get("content"), row))
    if is_reply and model == SYNTHETIC and _text(blocks) == NOTHING_SAID:
        return
    usage = said.get("usage")
    side = word(row, "agentId", "parent_tool_use_id")
    line = Line(
        role="assistant" if is_reply else "user",
        blocks=blocks,
        uuid=word(row, "uuid"),
        parent=word(row, "parentUuid"),
        time_ns=nanoseconds(row.get("timestamp")),
        branch=side,
        is_side=row.get("isSidechain") is True or bool(word(row, "parent_tool_use_id")),
        message_id=word(said, "id") if is_reply else "",
        model=model if model != SYNTHETIC else "",
        usage=usage if isinstance(usage, dict) and model != SYNTHETIC else {},
        stop_reason=word(said, "stop_reason"),
        ran_agent=_ran_agent(row.get("toolUseResult")),
    )
    if is_reply:
        yield line
    elif row.get("isMeta") is True or row.get("isCompactSummary") is True:
        yield msgspec.structs.replace(line, role="system")
    else:
        yield from _parted(line)


def _parted(line: Line) -> Iterator[Line]:
    """Take what the program put in out of a user's line."""
    own = tuple(block for block in line.blocks if not _is_put_in(block))
    put_in = tuple(block for block in line.blocks if _is_put_in(block))
    if put_in:
        yield msgspec.structs.replace(
            line, role="system", blocks=put_in, uuid="" if own else line.uuid
        )
    if own or not put_in:
        yield msgspec.structs.replace(line, blocks=own)


def _progress(row: Mapping[str, Any]) -> Iterator[Line]:
    """Open what a running sub-agent reports of itself."""
    data = row.get("data")
    inner = data.get("message") if isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(inner, dict) and inner.get("type") in SPEAKERS:
        agent = word(data, "agentId") or word(row, "parentToolUseID")
        shared = {"isSidechain": True, "agentId": agent, "timestamp": row.get("timestamp")}
        yield from _spoken({**shared, **inner})


def _blocks(content: Any, row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield {"type": "text", "text": block}
        elif isinstance(block, dict) and isinstance(block.get("type"), str):
            if block["type"] in CALLS:
                if isinstance(block.get("name"), str) and block["name"]:
                    yield block
            elif _is_result(block):
                yield _answer(block, row)
            elif block["type"] == "text":
                yield block


def _answer(block: Mapping[str, Any], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool's result; its content stands beside the message where it is not inside."""
    beside = row.get("toolUseResult")
    if block.get("content") in (None, "", []) and beside not in (None, "", [], {}):
        return {**block, "content": as_text(beside)}
    return block


def _is_result(block: Mapping[str, Any]) -> bool:
    return str(block.get("type", "")).endswith("tool_result")


def _is_put_in(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and text_of(block.get("text")).lstrip().startswith(PUT_IN)


def _text(blocks: tuple[Mapping[str, Any], ...]) -> str:
    return "\n".join(text_of(b.get("text")) for b in blocks if b.get("type") == "text")


def _ran_agent(result: Any) -> str:
    return word(result, "agentId") if isinstance(result, dict) else ""
