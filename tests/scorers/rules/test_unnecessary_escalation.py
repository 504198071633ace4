"""Hold when a hand-over had no cause."""

from __future__ import annotations

import pytest

from collector.model import Message
from scorers.result import Score, Skip
from scorers.rules.unnecessary_escalation import unnecessary_escalation
from tests.build import agent, conversation, request, result, user

HAND_OVER = (agent("", request("transfer_to_human")), result("transfer_to_human", "ok"))


def score(*messages: Message) -> Score:
    """Score one conversation."""
    outcome = unnecessary_escalation.function(conversation(*messages))
    assert isinstance(outcome, Score)
    return outcome


def test_handing_over_at_once_fails() -> None:
    """A hand-over as the first thing, without a word of why, has no cause."""
    bad = score(user("What does the mug cost?"), *HAND_OVER, agent("Please hold."))
    assert (bad.value, bad.verdict) == (0.0, "fail")
    assert "transfer_to_human" in bad.reason


def test_handing_over_in_words_at_once_fails() -> None:
    """Words that hand over count like a tool."""
    bad = score(user("What does the mug cost?"), agent("I'm transferring you to a colleague."))
    assert bad.verdict == "fail"
    assert bad.evidence[0].quote == "transferring you to a colleague"


@pytest.mark.parametrize(
    "before",
    [
        (user("Get me a human"),),
        (user("You are scammers!"),),
        (user("It broke"), agent("Shall I connect you with a specialist?"), user("Yes")),
        (user("Hi"), agent("", request("get_mug")), result("get_mug", "Error: down")),
        (user("Hi"), agent("", request("get_mug")), result("get_mug", '{"price": 5}')),
        (user("a"), agent("?"), user("b"), agent("?"), user("c")),
        (user("Fix my car"), agent("I'm afraid I cannot do that.")),
    ],
)
def test_a_cause_passes(before: tuple[Message, ...]) -> None:
    """A request, a trigger, a yes, a failure, an attempt and a stated reason each justify it."""
    assert score(*before, *HAND_OVER).verdict == "pass"


def test_no_hand_over_passes() -> None:
    """An agent that keeps the conversation did not escalate."""
    assert score(user("Hi"), agent("Hello")).verdict == "pass"


def test_more_attempts_can_be_asked_for() -> None:
    """The option says how much has to be tried first."""
    tried = conversation(
        user("Hi"), agent("", request("get_mug")), result("get_mug", '{"price": 5}'), *HAND_OVER
    )
    strict = unnecessary_escalation.configured(attempts=3)
    assert strict.function(tried, **strict.options).verdict == "fail"


def test_nothing_said_is_skipped() -> None:
    """Without the agent's words there is no verdict."""
    assert isinstance(unnecessary_escalation.function(conversation(user("Hi"))), Skip)


def test_a_hand_over_tool_by_name() -> None:
    """A tool that the owner calls a hand-over is one, whatever its name."""
    asked = user("What does the mug cost?")
    talk = conversation(asked, agent("", request("queue_b7")), result("queue_b7", "ok"))
    info = unnecessary_escalation
    assert info.function(talk, **info.options).verdict == "pass"
    named = info.configured(handover_tools=["queue_*"])
    assert named.function(talk, **named.options).verdict == "fail"
