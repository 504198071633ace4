"""Hold how a statement is measured against passages."""

from __future__ import annotations

import pytest

from scorers.rules.opposites import OPPOSITES
from scorers.rules.passages import Passages, Support
from scorers.rules.stems import is_negated, stem, stems_of

TEXT = "The museum opened in 1931. Most rooms are warm in winter. The garden was drawn by Ida Holm."


def support(statement: str, said: str = "", text: str = TEXT) -> Support:
    """Measure a statement that has words."""
    found = Passages([text]).support(statement, stems_of(said))
    assert found is not None
    return found


def test_a_copied_sentence_is_fully_supported() -> None:
    """The passage's own words have the value one."""
    assert support("The museum opened in 1931.").value == pytest.approx(1.0)


def test_foreign_words_are_not_supported() -> None:
    """Words that stand nowhere have the value zero and are named."""
    found = support("Dolphins juggle oranges")
    assert found.value == 0
    assert found.missing == ("Dolphins", "juggle", "oranges")


def test_words_from_far_apart_count_less() -> None:
    """The same words count more when they stand together."""
    assert support("The garden opened in winter.").value < support("The museum opened.").value


@pytest.mark.parametrize(
    ("statement", "against"),
    [
        ("The museum opened in 1913.", "1913"),
        ("The garden was drawn by Eva Holm.", "Eva"),
        ("The museum never opened in 1931.", "a negation"),
        ("Most rooms are cold in winter.", "the opposite"),
    ],
)
def test_what_speaks_against_a_statement_is_named(statement: str, against: str) -> None:
    """Another number, name, a negation or an opposite is pointed out."""
    assert against in support(statement, text=TEXT.replace("warm", "hot")).against


def test_what_the_user_said_is_not_asked_of_the_passages() -> None:
    """The question's own words neither help nor hurt."""
    statement = "Greta, the museum opened in 1931."
    assert support(statement, "I am Greta").value > support(statement).value


def test_a_statement_without_words_is_not_measured() -> None:
    """Small words alone say nothing."""
    assert Passages([TEXT]).support("And so it is.") is None


def test_numerals_are_numbers() -> None:
    """``three`` in the passage supports ``3`` in the statement."""
    assert "3" not in support("There are 3 doors.", text="There are three doors.").missing


@pytest.mark.parametrize(
    ("one", "other"),
    [("opened", "opening"), ("Rooms", "room"), ("Ida's", "ida"), ("1,931", "1931")],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Inflections, case and separators make no difference."""
    assert stem(one) == stem(other)


def test_denials_are_seen() -> None:
    """A contracted ``not`` denies too."""
    assert is_negated(["doesn\u2019t"])
    assert not is_negated(["knot"])


def test_opposites_go_both_ways() -> None:
    """Each word of a pair knows the other, and none is its own opposite."""
    assert stem("after") in OPPOSITES[stem("before")]
    assert stem("before") in OPPOSITES[stem("after")]
    assert all(word not in others for word, others in OPPOSITES.items())
