"""Test Claude Code's events and spans."""

from __future__ import annotations

import json
from typing import Any

from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Conversation, Episode, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from collector.telemetry import LogRecord, SpanEvent
from tests.build import agent, span, user

SCOPE = "com.anthropic.claude_code.events"
SECOND = 1_000_000_000


def log(kind: str, at: int = 1, **attributes: Any) -> Facts | None:
    """Normalise one event that came ``at`` seconds."""
    record = LogRecord(
        time_ns=at * SECOND,
        event_name=kind,
        body=f"claude_code.{kind}",
        attributes={"session.id": "s1", **attributes},
        scope_name=SCOPE,
        resource={"service.name": "claude-code"},
    )
    return Normaliser().log(record)


def built(*facts: Facts | None) -> Conversation:
    """Build the conversation that the facts make."""
    found = [fact for fact in facts if fact is not None]
    built = build(found, id="s1", explicit=True, episode=Episode(), keys=MessageKeys())
    return built.conversation


def test_events_make_a_conversation() -> None:
    """Prompt, tool and answer stand in their order, requests count with their tokens."""
    conversation = built(
        log("user_prompt", 1, prompt="Rename the file."),
        log("api_request", 2, model="m", request_id="r1", input_tokens="3", output_tokens="5",
            cache_read_tokens="90", cache_creation_tokens="7", cost_usd="0.01", duration_ms="500"),
        log("tool_result", 3, tool_name="Bash", tool_use_id="t1", success="true",
            duration_ms=200, tool_input=json.dumps({"command": "mv a b"})),
        log("assistant_response", 4, response="Done."),
    )  # fmt: skip
    assert conversation.messages == (user("Rename the file."), agent("Done."))
    assert [c.usage for c in conversation.llm_calls] == [
        Usage(input=100, output=5, cache_read=90, cache_write=7)
    ]
    call = conversation.tool_calls[0]
    assert (call.id, call.name, call.arguments) == ("t1", "Bash", {"command": "mv a b"})
    assert (call.is_error, conversation.identity.agent) == (False, "claude-code")
    assert call.started_ns == 3 * SECOND - SECOND // 5


def test_a_span_and_an_event_of_the_same_call_count_once() -> None:
    """Tools meet by the id of their use, requests by theirs."""
    read = Normaliser().span
    request = {"span.type": "llm_request", "request_id": "r1", "input_tokens": 3}
    tool = {"span.type": "tool", "tool_name": "Bash", "tool_use_id": "t1"}
    conversation = built(
        read(span("claude_code.llm_request", id="1" * 16, attributes=request)),
        read(span("claude_code.tool", id="2" * 16, attributes=tool)),
        log("api_request", 1000, request_id="r1", input_tokens=3, output_tokens=5),
        log("tool_result", 1000, tool_name="Bash", tool_use_id="t1", success=False, error="no"),
    )
    assert len(conversation.llm_calls) == 1
    assert [(c.id, c.is_error) for c in conversation.tool_calls] == [("t1", True)]


def test_a_tool_of_an_mcp_server_is_one_call_with_its_output() -> None:
    """Events hide its name in the parameters; its span has the whole name, and the output as an event."""
    tool = {"span.type": "tool", "tool_name": "mcp__the_shop__get_order", "tool_use_id": "t1"}
    output = SpanEvent(time_ns=1, name="tool.output", attributes={"output": "shipped"})
    conversation = built(
        Normaliser().span(span("claude_code.tool", attributes=tool, events=(output,))),
        log(
            "tool_result",
            1000,
            tool_name="mcp_tool",
            tool_use_id="t1",
            success="true",
            tool_parameters='{"mcp_server_name":"the shop","mcp_tool_name":"get_order"}',
            tool_input='{"order_id":"A-1"}',
        ),
    )
    (call,) = conversation.tool_calls
    assert (call.id, call.name) == ("t1", "mcp__the_shop__get_order")
    assert (call.arguments, call.result, call.is_error) == ({"order_id": "A-1"}, "shipped", False)


def test_bodies_are_read_where_they_are_sent() -> None:
    """A raw request holds what was said, a raw response the reply."""
    body = {"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}], "tools": []}
    asked = log("api_request_body", request_id="r1", body=json.dumps(body))
    assert asked is not None
    assert (asked.system_prompt, asked.input) == ("Be brief.", (user("Hi"),))
    reply = {"role": "assistant", "content": [{"type": "text", "text": "Ho"}], "id": "msg_1"}
    told = log("api_response_body", request_id="r1", body=json.dumps(reply))
    assert told is not None
    assert told.output == (agent("Ho"),)
    cut = log("api_request_body", request_id="r1", body=json.dumps(body)[:66])
    assert cut is not None
    assert (cut.truncated, cut.system_prompt) == (True, "Be brief.")


def test_failures_and_refusals_are_marked() -> None:
    """An API error is the call's error; a refusal is a reason to end."""
    failed = log("api_error", error="529 overloaded", request_id="r2")
    refused = log("api_refusal", request_id="r3")
    assert failed is not None
    assert refused is not None
    assert (failed.role, failed.error) == ("llm", "529 overloaded")
    assert refused.finish_reason == "content_filter"


def test_masked_content_is_absent() -> None:
    """What the user did not switch on says nothing."""
    prompt = log("user_prompt", prompt="<REDACTED>", prompt_length=12)
    assert prompt is not None
    assert prompt.input == ()


def test_other_events_and_other_peoples_are_left_out() -> None:
    """Hooks say nothing; an event of the same name from elsewhere is not ours."""
    assert log("hook_registered") is None
    record = LogRecord(time_ns=1, event_name="tool_result", attributes={}, resource={})
    assert Normaliser().log(record) is None


def test_spans_have_their_roles() -> None:
    """An interaction is the agent's, waiting for the user is nobody's."""
    read = Normaliser().span
    asked = read(span("claude_code.interaction", attributes={"user_prompt": "Hi"}))
    assert (asked.role, asked.input) == ("agent", (user("Hi"),))
    assert read(span("claude_code.tool.blocked_on_user", attributes={})).role == "other"
    tool = read(span("claude_code.tool", attributes={"tool_name": "Read", "tool_use_id": "t"}))
    assert tool.tool == ToolRequest(id="t", name="Read")
