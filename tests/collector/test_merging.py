"""Test that descriptions of one span are joined."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Facts, Identity, ToolRequest, Usage
from collector.normalise import merge
from tests.build import agent, request, user


def facts(**more: Any) -> Facts:
    """Build facts about one call."""
    given: dict[str, Any] = {
        "role": "llm",
        "dialect": "d",
        "start_ns": 1,
        "end_ns": 2,
        "identity": Identity(),
    }
    return Facts(**(given | more))


def test_a_span_and_its_details_log_become_one_call() -> None:
    """Content comes from the log, name and times from the span; a lying reason is corrected."""
    from_span = facts(name="chat m", start_ns=5, end_ns=9, finish_reason="stop", model="m")
    from_log = facts(
        name="gen_ai.client.inference.operation.details",
        start_ns=8,
        end_ns=0,
        input=(user("Hi"),),
        output=(agent("", request("room")),),
        usage=Usage(input=1),
    )
    joined = merge(from_log, from_span)
    assert joined == merge(from_span, from_log)
    assert (joined.name, joined.start_ns, joined.end_ns) == ("chat m", 5, 9)
    assert (joined.input, joined.usage, joined.model) == ((user("Hi"),), Usage(input=1), "m")
    assert joined.finish_reason == "tool_call"


def test_shares_are_appended_to_a_span_without_content() -> None:
    """Legacy events add up, before and after their span."""
    shares = [
        facts(partial=True, end_ns=0, system_prompt="Be kind."),
        facts(partial=True, end_ns=0, input=(user("a"),)),
        facts(partial=True, end_ns=0, input=(user("b"),)),
        facts(partial=True, end_ns=0, output=(agent("c"),), finish_reason="stop"),
    ]
    whole = facts(name="chat m", end_ns=9)
    joined = shares[0]
    for other in (shares[1], whole, shares[2], shares[3]):
        joined = merge(joined, other)
    assert joined.system_prompt == "Be kind."
    assert (joined.input, joined.output) == ((user("a"), user("b")), (agent("c"),))
    assert (joined.name, joined.end_ns, joined.finish_reason) == ("chat m", 9, "stop")


def test_shares_of_content_that_is_there_are_superfluous() -> None:
    """A span that carries its content does not get it twice."""
    whole = facts(input=(user("a"),), output=(agent("c"),))
    share = facts(partial=True, end_ns=0, input=(user("a"),))
    assert merge(whole, share).input == (user("a"),)
    assert merge(share, whole).input == (user("a"),)
    assert not merge(whole, share).partial


def test_the_richer_content_wins() -> None:
    """Of a span that was sent at its start and at its end, the fuller one counts."""
    started = facts(end_ns=0, input=(user("a"),), system_prompt="Be kind.")
    ended = facts(end_ns=9, input=(user("a"), agent("b")), output=(agent("c"),))
    joined = merge(started, ended)
    assert joined.input == (user("a"), agent("b"))
    assert joined.system_prompt == "Be kind."
    assert (joined.output, joined.end_ns) == ((agent("c"),), 9)


def test_what_both_say_of_a_tool_is_joined() -> None:
    """Call, result and error flag of a tool come from whoever has them."""
    one = facts(role="tool", tool=ToolRequest(name="room", arguments={"n": 1}))
    other = facts(
        role="tool",
        tool=ToolRequest(id="c1", name="room"),
        tool_result="free",
        tool_is_error=True,
        identity=Identity(agent="shop", variant="canary"),
    )
    joined = merge(one, other)
    assert joined.tool == ToolRequest(id="c1", name="room", arguments={"n": 1})
    assert (joined.tool_result, joined.tool_is_error) == ("free", True)
    assert joined.identity == Identity(agent="shop", variant="canary")


def test_a_parent_gets_no_usage_from_its_logs() -> None:
    """Only leaf calls carry usage, also after joining."""
    assert merge(facts(role="agent"), facts(usage=Usage(input=1), end_ns=0)).usage is None


@pytest.mark.parametrize("role", ["llm", "tool", "chain"])
def test_joining_with_itself_changes_nothing(role: Any) -> None:
    """A span that is sent twice stays what it was."""
    one = facts(role=role, input=(user("a"),), output=(agent("b"),), documents=())
    assert merge(one, one) == one
