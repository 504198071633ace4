"""Check which calls are told to be unneeded."""

from __future__ import annotations

import msgspec
import pytest

from collector.model import Conversation, Message
from scorers.result import Score, Skip
from scorers.rules.unneeded_call import unneeded_call
from tests.build import agent, conversation, request, result, tool, user

ORDER = tool("get_order", {"order_id": {"type": "string", "description": "Number of an order."}})
WEATHER = tool(
    "forecast_rain",
    {"town": {"type": "string", "description": "Town whose sky is asked for"}},
    description="Predict showers and storms of the coming days.",
)


def verdicts(talk: Conversation) -> list[str]:
    """Judge every call in order; a skip shows its reason."""
    found = [unneeded_call.function(talk, call) for call in talk.tool_calls]
    return [one.reason if isinstance(one, Skip) else one.verdict for one in found]


def look(id: str, answer: str = '{"state": "packed"}', name: str = "get_order") -> list[Message]:
    """Build one look at an order with its answer."""
    call = request(name, id, order_id="70001")
    return [agent("", call), result(name, answer, id)]


def shop(*messages: Message) -> Conversation:
    """Build a conversation about an order."""
    return conversation(user("Where is my order 70001?"), *messages, tools=(ORDER, WEATHER))


def test_in_hand() -> None:
    """The same question with the same answer is unneeded the second time."""
    talk = shop(*look("a"), *look("b"))
    assert verdicts(talk) == ["pass", "fail"]
    told = unneeded_call.function(talk, talk.tool_calls[1])
    assert isinstance(told, Score)
    assert told.reason == "The call of get_order was made before and its answer was the same."
    assert told.evidence[0].tool_call_id == "b"


def test_twice_in_one_message() -> None:
    """One of two equal calls side by side is unneeded."""
    calls = [request("get_order", one, order_id="70001") for one in "ab"]
    talk = shop(agent("", *calls), result("get_order", "x", "a"), result("get_order", "x", "b"))
    assert verdicts(talk) == ["pass", "fail"]


CHANGE = [agent("", request("cancel_order", "c")), result("cancel_order", "done", "c")]


@pytest.mark.parametrize(
    "messages",
    [
        [*look("a"), *look("b", '{"state": "sent"}')],
        [*look("a"), *CHANGE, *look("b")],
        [*look("a"), agent("Packed."), user("Please look again."), *look("b")],
        [*look("a", "Error: timeout"), *look("b")],
        [*look("a", name="get_job_status"), *look("b", name="get_job_status")],
    ],
    ids=["another answer", "after a change", "asked to", "after an error", "waiting"],
)
def test_another_look(messages: list[Message]) -> None:
    """A second look is needed where the answer may have become another."""
    assert "fail" not in verdicts(shop(*messages))


def test_a_failed_change_is_none() -> None:
    """What did not work changed nothing, so looking again tells nothing new."""
    refused = [agent("", request("cancel_order", "c")), result("cancel_order", "Error: no", "c")]
    assert verdicts(shop(*look("a"), *refused, *look("b"))) == ["pass", "pass", "fail"]


def test_unrelated() -> None:
    """A tool that has nothing to do with what was said is told, with values nobody gave."""
    talk = shop(agent("", request("forecast_rain", "w", town="Lund")))
    assert verdicts(talk) == ["fail"]
    told = unneeded_call.function(talk, talk.tool_calls[0])
    assert isinstance(told, Score)
    assert "has to do with that tool" in told.reason


@pytest.mark.parametrize(
    "said",
    [
        "Where is my order? It is for Lund.",
        "Will showers delay it in the town?",
        "¿Dónde está mi pedido?",
    ],
    ids=["a value", "a word", "not English"],
)
def test_related(said: str) -> None:
    """A word of the tool, a value of its arguments, or another language keep a call from being told."""
    call = request("forecast_rain", "w", town="Lund")
    talk = conversation(user(said), agent("", call), tools=(WEATHER,))
    assert verdicts(talk) == ["pass"]


def test_not_judged() -> None:
    """The user's own calls and calls of unknown place are skipped."""
    talk = shop(*look("a"))
    call = talk.tool_calls[0]
    mine = msgspec.structs.replace(call, requestor="user")
    lost = msgspec.structs.replace(call, asked_at=-1)
    assert unneeded_call.function(talk, mine) == Skip(reason="not_the_agents")
    assert unneeded_call.function(talk, lost) == Skip(reason="no_position")
