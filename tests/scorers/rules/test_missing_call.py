"""Check which replies are told to have been given from nothing."""

from __future__ import annotations

import pytest

from collector.model import Conversation, Message
from scorers.result import ScorerResult, Skip
from scorers.rules.missing_call import missing_call
from tests.build import agent, conversation, request, result, tool, user

TOOLS = (tool("get_order_total", {"order_id": {"type": "string"}}), tool("cancel_order"))
ASKED = user("What is the total of my order 70001?")


def judge(*messages: Message, turn: int = 0, tools: bool = True) -> ScorerResult:
    """Judge one turn of a shop's conversation."""
    talk: Conversation = conversation(*messages, tools=TOOLS if tools else ())
    found: ScorerResult = missing_call.function(talk, talk.turns[turn])
    return found


def verdict(*messages: Message, turn: int = 0) -> str:
    """Return the verdict on one turn, or why it was skipped."""
    found = judge(*messages, turn=turn)
    return found.reason if isinstance(found, Skip) else getattr(found, "verdict", "")


@pytest.mark.parametrize(
    "reply",
    ["Your order comes to $84.50.", "I have checked, and it is a large one."],
    ids=["a figure", "a look"],
)
def test_from_nothing(reply: str) -> None:
    """A figure that nothing gave, or a look that never was, is told where a tool fits."""
    assert verdict(ASKED, agent(reply)) == "fail"


@pytest.mark.parametrize(
    "reply",
    [
        "Order 70001 is yours.",
        "Could you tell me your name? It may be $84.50.",
        "I can't see totals such as $84.50.",
        "Orders usually come to $84.50.",
        "It is fine.",
    ],
    ids=["given", "asks back", "refuses", "in general", "no figure"],
)
def test_nothing_invented(reply: str) -> None:
    """What was given, is asked back, refused or said in general is not told."""
    assert verdict(ASKED, agent(reply)) == "pass"


def test_called() -> None:
    """A turn in which the agent called a tool is not judged by this scorer."""
    call, answer = agent("", request("cancel_order")), result("cancel_order", "done")
    assert verdict(ASKED, call, answer, agent("It is $84.50.")) == "pass"


def test_known_from_before() -> None:
    """What a tool said in an earlier turn need not be asked for again."""
    first = (user("My order 70001?"), agent("", request("get_order_total")))
    known = (result("get_order_total", "84.50"), agent("Found it."))
    told = (user("And what is its total?"), agent("It is $84.50."))
    assert verdict(*first, *known, *told, turn=1) == "pass"


def test_no_tool_fits() -> None:
    """A figure about something that no tool looks for is no missing call."""
    assert verdict(user("How tall is Mount Everest?"), agent("8,849 metres.")) == "pass"


def test_not_judged() -> None:
    """Without tools, without a reply, or without a wish there is nothing to judge."""
    assert judge(ASKED, agent("$84.50."), tools=False) == Skip(reason="no_tools")
    assert judge(ASKED) == Skip(reason="no_reply")
    assert judge(user("Thanks!"), agent("84.50 times welcome.")) == Skip(reason="no_request")
