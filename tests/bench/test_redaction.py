"""Test how the gate is measured, and that the page says what is measured."""

from __future__ import annotations

import itertools

import pytest

from bench.redaction import (
    PAGE,
    SEED,
    Quality,
    Speed,
    is_gone,
    measured,
    quality_table,
    speed_table,
    timed,
    written,
)
from bench.redaction_set import KIND_OF, Sample, samples
from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS


def test_the_page_says_what_the_gate_does() -> None:
    """The published figures are those of this code; `python -m bench.redaction` writes them again."""
    page = PAGE.read_text(encoding="utf-8")
    table = quality_table(*measured(samples(SEED), Redactor(DEFAULT_KINDS)))
    assert written(page, {"quality": table}) == page


def test_every_kind_that_is_on_is_measured() -> None:
    """The set has secrets of each kind, and draws the same ones for the same seed."""
    first, second = list(samples(1)), list(samples(1))
    assert first == second != list(samples(2))
    groups = {KIND_OF.get(s.group, s.group) for s in first if s.secrets}
    assert groups >= set(DEFAULT_KINDS)
    assert all(value in sample.text for sample in first for _, value in sample.secrets)


@pytest.mark.parametrize(
    ("clean", "gone"),
    [
        ("call [phone] now", True),
        ("call +44 20 7946 0958 now", False),
        ("call [phone] 0958 now", False),
        ("call 7946 [phone]", False),
    ],
)
def test_a_secret_of_which_a_part_is_left_is_not_gone(clean: str, gone: bool) -> None:
    """Four digits in a row that stood only in it are too many."""
    assert is_gone("+44 20 7946 0958", "call +44 20 7946 0958 now", clean) is gone


def test_what_is_taken_wrongly_is_counted() -> None:
    """A secret that stays lowers the recall, a text that is none and changed the precision."""

    class Odd(Redactor):
        """Take what it should leave and leave what it should take."""

        def text(self, text: str) -> str:
            """Do so."""
            return text.replace("order", "[key]")

    drawn = [
        Sample(text="to mia", group="email", language="en", secrets=(("email", "mia"),)),
        Sample(text="an order", group="order id", language=""),
    ]
    found, spared = measured(drawn, Odd(()))
    assert found == [Quality(group="email", count=1, right=0)]
    assert spared[-1] == Quality(group="order id", count=1, right=0)


def test_speed_is_told_as_ratios() -> None:
    """Each rate stands beside that of the plain pass."""
    table = speed_table(Speed(fresh=20, plain=10, live=45))
    assert "| 2.0 |" in table
    assert "| 4.5 |" in table


def test_speed_is_measured_by_the_clock_that_is_given() -> None:
    """With a clock that always goes one second on, the rates are the amounts."""
    clock = itertools.count()
    speed = timed(lambda: float(next(clock)), talks=2, runs=1)
    assert speed.fresh == speed.plain > 0
    assert speed.live > speed.fresh


def test_a_page_without_a_place_is_an_error() -> None:
    """A mark that was lost is found when writing."""
    with pytest.raises(LookupError, match="quality"):
        written("nothing here", {"quality": "x"})
