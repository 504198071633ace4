"""Test that long texts which come again are held once."""

from __future__ import annotations

from collector.repeats import LONG, Repeats
from collector.telemetry import Attributes


def text(word: str, length: int = LONG) -> str:
    """Make a long text anew, an object of its own."""
    return "".join([word] * (length // len(word) + 1))


def test_an_equal_text_becomes_the_first_one() -> None:
    """Of equal long texts one object stays; others, and short ones, are left alone."""
    repeats = Repeats(1_000_000)
    first, other = text("tools"), text("tools") + "!"
    again: Attributes = {"definitions": text("tools"), "other": other, "n": 3, "s": "short"}
    assert repeats.one(first) is first
    assert repeats.share(again) == len(first) + len(other) + 8 + 5
    assert again["definitions"] is first
    assert again["other"] is other


def test_texts_that_only_end_alike_are_told_apart() -> None:
    """Texts of one length with the same ends stay what they are."""
    repeats = Repeats(1_000_000)
    one, other = "a" * LONG + "b" + "a" * LONG, "a" * LONG + "c" + "a" * LONG
    assert [repeats.one(one), repeats.one(other), repeats.one(one)] == [one, other, one]


def test_memory_is_bounded() -> None:
    """What nobody sends any more is forgotten, what comes again and again is not."""
    repeats = Repeats(10 * LONG)
    steady = text("steady")
    fleeting = text("fleeting")
    repeats.one(fleeting)
    repeats.one(steady)
    for n in range(50):
        assert repeats.one(text("steady")) is steady
        repeats.one(text(f"{n:04}"))
    assert repeats.one(text("fleeting")) is not fleeting
