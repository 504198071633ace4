"""Check that an agent that says the same again, or is stopped, is told as looping."""

from __future__ import annotations

import pytest

from scorers.result import Score, Skip
from scorers.rules.looping import looping
from scorers.rules.repeated_messages import stopped_at_limit
from tests.build import agent, conversation, request, result, user

ASK = "Please tell me your order number so that I can look it up."


def judge(*replies: str) -> Score | Skip:
    """Judge a conversation in which the user says something else each time."""
    messages = [m for n, text in enumerate(replies) for m in (user(f"It is {n}."), agent(text))]
    found = looping.function(conversation(*messages), **looping.options)
    assert isinstance(found, Score | Skip)
    return found


def test_the_same_message() -> None:
    """A reply given four times, spelling aside, is a loop; three times is none."""
    told = judge(ASK, ASK.upper(), ASK, ASK + "!")
    assert isinstance(told, Score)
    assert (told.verdict, told.reason) == ("fail", "The agent said the same 4 times.")
    assert [one.message for one in told.evidence] == [1, 3, 5, 7]
    assert judge(ASK, ASK, ASK) == Skip(reason="no_tool_calls")


@pytest.mark.parametrize(
    "text", ["Yes.", "You are welcome! Is there anything else that I can do for you?"]
)
def test_courtesies(text: str) -> None:
    """Short replies and courtesies may be the same each time."""
    assert judge(*[text] * 6) == Skip(reason="no_tool_calls")


def test_with_a_tool_call() -> None:
    """What is said beside different calls is no loop."""
    talk = [user("Look at all of them.")]
    for n in range(6):
        talk += [agent(ASK, request("look", f"c{n}", n=n)), result("look", str(n), f"c{n}")]
    found = looping.function(conversation(*talk), **looping.options)
    assert found.verdict == "pass"


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("Agent stopped due to iteration limit or time limit.", True),
        ("Agent stopped due to max iterations.", True),
        ("Maximum number of steps reached.", True),
        ("I have reached the maximum number of tool calls.", True),
        ("Recursion limit of 25 reached without hitting a stop condition.", True),
        ("The number of steps in the staircase is 12.", False),
        ("I reached the customer.", False),
    ],
)
def test_stopped(text: str, stopped: bool) -> None:
    """The words of a framework that stops an agent at its limit are known."""
    talk = conversation(user("Go on."), agent(text))
    assert (stopped_at_limit(talk) is not None) is stopped
    found = looping.function(talk, **looping.options)
    assert (getattr(found, "verdict", "") == "fail") is stopped


def test_limits_that_are_spoken_of() -> None:
    """A user's words, and an agent that goes on after them, are no end at a limit."""
    words = "Maximum number of steps reached."
    assert stopped_at_limit(conversation(agent("Hi."), user(words))) is None
    assert stopped_at_limit(conversation(user("?"), agent(words), agent("Well."))) is None
