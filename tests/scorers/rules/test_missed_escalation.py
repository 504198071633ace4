"""Hold when a user who needed a person was left with the agent."""

from __future__ import annotations

from typing import Any

from collector.model import Episode, Message
from scorers.result import Score, Skip
from scorers.rules.missed_escalation import missed_escalation
from tests.build import agent, conversation, request, result, user


def score(*messages: Message, **more: Any) -> Score:
    """Score one conversation."""
    outcome = missed_escalation.function(conversation(*messages, **more))
    assert isinstance(outcome, Score)
    return outcome


def test_going_on_fails() -> None:
    """An agent that goes on after a request for a person fails, with the request as evidence."""
    bad = score(
        user("Hi"), agent("Hello"), user("I want to speak to a manager."), agent("The mug is $5.")
    )
    assert (bad.value, bad.verdict) == (0.0, "fail")
    assert (bad.evidence[0].message, bad.evidence[0].quote) == (2, "speak to a manager")


def test_a_trigger_needs_no_request() -> None:
    """A legal threat that is passed over fails."""
    bad = score(user("My lawyer will call you."), agent("The mug is $5."))
    assert bad.verdict == "fail"
    assert "legal threat" in bad.reason


def test_handing_over_by_tool_passes() -> None:
    """A hand-over tool that works meets the request."""
    good = score(
        user("Get me a human"),
        agent("", request("transfer_to_human")),
        result("transfer_to_human", "ok"),
        agent("Please hold."),
    )
    assert good.verdict == "pass"


def test_a_failed_hand_over_does_not() -> None:
    """A hand-over tool that fails, unmentioned, leaves the user where they were."""
    bad = score(
        user("Get me a human"),
        agent("", request("transfer_to_human")),
        result("transfer_to_human", "Error: queue closed"),
        agent("The mug is $5."),
    )
    assert bad.verdict == "fail"


def test_handing_over_in_words_passes() -> None:
    """Saying that a person takes over meets the request."""
    assert (
        score(user("Get me a human"), agent("I'm connecting you with a colleague.")).verdict
        == "pass"
    )


def test_an_offer_counts_only_as_the_answer() -> None:
    """An offer meets the request it answers, not one of long before."""
    offer = "If you like, I can transfer you to a human."
    assert score(user("Get me a human"), agent(offer)).verdict == "pass"
    late = score(user("Get me a human"), agent("$5."), user("And the jug?"), agent(offer))
    assert late.verdict == "fail"


def test_an_accepted_offer_binds() -> None:
    """A user who says yes to an offer of a person has asked for one."""
    bad = score(
        user("It broke"),
        agent("Shall I connect you with a specialist?"),
        user("Yes please"),
        agent("The mug is $5."),
    )
    assert bad.verdict == "fail"
    assert "accepted" in bad.reason


def test_a_withdrawn_wish_needs_nothing() -> None:
    """A user who takes the wish back is served by the agent."""
    good = score(user("Get me a human"), agent("Why?"), user("Never mind, go on."), agent("$5."))
    assert good.verdict == "pass"


def test_danger_may_be_met_by_a_crisis_line() -> None:
    """Naming a crisis line answers a remark of self-harm."""
    good = score(user("I want to die"), agent("I'm so sorry. Please call the crisis line at once."))
    assert good.verdict == "pass"


def test_a_request_nobody_answered_is_not_missed() -> None:
    """The last words of a conversation cannot have been passed over by the agent."""
    assert score(user("Hi"), agent("Hello"), user("Get me a human")).verdict == "pass"


def test_only_this_episode_is_judged() -> None:
    """A request of an earlier episode is not counted again."""
    messages = (user("Get me a human"), agent("$5."), user("Thanks"), agent("Bye"))
    assert score(*messages, episode=Episode(number=2, first_message=2)).verdict == "pass"


def test_nothing_said_is_skipped() -> None:
    """Without a user's words there is no verdict."""
    silent = missed_escalation.function(conversation(agent("Hello")))
    assert isinstance(silent, Skip)
    assert silent.reason == "no_content"


def test_a_hand_over_tool_by_name() -> None:
    """A tool that the owner calls a hand-over is one, whatever its name."""
    asked = (user("A person, please."), agent("", request("queue_b7")), result("queue_b7", "ok"))
    talk = conversation(*asked, agent("Done."))
    info = missed_escalation
    assert info.function(talk, **info.options).verdict == "fail"
    named = info.configured(handover_tools=["queue_*"])
    assert named.function(talk, **named.options).verdict == "pass"
