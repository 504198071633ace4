"""Hold which figures of a reply are given, worked out, or from nowhere."""

from __future__ import annotations

import pytest

from scorers.rules.figures import figures_of, given_by, is_reference, unsupported


def test_a_number_has_one_spelling() -> None:
    """Commas, leading and trailing zeros do not matter."""
    assert figures_of("1,200.50 and 007 and 0.60 and 3.00 and 0") == [
        "1200.5",
        "7",
        "0.6",
        "3",
        "0",
    ]


def test_the_end_of_a_long_number_is_given_too() -> None:
    """A card's last four digits are known where the card is."""
    assert given_by("card 40021188") == {"40021188", "1188"}


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        ("10 and 25", ["25"]),
        ("10 and 84 together 94", []),
        ("10, 20, 30 together 60", []),
        ("20 less 10 is 10", []),
        ("10 times 30 is 300", []),
        ("10 for 1 is 97", ["97"]),
        ("9 of them", []),
        ("at 22", []),
    ],
)
def test_what_follows_from_the_rest_is_supported(reply: str, missing: list[str]) -> None:
    """Sums, differences and products bear each other out; a number alone does not follow."""
    assert unsupported(figures_of(reply), {"10", "20", "30"}) == missing


def test_references_are_no_amounts() -> None:
    """A long whole number names something."""
    assert is_reference("55120")
    assert not is_reference("5512")
    assert not is_reference("55120.5")
