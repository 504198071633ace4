"""Check which amounts, dates and names in a call are told to be made up."""

from __future__ import annotations

import pytest

from collector.model import JsonValue, ToolRequest
from scorers.result import Skip
from scorers.rules.invented_arguments import invented_arguments
from tests.build import agent, conversation, user

ORDER = (
    "Order 70001 is 80.00, of which 30 are shipping; 12 of 20 items are in stock. I am Ana Lund."
)


def verdict(said: str, **arguments: JsonValue) -> str:
    """Judge one call after what the user said; ``skip`` where it holds nothing to judge."""
    call = ToolRequest(id="p", name="pay", arguments=arguments)
    talk = conversation(user(said), agent("", call))
    found = invented_arguments.function(talk, talk.tool_calls[0])
    return "skip" if isinstance(found, Skip) else str(found.verdict)


@pytest.mark.parametrize("amount", [80, 80.0, 30, 50, 110, 8000, 0.8, 2400, 160.0, 5], ids=str)
def test_amounts_that_follow(amount: float) -> None:
    """Given amounts, sums, differences, products, cents and small counts are not made up."""
    assert verdict(ORDER, amount=amount) == "skip"


def test_a_share_of_a_price() -> None:
    """A share in per cent of a given price follows, and so does the price after it."""
    said = "The price of 50 rose by 10 percent."
    assert verdict(said, amount=5) == "skip"
    assert verdict(said, amount=55) == "skip"
    assert verdict(said, amount=45) == "skip"


@pytest.mark.parametrize("name", ["amount", "totalAmount", "refund_amount", "price"])
def test_amounts_from_nowhere(name: str) -> None:
    """An amount that follows from nothing is made up."""
    assert verdict(ORDER, **{name: 471.13}) == "fail"


def test_other_numbers() -> None:
    """A number that is no money is not judged."""
    assert verdict(ORDER, temperature=471.13) == "skip"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Book it for May 12.", "skip"),
        ("Book it for the day after tomorrow.", "skip"),
        ("Book it for Friday.", "skip"),
        ("Book it for 12/5.", "skip"),
        ("Book it, please.", "fail"),
    ],
)
def test_dates(said: str, told: str) -> None:
    """A date is made up where nobody spoke of any."""
    assert verdict(said, start_date="2026-05-12") == told


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        ("Ana", "Lund", "skip"),
        ("ANA", "Lund", "skip"),
        ("Ana", "Berg", "fail"),
        ("Eva", "Lund", "fail"),
    ],
)
def test_names_of_people(first: str, last: str, told: str) -> None:
    """A person's name has to have been given."""
    assert verdict(ORDER, first_name=first, last_name=last) == told


def test_names_of_things() -> None:
    """What an agent calls a file or a meeting is its own choice."""
    assert verdict(ORDER, name="Planning", file_name="notes.md") == "skip"
