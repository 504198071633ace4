"""Check how anger, failures that go on, and helplessness are heard."""

from __future__ import annotations

import pytest

from scorers.result import Score
from scorers.rules.grievance import is_content, is_furious, is_helpless, is_unsolved
from scorers.rules.missed_escalation import missed_escalation
from tests.build import agent, conversation, user

ASK = agent("Please give me your order number.")


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("This is ridiculous.", True),
        ("You are wasting my time!", True),
        ("I am so frustrated with this.", True),
        ("WHY DOES NOBODY ANSWER ME", True),
        ("My order is 70001, please hurry.", False),
        ("The USB-C cable is broken.", False),
        ("It is for the BSA and the DMV.", False),
    ],
)
def test_furious(text: str, heard: bool) -> None:
    """Strong words and shouting are heard; names in capitals are not."""
    assert bool(is_furious(text)) is heard


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("It still doesn't work.", True),
        ("I get the same error as before.", True),
        ("That's not what I asked.", True),
        ("You keep asking me that.", True),
        ("It works, thank you.", False),
        ("I work at the same place.", False),
    ],
)
def test_unsolved(text: str, heard: bool) -> None:
    """A complaint that nothing has changed is heard."""
    assert bool(is_unsolved(text)) is heard


def test_helpless_and_content() -> None:
    """An agent that cannot help and a user who is satisfied are heard."""
    assert is_helpless("I'm sorry, I cannot help with that.")
    assert not is_helpless("I can't see the order yet; which number is it?")
    assert is_content("Great, it works now!")
    assert not is_content("Thanks for nothing, this is ridiculous.")


def verdict(*texts: str, end: str = "", **options: int) -> str:
    """Judge a conversation in which the agent asks the same after each message."""
    messages = [one for text in texts for one in (user(text), ASK)]
    last = [user(end), agent("You are welcome.")] if end else []
    info = missed_escalation.configured(**options)
    found = info.function(conversation(*messages, *last), **info.options)
    assert isinstance(found, Score)
    return found.reason if found.verdict == "fail" else "pass"


def test_at_the_end_of_patience() -> None:
    """A user who is furious twice needs a person; one who is content in the end does not."""
    angry = ("This is ridiculous.", "What a waste of time!")
    assert verdict(angry[0]) == "pass"
    assert "at the end of patience" in verdict(*angry)
    assert verdict(*angry, end="Thank you, that works.") == "pass"
    assert verdict(*angry, furious=3) == "pass"


def test_failing_on_and_on() -> None:
    """Three complaints in a row that it does not work need a person."""
    told = ("It doesn't work.", "It still doesn't work.", "Same error again.")
    assert verdict(*told[:2]) == "pass"
    assert "3 times in a row" in verdict(*told)
    assert verdict(told[0], "Let me see.", *told[1:]) == "pass"


def test_helpless_agent() -> None:
    """An agent that says three times that it cannot help should bring a person."""
    sorry = agent("I'm sorry, I cannot help with that.")
    offer = agent("I'm sorry, I cannot help with that. I will connect you to a colleague.")
    talk = [user("Mend it."), sorry, user("Please."), sorry, user("Do.")]
    info = missed_escalation
    missed = info.function(conversation(*talk, sorry), **info.options)
    assert "The agent could not help, as it said 3 times," in missed.reason
    met = info.function(conversation(*talk, offer), **info.options)
    assert met.verdict == "pass"
