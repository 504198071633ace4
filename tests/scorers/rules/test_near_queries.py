"""Check that a search asked again in other words is told as looping."""

from __future__ import annotations

import msgspec
import pytest

from collector.model import Conversation, LlmCall, Usage
from scorers.result import Score
from scorers.rules.looping import looping, wasted_by_looping
from scorers.rules.waste import Waste
from tests.build import agent, conversation, request, result, user

REWORDED = (
    "refund policy",
    "policy for refunds",
    "the refund policy rules",
    "what is the refund policy",
    "policy on refunding",
)


def searched(*queries: str, answers: tuple[str, ...] = ()) -> Conversation:
    """Build one search after the other; without ``answers`` none finds anything."""
    messages = [user("What is your refund policy?")]
    for n, query in enumerate(queries):
        answer = answers[n] if answers else "No results found."
        messages.append(agent("", request("search_pages", f"s{n}", query=query)))
        messages.append(result("search_pages", answer, f"s{n}"))
    return conversation(*messages)


def judge(talk: Conversation) -> Score:
    """Judge a conversation."""
    found = looping.function(talk, **looping.options)
    assert isinstance(found, Score)
    return found


def test_reworded() -> None:
    """Five searches for one thing that all find nothing are a loop; four are none."""
    told = judge(searched(*REWORDED))
    assert told.verdict == "fail"
    assert "asked search_pages the same 4 times more in other words" in told.reason
    assert judge(searched(*REWORDED[:4])).verdict == "pass"


@pytest.mark.parametrize(
    "queries",
    [
        ("hotels in Oslo", "trains to Rome", "museums of Lund", "ferries to Kiel", "bus to Bonn"),
        ("Ana", "Ben", "Cleo", "Dan", "Eve", "Fay"),
    ],
)
def test_other_searches(queries: tuple[str, ...]) -> None:
    """Searches for different things are none, though none finds anything."""
    assert judge(searched(*queries)).verdict == "pass"


def test_progress() -> None:
    """Searches in other words that find other things are no loop."""
    answers = tuple(f"Page {n}" for n in range(5))
    assert judge(searched(*REWORDED, answers=answers)).verdict == "pass"


def test_what_it_cost() -> None:
    """What the repeated calls used is added up, where it was recorded."""
    talk = searched(*["refund policy"] * 5)
    second = 1_000_000_000
    calls = tuple(
        msgspec.structs.replace(call, started_ns=(2 * n + 2) * second)
        for n, call in enumerate(talk.tool_calls)
    )
    models = tuple(
        LlmCall(ended_ns=(2 * n + 1) * second, usage=Usage(input=90, output=10), cost_usd=0.01)
        for n in range(5)
    )
    whole = msgspec.structs.replace(talk, tool_calls=calls, llm_calls=models)
    assert wasted_by_looping(whole) == Waste(tokens=400, cost_usd=0.04)
    assert wasted_by_looping(talk) == Waste()
    assert judge(whole).reason == judge(talk).reason
