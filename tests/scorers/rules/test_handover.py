"""Hold what counts as handing over to a person."""

from __future__ import annotations

import pytest

from collector.model import ToolDefinition
from scorers.rules.handover import hands_over, hands_over_now, is_handover, points_to_help


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("transfer_to_human", True),
        ("escalateTicket", True),
        ("connect-live-agent", True),
        ("request_callback", True),
        ("transfer_money", False),
        ("transfer_to_billing_agent", False),
        ("get_support_hours", False),
    ],
)
def test_tools_that_bring_in_a_person(name: str, expected: bool) -> None:
    """A hand-over tool moves something to people; another program is not people."""
    assert is_handover(name) is expected


def test_a_description_can_speak_of_a_human() -> None:
    """A tool's description decides where its name leaves it open."""
    definition = ToolDefinition(name="transfer_case", description="Give the case to a human.")
    assert is_handover("transfer_case", definition)


@pytest.mark.parametrize(
    "text",
    [
        "I'm transferring you to a colleague.",
        "I have escalated your case.",
        "One of our specialists will call you tomorrow.",
        "Would you like me to connect you with our support team?",
        "Please call our customer service at 555 0100.",
        "I will arrange a callback.",
    ],
)
def test_words_that_hand_over(text: str) -> None:
    """Doing, promising, offering and naming a way all bring the user to a person."""
    words = hands_over(text)
    assert words
    assert words in text


@pytest.mark.parametrize(
    "text",
    [
        "I cannot connect you with a manager.",
        "Your flight connects in Bern.",
        "I transferred $5.",
        "",
    ],
)
def test_words_that_do_not(text: str) -> None:
    """Refusals and other transfers hand over nothing."""
    assert hands_over(text) == ""


def test_now_is_told_from_later() -> None:
    """An offer is no hand-over at this moment."""
    assert hands_over_now("You are now being transferred.")
    assert hands_over_now("I can connect you with our support team.") == ""


def test_help_in_danger_is_recognised() -> None:
    """A crisis line is help, an ordinary number is not."""
    assert points_to_help("Please call the suicide prevention lifeline, 988.")
    assert not points_to_help("Your order is 77.")
