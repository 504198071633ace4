"""Hold how words are read, so that one thing in two spellings is the same."""

from __future__ import annotations

import pytest

from scorers.rules.reading import Word, cleaned, read


def stems(text: str) -> list[str]:
    """Read the words of content of a text."""
    return [word.stem for word in words(text) if word.content]


def words(text: str) -> list[Word]:
    """Read a text as the scorers do."""
    return read(cleaned(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200 seats", "1200 seats"),
        ("1.2k", "1,200"),
        ("86 million", "86m"),
        ("2.5 billion", "2,500,000,000"),
        ("45 , 700", "45700"),
        ("three", "3"),
        ("twice", "2"),
        ("the 3rd", "third"),
        ("2019-05-14", "May 14, 2019"),
        ("Sept 2", "September 2"),
        ("9 pm", "21:00"),
        ("9:30 p.m.", "21:30"),
        ("12 am", "0:00"),
        ("the U.S. team", "the USA team"),
        ("Rooms", "room"),
        ("miles", "mile"),
    ],
)
def test_spellings_of_the_same_are_the_same(one: str, other: str) -> None:
    """Numbers, dates, hours and forms of a word compare equal."""
    assert stems(one) == stems(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.2", "12"),
        ("third", "three"),
        ("9 am", "9 pm"),
        ("2019-05-14", "2019-04-15"),
        ("off-policy", "on-policy"),
    ],
)
def test_other_things_stay_apart(one: str, other: str) -> None:
    """A decimal point, an ordinal, the half of the day and a prefix all tell."""
    assert stems(one) != stems(other)


def test_denials_are_heard_in_every_spelling() -> None:
    """A contraction denies with a lost or spaced apostrophe too."""
    for text in ("does not", "doesn't", "doesn\u2019t", "does nt", "doesn ' t"):
        assert any(word.denies for word in words(text)), text
    assert not any(word.denies for word in words("a knot, a nest"))


def test_a_month_is_no_maybe() -> None:
    """``May`` with a capital says something, ``may`` does not."""
    assert [word.content for word in words("in May it may")] == [False, True, False, False]


def test_what_is_no_date_stays_as_it_is() -> None:
    """A thirteenth month is a number."""
    assert "2019-13-01" in cleaned("build 2019-13-01")


def test_endless_numbers_are_read() -> None:
    """Hundreds of digits and exotic digits do not raise."""
    assert words("9" * 5_000)[0].number is not None
    assert words("٣ and ² 1,,2")
