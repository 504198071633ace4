"""The tree of agents is kept, and who made which call."""

from __future__ import annotations

from typing import Any

from collector.agents import AgentTree, name_of
from collector.conversations import build
from collector.message_keys import MessageKeys
from collector.model import Episode, FactRole, Facts, ToolRequest
from tests.build import agent, identity, user


def fact(role: FactRole, span_id: str, parent_id: str = "", **more: Any) -> Facts:
    """Build facts of one span."""
    more.setdefault("start_ns", int(span_id, 36))
    return Facts(
        role=role,
        dialect="test",
        span_id=span_id,
        parent_id=parent_id,
        identity=identity(),
        **more,
    )


HANDED_OVER = (
    fact("chain", "1"),
    fact("agent", "2", "1", name="invoke_agent desk"),
    fact("llm", "3", "2", input=(user("A refund!"),), output=(agent("I hand you over."),)),
    fact("agent", "4", "1", name="invoke_agent refunds"),
    fact("chain", "5", "4"),
    fact("llm", "6", "5", input=(user("A refund!"),), output=(agent("Done."),)),
    fact("tool", "7", "5", tool=ToolRequest(name="pay"), tool_result="ok"),
    fact("agent", "8", "7", name="auditor.run"),
)


def test_agents_keep_their_parents_and_calls_their_agent() -> None:
    """A hand-over is a sibling, an agent inside a tool a child of the tool's agent."""
    conversation = build(
        HANDED_OVER, id="c", explicit=True, episode=Episode(), keys=MessageKeys()
    ).conversation
    assert [(a.name, a.span_id, a.parent) for a in conversation.agents] == [
        ("desk", "2", ""),
        ("refunds", "4", ""),
        ("auditor", "8", "4"),
    ]
    assert [c.agent for c in conversation.llm_calls] == ["2", "4"]
    assert [c.agent for c in conversation.tool_calls] == ["4"]


def test_rings_and_strangers_have_no_agent_above() -> None:
    """Spans that name each other as parents, or a parent nobody sent, end the walk."""
    tree = AgentTree([fact("chain", "1", "2"), fact("chain", "2", "1"), fact("llm", "3", "9")])
    assert tree.above("1") == ""
    assert tree.above("3") == ""
    assert tree.runs() == []


def test_a_nameless_span_has_the_identitys_name() -> None:
    """An agent's span without a name of its own is called as the agent is."""
    assert name_of(fact("agent", "1", name="")) == "shop"
