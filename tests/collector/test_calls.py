"""Test that a tool call told of by several spans, each in its own way, is one call."""

from __future__ import annotations

from collector.model import ToolRequest
from tests.build import agent, request
from tests.collector.test_conversations import ASK, FOUND, LOOK, TELL, built, fact


def test_a_call_without_id_takes_it_from_its_span() -> None:
    """Google's messages name no id and no arguments where there are none."""
    asks = agent("", ToolRequest(name="now"))
    tool = ToolRequest(id="adk-1", name="now", arguments={})
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(asks,)),
        fact("tool", span_id="c", start_ns=1, tool=tool, tool_result="noon"),
    ).conversation
    assert [(c.id, c.arguments, c.result) for c in conversation.tool_calls] == [
        ("adk-1", {}, "noon")
    ]


def test_a_call_may_have_another_id_in_the_history() -> None:
    """The reply names the item, the next call's history the call: it is the same one."""
    item = agent("", request("find_parcel", "fc_1", number=7))
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(item,)),
        fact(span_id="b", start_ns=2, input=(ASK, LOOK, FOUND), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)
    assert [c.id for c in conversation.tool_calls] == ["call_find_parcel"]
