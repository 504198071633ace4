"""Sessions of Claude Code become conversations."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.model import Conversation, Identity, Usage
from collector.transcript_formats.claude_code_lines import is_line
from collector.transcript_formats.claude_code_session import Sessions
from collector.transcript_gathering import Gathering
from tests.build import agent, request, result, user

SECOND = 10**9
START = 1_772_359_200 * SECOND
"""2026-03-01T10:00:00Z."""


def line(kind: str, uuid: str = "", content: Any = "", after: str = "", **more: Any) -> Any:
    """Build a line; ``after`` is its parent, ``message`` is merged into the message."""
    said = {"role": kind, "content": content} | more.pop("message", {})
    shared = {"sessionId": "s-1", "version": "2.1.0", "timestamp": "2026-03-01T10:00:00.000Z"}
    return (
        {"type": kind, "uuid": uuid, "parentUuid": after or None, "message": said} | shared | more
    )


def reply(uuid: str, *blocks: Any, id: str = "msg_1", after: str = "", **more: Any) -> Any:
    """Build an assistant's line with usage, as each block of a reply has one."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "output_tokens": more.pop("output", 40),
    }
    said = {"id": id, "model": "m-1", "usage": usage, "stop_reason": more.pop("stop", None)}
    return line("assistant", uuid, list(blocks), after, message=said, **more)


def says(text: str) -> Any:
    """Build a text block."""
    return {"type": "text", "text": text}


def uses(id: str, name: str, **arguments: Any) -> Any:
    """Build a tool call's block."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def answers(id: str, content: Any, **more: Any) -> Any:
    """Build a tool result's block."""
    return {"type": "tool_result", "tool_use_id": id, "content": content} | more


def read(*lines: Any) -> list[Conversation]:
    """Read the lines of one file."""
    sessions = Sessions()
    found = [c for row in lines for c in sessions.add(row, size=1, unnamed="file-1")]
    return [*found, *sessions.rest()]


def test_a_session_is_a_conversation() -> None:
    """Messages, tool calls, tokens and times of a session; lines that are no messages are not."""
    (found,) = read(
        {"type": "summary", "summary": "Tests", "leafUuid": "u9"},
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        line("user", "u1", "Run the tests."),
        reply("a1", {"type": "thinking", "thinking": "Hm."}, after="u1", output=1),
        reply("a2", says("I run them."), after="a1", output=9),
        reply("a3", uses("t1", "Bash", command="pytest"), after="a2", stop="tool_use"),
        line(
            "user",
            "u2",
            [answers("t1", [says("2 failed")], is_error=True)],
            "a3",
            toolUseResult={"stdout": "2 failed", "stderr": ""},
        ),
        {"type": "system", "subtype": "stop_hook_summary", "sessionId": "s-1", "uuid": "x"},
        reply(
            "a4",
            says("Two fail."),
            id="msg_2",
            after="u2",
            stop="end_turn",
            timestamp="2026-03-01T10:00:05.000Z",
        ),
    )
    assert found.messages == (
        user("Run the tests."),
        agent("I run them.", request("Bash", "t1", command="pytest")),
        result("Bash", "2 failed", "t1", is_error=True),
        agent("Two fail."),
    )
    assert (found.id, found.explicit) == ("s-1", True)
    assert found.identity == Identity(agent="claude-code", agent_version="2.1.0")
    first, second = found.llm_calls
    assert (first.model, first.response_id, first.finish_reason) == ("m-1", "msg_1", "tool_call")
    assert first.usage == Usage(input=2103, output=40, cache_read=2000, cache_write=100)
    assert (second.response_id, second.finish_reason) == ("msg_2", "stop")
    assert second.started_ns == START + 5 * SECOND
    assert (found.episode.started_ns, found.episode.ended_ns) == (START, START + 5 * SECOND)


def test_parallel_calls_are_one_message() -> None:
    """Results may stand between the blocks of a reply; the reply is one message all the same."""
    (found,) = read(
        line("user", "u1", "Go"),
        reply("a1", uses("t1", "Read", path="a"), after="u1"),
        line("user", "u2", [answers("t1", "A")], "a1"),
        reply("a2", uses("t2", "Read", path="b"), after="a1"),
        line("user", "u3", [answers("t2", "B")], "a2"),
    )
    first, second = request("Read", "t1", path="a"), request("Read", "t2", path="b")
    assert found.messages == (
        user("Go"),
        agent("", first, second),
        result("Read", "A", "t1"),
        result("Read", "B", "t2"),
    )
    assert len(found.llm_calls) == 1


def test_what_the_program_puts_in() -> None:
    """Reminders, expanded commands and summaries are no words of the user."""
    (found,) = read(
        line("user", "u1", "This session is being continued.", isCompactSummary=True),
        line("user", "u2", "Caveat: no reply.", "u1", isMeta=True),
        line("user", "u3", [says("Go on"), says("<system-reminder>Be brief.")], "u2"),
        line("user", "u4", "<local-command-stdout>ok</local-command-stdout>", "u3"),
        reply("a1", says("Done."), after="u4"),
        line("assistant", "a2", [says("No response requested.")], message={"model": "<synthetic>"}),
    )
    assert found.messages == (user("Go on"), agent("Done."))
    for part in ("being continued", "Caveat", "Be brief.", "stdout"):
        assert part in found.system_prompt
    assert len(found.llm_calls) == 1


def test_pictures() -> None:
    """A picture is named by its digest, in what the user says and in what a tool returns."""
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 40}
    picture = {"type": "image", "source": source}
    (found,) = read(
        line("user", "u1", [picture]),
        reply("a1", uses("t1", "Read", path="a.png"), after="u1"),
        line("user", "u2", [answers("t1", [picture])], "a1"),
    )
    for message in (found.messages[0], found.messages[2]):
        assert message.text.startswith("[image image/png sha256:")


def test_errors_of_the_api_are_told_but_are_no_calls() -> None:
    """A message that the program wrote in the model's place was not a model's."""
    (found,) = read(
        line("user", "u1", "Go"),
        line(
            "assistant",
            "a1",
            [says("API Error: overloaded")],
            "u1",
            message={"model": "<synthetic>", "id": "x"},
            isApiErrorMessage=True,
        ),
    )
    assert found.messages == (user("Go"), agent("API Error: overloaded"))
    assert found.llm_calls == ()


SIDE = (
    line("user", "k1", "Look for it.", isSidechain=True, agentId="ag1"),
    reply(
        "k2",
        uses("t9", "Grep", pattern="x"),
        id="msg_9",
        after="k1",
        isSidechain=True,
        agentId="ag1",
    ),
    line("user", "k3", [answers("t9", "found")], "k2", isSidechain=True, agentId="ag1"),
)
MAIN = (
    line("user", "u1", "Find it"),
    reply("a1", uses("t1", "Task", subagent_type="Explore", prompt="Look for it."), after="u1"),
    line("user", "u2", [answers("t1", "It is there.")], "a1", toolUseResult={"agentId": "ag1"}),
)


@pytest.mark.parametrize("side_first", [True, False])
def test_a_sub_agent_is_a_run_inside(side_first: bool) -> None:
    """Its calls of models and tools are the conversation's, its messages are not."""
    (found,) = read(*SIDE, *MAIN) if side_first else read(*MAIN, *SIDE)
    assert [m.role for m in found.messages] == ["user", "assistant", "tool"]
    (run,) = found.agents
    assert run.name == "Explore"
    task, grep = found.tool_calls
    assert (task.name, task.asked_at, task.agent) == ("Task", 1, "")
    assert (grep.name, grep.result, grep.asked_at, grep.agent) == ("Grep", "found", -1, run.span_id)
    assert [call.agent for call in found.llm_calls] in (["", run.span_id], [run.span_id, ""])


def test_a_sub_agent_without_an_id() -> None:
    """Older files know a sub-agent's lines by what they follow, and it by its prompt."""
    side = [{key: value for key, value in row.items() if key != "agentId"} for row in SIDE]
    (found,) = read(MAIN[0], MAIN[1], *side, MAIN[2])
    assert [run.name for run in found.agents] == ["Explore"]
    assert [call.name for call in found.tool_calls] == ["Task", "Grep"]


def test_a_sub_agent_that_reports_progress() -> None:
    """Newer files bring a sub-agent's lines inside of progress lines."""
    rows = [
        {
            "type": "progress",
            "sessionId": "s-1",
            "timestamp": row["timestamp"],
            "parentToolUseID": "t1",
            "data": {"type": "agent_progress", "agentId": "ag1", "message": {**row, "agentId": ""}},
        }
        for row in SIDE
    ]
    for row in rows:
        del row["data"]["message"]["agentId"]
    (found,) = read(*MAIN[:2], *rows, MAIN[2])
    assert [call.name for call in found.tool_calls] == ["Task", "Grep"]


def test_a_sub_agents_file_alone() -> None:
    """Without the session it is a conversation of its own."""
    (found,) = read(*SIDE)
    assert found.id == "s-1/ag1"
    assert found.messages[0] == user("Look for it.")
    assert found.agents == ()


def test_a_file_without_messages() -> None:
    """What says nothing of a conversation is none."""
    assert read({"type": "system", "uuid": "x", "sessionId": "s-1", "subtype": "y"}) == []
    assert read({"type": "summary", "summary": "Tests", "leafUuid": "x"}) == []


def test_a_prompt_that_was_taken_back() -> None:
    """What follows it is left out, its tokens are not; what only looks so stays."""
    (found,) = read(
        line("user", "u1", "Hello"),
        reply("a1", says("Hi"), after="u1"),
        line("user", "u2", "Delete it", "a1"),
        {"type": "attachment", "uuid": "x1", "parentUuid": "u2", "sessionId": "s-1"},
        reply("a2", says("Deleted."), id="msg_2", after="x1"),
        line("user", "u3", "Keep it", "a1"),
        reply("a3", says("Kept."), id="msg_3", after="u3"),
    )
    assert found.messages == (user("Hello"), agent("Hi"), user("Keep it"), agent("Kept."))
    assert len(found.llm_calls) == 3
    (found,) = read(
        line("user", "u1", "Hello", "x"),
        line("user", "u2", "And", "x"),
        reply("a1", says("Hi"), after="u1"),
    )
    assert len(found.messages) == 3


def test_lines_that_come_again() -> None:
    """A line is taken once, whatever copies of it a resumed session holds."""
    (found,) = read(line("user", "u1", "Hello"), line("user", "u1", "Hello"))
    assert found.messages == (user("Hello"),)


def test_what_the_user_typed_meanwhile() -> None:
    """A prompt that waited for the agent is the user's."""
    queued = {"type": "queued_command", "prompt": "Also the docs"}
    (found,) = read(
        line("user", "u1", "Hello"),
        {"type": "attachment", "uuid": "x", "sessionId": "s-1", "attachment": queued},
    )
    assert found.messages == (user("Hello"), user("Also the docs"))


def test_the_stream_of_the_program() -> None:
    """``--output-format stream-json`` has the same lines under other names."""
    (found,) = read(
        {"type": "system", "subtype": "init", "session_id": "s-2", "tools": ["Bash", "Task"]},
        {
            "type": "assistant",
            "session_id": "s-2",
            "parent_tool_use_id": None,
            "message": {"id": "m1", "model": "m-1", "content": [uses("t1", "Task", prompt="p")]},
        },
        {
            "type": "assistant",
            "session_id": "s-2",
            "parent_tool_use_id": "t1",
            "message": {"id": "m2", "model": "m-1", "content": [uses("t2", "Bash")]},
        },
        {"type": "result", "subtype": "success", "session_id": "s-2", "result": "Done"},
    )
    assert [tool.name for tool in found.tools] == ["Bash", "Task"]
    assert [call.name for call in found.tool_calls] == ["Task", "Bash"]
    assert len(found.agents) == 1


def test_tokens_of_a_stream() -> None:
    """What lines could not yet say of the last reply's tokens, the result says."""
    shared: Any = {"session_id": "s-2", "sessionId": None}
    total = {"type": "result", "session_id": "s-2", "usage": {"output_tokens": 50}}
    (found,) = read(
        reply("a1", says("One"), output=1, **shared),
        reply("a2", says("Two"), id="msg_2", output=9, **shared),
        total,
        reply("a3", says("Three"), id="msg_3", output=1, **shared),
        total,
    )
    assert [c.usage.output for c in found.llm_calls if c.usage] == [1, 49, 50]


def test_the_log_of_a_stream() -> None:
    """A prompt that was sent before the session had an id is the session's, in a log as well."""
    sent = {"type": "user", "session_id": "default", "message": {"content": "Hello"}}
    init = {"type": "system", "subtype": "init", "session_id": "s-3"}
    said = {"type": "assistant", "session_id": "s-3", "message": {"content": [says("Hi")]}}
    ways = ("send", "recv", "recv")
    log = {
        "messages": [
            {"direction": way, "message": row}
            for way, row in zip(ways, (sent, init, said), strict=True)
        ]
    }
    gathering = Gathering()
    assert gathering.add_inside(log)
    for found in (read(sent, init, said), list(gathering.conversations())):
        assert [c.id for c in found] == ["s-3"]
        assert found[0].messages == (user("Hello"), agent("Hi"))


def test_sessions_make_room() -> None:
    """Over the limit, the session that was quiet longest is concluded."""
    sessions = Sessions(held_bytes=10)
    rows = [line("user", f"u{n}", "Hi", sessionId=f"s-{n}") for n in range(3)]
    early = [c.id for row in rows for c in sessions.add(row, size=5, unnamed="")]
    assert early == ["s-0"]
    assert [c.id for c in sessions.rest()] == ["s-1", "s-2"]


KEYS = st.sampled_from(
    [
        "type",
        "message",
        "content",
        "role",
        "uuid",
        "parentUuid",
        "sessionId",
        "isSidechain",
        "agentId",
        "usage",
        "input_tokens",
        "id",
        "model",
        "toolUseResult",
        "attachment",
        "prompt",
        "data",
        "timestamp",
        "tool_use_id",
        "name",
        "input",
        "subtype",
        "tools",
        "text",
        "isMeta",
    ]
)
WORDS = st.sampled_from(
    ["user", "assistant", "progress", "attachment", "queued_command", "tool_use", "tool_result"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.dictionaries(KEYS, JSON, max_size=8), max_size=4))
def test_any_lines_are_read(rows: list[Any]) -> None:
    """Whatever lines hold, they are read or left out, never a crash."""
    kinds = ("user", "assistant", "progress", "attachment", "system")
    for row in rows:
        is_line(row)
    for kind in kinds:
        for found in read(*({**row, "type": kind} for row in rows)):
            msgspec.json.encode(found)
