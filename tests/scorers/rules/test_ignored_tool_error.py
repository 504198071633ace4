"""Hold when an agent passed a failure over."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Message
from scorers.result import Score, Skip
from scorers.rules.ignored_tool_error import ignored_tool_error
from tests.build import agent, conversation, request, result, user


def score(*messages: Message, **more: Any) -> Score:
    """Score one conversation."""
    outcome = ignored_tool_error.function(conversation(*messages, **more))
    assert isinstance(outcome, Score)
    return outcome


def after(tool: str, answer: str, *messages: Message) -> Score:
    """Score what an agent did after one tool answered."""
    return score(user("Do it"), agent("", request(tool)), result(tool, answer), *messages)


def test_an_answer_out_of_nothing_fails() -> None:
    """A confident answer after a failed lookup fails, with the error and the reply as evidence."""
    bad = after("get_price", "Error: 503", agent("The mug costs $5."))
    assert (bad.value, bad.verdict) == (0.0, "fail")
    assert [e.quote for e in bad.evidence] == ["Error: 503", "The mug costs $5."]
    assert [e.message for e in bad.evidence] == [2, 3]


def test_an_empty_search_can_be_ignored_too() -> None:
    """A lookup that found nothing gives no ground for an answer."""
    assert after("find_mug", "[]", agent("The mug costs $5.")).verdict == "fail"
    assert after("find_mug", "[]", agent("I found no mug.")).verdict == "pass"


def test_a_refused_action_must_be_owned_up_to() -> None:
    """After a failed action only an account of the failure will do, not any negative word."""
    bad = after("send_mail", "Error: quota", agent("I sent it. Do not hesitate to ask for more."))
    good = after("send_mail", "Error: quota", agent("I was unable to send it."))
    assert (bad.verdict, good.verdict) == ("fail", "pass")


@pytest.mark.parametrize(
    "messages",
    [
        (agent("The shop does not know that mug."),),
        (agent("Sorry, it failed."),),
        (agent("Which mug do you mean?"),),
        (
            agent("", request("get_price", id="again")),
            result("get_price", "$5", id="again"),
            agent("$5."),
        ),
        (
            agent("", request("search_web", id="other")),
            result("search_web", "$5", id="other"),
            agent("$5."),
        ),
        (),
    ],
)
def test_notice_passes(messages: tuple[Message, ...]) -> None:
    """Saying so, asking back, trying again, trying elsewhere, and not replying pass nothing over."""
    assert after("get_price", "Error: 503", *messages).verdict == "pass"


def test_void_answers_are_no_failures() -> None:
    """Tools that return nothing by nature have not failed."""
    assert after("get_ready", "null", agent("Done.")).verdict == "pass"
    assert after("send_mail", "None", agent("Sent.")).verdict == "pass"


def test_nothing_to_judge_is_skipped() -> None:
    """Without calls, or without any result, there is no verdict."""
    no_calls = ignored_tool_error.function(conversation(user("Hi"), agent("Hello")))
    unseen = ignored_tool_error.function(conversation(user("Hi"), agent("", request("get_price"))))
    assert isinstance(no_calls, Skip)
    assert no_calls.reason == "no_tool_calls"
    assert isinstance(unseen, Skip)
    assert unseen.reason == "no_content"
