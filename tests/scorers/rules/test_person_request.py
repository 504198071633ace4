"""Hold when a user wants a person."""

from __future__ import annotations

import pytest

from scorers.rules.person_request import accepted, person_asked, trigger_in, withdrawn


@pytest.mark.parametrize(
    "text",
    [
        "I want to talk to a human",
        "Could I speak with your manager?",
        "please put me through to a real person",
        "Transfer me, please.",
        "Escalate this please",
        "Get me your supervisor now!",
        "I'd like a live agent",
        "Is there anybody else I could chat with?",
        "surely there is a human I could speak with",
        "how do i contact an operator",
        "I\u2019m sick of talking to a stupid bot",
        "REPRESENTATIVE!",
        "forget it, I need to speak to someone",
        "connect me with your billing department",
        "let me talk to whoever is in charge",
        "transfer to a human",
        "could a real person call me back",
    ],
)
def test_requests_for_a_person_are_heard(text: str) -> None:
    """However it is put, a wish for somebody of the agent's side is found in the user's words."""
    words = person_asked(text)
    assert words
    assert words in text


@pytest.mark.parametrize(
    "text",
    [
        "An agent of yours sold me this mug.",
        "Dinner should cost under 30 per person.",
        "Send my manager the minutes.",
        "I spoke to somebody on Monday.",
        "I don't want to speak to a manager, just fix it.",
        "Can I change it without talking to an agent?",
        "Transfer me $50 from savings.",
        "Book a table for three people.",
        "What does the property manager charge?",
        "I want an agent that sorts my mail.",
        "I need a manager's number.",
        "",
    ],
)
def test_people_who_are_merely_mentioned_do_not_count(text: str) -> None:
    """Third parties, prices, past talks and denied wishes are no request."""
    assert person_asked(text) == ""


def test_a_conditional_request_can_be_told_apart() -> None:
    """A wish for the case that something fails is not yet a request."""
    text = "Try again, and if that fails I want to speak to a manager."
    assert person_asked(text)
    assert person_asked(text, conditional=False) == ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("You will hear from my lawyer.", "legal threat"),
        ("I'll sue you people", "legal threat"),
        ("Some days I want to die", "self-harm"),
        ("i might hurt myself", "self-harm"),
        ("I'll sue", "legal threat"),
        ("I am reporting your shop to the regulator", "fraud accusation"),
        ("You are scammers!", "fraud accusation"),
        ("I will report this to the police", "fraud accusation"),
    ],
)
def test_triggers_are_named(text: str, kind: str) -> None:
    """Threats, danger and accusations call for a person by themselves."""
    trigger = trigger_in(text)
    assert trigger is not None
    assert trigger[0] == kind
    assert trigger[1] in text


@pytest.mark.parametrize(
    "text",
    [
        "I ordered it myself.",
        "Is legal size paper in stock?",
        "I want assistance suing the app",
        "Please report the weather in Bern.",
        "My phone is dead.",
        "My lawyer needs the invoice.",
        "Someone stole my card.",
        "I could not help it all day",
        "",
    ],
)
def test_harmless_words_trigger_nothing(text: str) -> None:
    """Words that merely look alike are no trigger."""
    assert trigger_in(text) is None


def test_a_wish_can_be_taken_back() -> None:
    """Never mind, no need, and go on take the wish back; a change of topic does not."""
    assert withdrawn("Never mind, you can do it.")
    assert withdrawn("there is no need to connect me")
    assert withdrawn("Please carry on with the booking")
    assert not withdrawn("I changed my mind about the mug.")


def test_a_yes_is_short() -> None:
    """A plain yes accepts an offer; a yes that begins another request does not."""
    assert accepted("Yes please, that would be great")
    assert not accepted("Sure, and could you first tell me what the blue one in the window costs?")
    assert not accepted("ok, never mind")


@pytest.mark.parametrize(
    "text",
    [
        "Get me a human pls",
        "Human. Now.",
        "Is there a real person there?",
        "I don't want to talk to a bot.",
        "I want someone to call me back.",
        "Can a human look at this?",
        "No more bots! Real agent!",
        "I'd like to have a human handle this.",
        "Can you get your boss?",
    ],
)
def test_curt_requests(text: str) -> None:
    """Somebody in a hurry asks in few words."""
    assert person_asked(text) in text
    assert person_asked(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'm going to burn down your office!", "threat of violence"),
        ("I have chest pains and can't breathe.", "emergency"),
        ("You people are scammers.", "fraud accusation"),
        ("I'll complain to the ombudsman.", "fraud accusation"),
    ],
)
def test_more_triggers(text: str, kind: str) -> None:
    """Threats, danger and accusations call for a person by themselves."""
    found = trigger_in(text)
    assert found is not None
    assert found[0] == kind


@pytest.mark.parametrize(
    "text", ["This game is killing me.", "The bomb scene was great.", "My phone died."]
)
def test_no_trigger(text: str) -> None:
    """Figures of speech are no threats."""
    assert trigger_in(text) is None
