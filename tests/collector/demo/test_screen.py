"""Test the demonstration's lines."""

from __future__ import annotations

import io

import pytest

from collector.demo.dialogue import SECOND
from collector.demo.screen import Screen, lasting, moment, percent


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_colour_is_for_people() -> None:
    """A terminal gets colour unless it does not want it; a file gets plain text."""
    file, wanted, unwanted = io.StringIO(), Terminal(), Terminal()
    Screen(file, {}).line("a", "red")
    Screen(wanted, {}).line("a", "red")
    Screen(unwanted, {"NO_COLOR": "1"}).line("a", "red")
    assert file.getvalue() == unwanted.getvalue() == "a\n"
    assert wanted.getvalue() == "\x1b[1;31ma\x1b[0m\n"


def test_moments_are_utc() -> None:
    """With the day of the week."""
    assert moment(0) == "Thu 00:00"


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0, "0.0 %"), (0.0163, "1.6 %"), (0.0996, "10 %"), (0.284, "28 %")]
)
def test_rates(rate: float, text: str) -> None:
    """Small ones with a decimal."""
    assert percent(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(47, "47 s"), (720, "12 min"), (11_130, "3 h 6 min"), (3_599, "1 h 0 min")],
)
def test_lengths(seconds: int, text: str) -> None:
    """In the unit that fits."""
    assert lasting(seconds * SECOND) == text
