"""Test which calls wait for the agent."""

from __future__ import annotations

from collector.model import Message, ToolRequest
from collector.served import waits
from tests.build import agent, request, result


def test_calls_that_the_provider_served_wait_for_nobody() -> None:
    """Known by their ids, or by the result that stands in the same reply."""
    assert waits([agent("", request("room", "toolu_1"))])
    assert not waits([agent("Done.", request("web_search", "srvtoolu_1"))])
    assert not waits(
        [agent("", request("room", "c1")), result("room", "free", "c1"), agent("Yes.")]
    )
    assert not waits([])


def test_calls_without_ids_are_served_by_results_without() -> None:
    """Google runs code within a reply and names neither; of two calls one may wait."""
    call = agent("", ToolRequest(name="code_execution"))
    ran = Message(role="tool", text="5117")
    assert not waits((call, ran))
    assert waits((call, call, ran))
    assert waits((call,))
