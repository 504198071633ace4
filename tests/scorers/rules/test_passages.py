"""Hold how words are found in passages."""

from __future__ import annotations

import pytest

from scorers.rules.opposites import OPPOSITES
from scorers.rules.passages import Match, Passages
from scorers.rules.reading import cleaned, read
from scorers.rules.stems import stem

TEXT = """The museum of the Northern Trade League opened in 1931. Most rooms are warm in winter.
The garden was drawn by Ida Holm for 45,700 euros. Dogs may not enter. It has twelve halls."""


def match(word: str, text: str = TEXT) -> Match:
    """Look one word up."""
    return Passages([text]).match(read(cleaned(word))[0])


@pytest.mark.parametrize(
    ("word", "nearness"),
    [
        ("museum", "same"),
        ("Museums", "same"),
        ("12", "same"),
        ("hot", "kin"),
        ("opening", "same"),
        ("NTL", "synonym"),
        ("animal", "none"),
        ("dolphin", "none"),
        ("1932", "none"),
        ("45,000", "rounded"),
        ("46,000", "rounded"),
        ("44,000", "none"),
        ("40,000", "none"),
    ],
)
def test_how_near_a_word_is(word: str, nearness: str) -> None:
    """The word itself, a relative, initials and a rounded number are told apart."""
    assert match(word).nearness == nearness


def test_years_are_not_rounded() -> None:
    """1930 is not about 1931."""
    assert match("1930").nearness == "none"


def test_the_closest_sentence_holds_most_of_the_words() -> None:
    """It is found by the words that few sentences have."""
    passages = Passages([TEXT])
    words = [word for word in read("Ida Holm drew a garden in winter") if word.content]
    number = passages.closest([passages.match(word) for word in words])
    assert passages.sentences[number].text.startswith("The garden")
    assert passages.closest([Match(nearness="none")]) == -1


def test_words_near_each_other() -> None:
    """Nearness is counted in words."""
    passages = Passages([TEXT])
    assert passages.are_near(["ida"], ["holm"], 1)
    assert not passages.are_near(["museum"], ["holm"], 6)
    assert not passages.are_near(["holm"], ["holm"], 6)


def test_what_is_denied() -> None:
    """A denial reaches the words behind it in its sentence."""
    passages = Passages([TEXT])
    assert passages.always_denied(stem("enter"))
    assert not passages.ever_denied(stem("halls"))
    assert not passages.always_denied(stem("dolphin"))


def test_what_a_number_counts_and_measures() -> None:
    """The things behind a number and the units around it are known."""
    passages = Passages(["It has twelve halls and costs $4 or 5 euros for 3 hours."])
    assert passages.counts_of(stem("halls")) == {"#12"}
    assert passages.measures_of("#4") == {"$"}
    assert passages.measures_of("#5") == {"€"}
    assert passages.measures_of("#3") == {stem("hours")}


def test_quotations_stand_word_by_word() -> None:
    """Case and punctuation aside, the words follow one another."""
    passages = Passages([TEXT])
    assert passages.quotes(read("rooms are warm"))
    assert not passages.quotes(read("rooms were warm"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("opened", "opening"), ("Rooms", "room"), ("Ida's", "ida"), ("1,931", "1931"), ("mile", "miles"), ("tree", "trees"), ("boxes", "box")],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Inflections, case and separators make no difference."""
    assert stem(one) == stem(other)


def test_opposites_go_both_ways() -> None:
    """Each word of a pair knows the other, and none is its own opposite."""
    assert stem("after") in OPPOSITES[stem("before")]
    assert stem("before") in OPPOSITES[stem("after")]
    assert all(word not in others for word, others in OPPOSITES.items())


def test_text_without_full_stops_is_cut() -> None:
    """A sentence that does not end is read in pieces, so that its cost stays bounded."""
    passages = Passages(["a harbour with boats " * 400])
    assert max(one.end - one.first for one in passages.sentences) <= 100
    assert passages.sentences[1].text.startswith("a harbour")


def test_two_texts_are_never_near_each_other() -> None:
    """The last word of one document and the first of the next do not stand together."""
    passages = Passages(["The boat is red", "Harbour fees rise"])
    assert not passages.are_near(["red"], [stem("harbour")], 6)
