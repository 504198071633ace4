"""Hold which signs speak against a statement, and that nothing else does."""

from __future__ import annotations

import pytest

from scorers.rules.faithfulness_weights import WEIGHTS
from scorers.rules.passages import Passages
from scorers.rules.stems import stems_of
from scorers.rules.support import Support, support

BRIDGE = """The Kestrel Bridge was opened on 14 May 2019 by Mayor Ida Holm and is 1,240 metres long. Tolls of $4 are
taken from cars, and the fee may rise. Heavy lorries may cross after 9 pm. The deck is heated in winter. Repairs take
three weeks each autumn. The ferry had been slower than the train. The architect Olaf Rehn taught the engineer Mia
Lund. Dogs are not allowed on the deck. Some cyclists pay nothing."""


def measured(statement: str, said: str = "", text: str = BRIDGE) -> Support:
    """Measure a statement that has words."""
    found = support(statement, Passages([text]), stems_of(said))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("statement", "sign"),
    [
        ("The bridge is 1,420 metres long.", "number"),
        ("Repairs take six weeks each autumn.", "number_moved"),
        ("Repairs take six weeks each autumn.", "small_number"),
        ("The bridge is 1,240 miles long.", "unit"),
        ("The bridge was opened by Mayor Eva Holm.", "name"),
        ("Penguins nest under steel arches every spring.", "noun"),
        ("Penguins nest under steel arches every spring.", "foreign"),
        ("Heavy lorries may cross before 9 pm.", "opposite"),
        ("The deck is cooled in winter.", "opposite"),
        ("The deck is unheated in winter.", "reversed"),
        ("The deck is not heated in winter.", "denies_alone"),
        ("Tolls are not taken from cars.", "denial_new"),
        ("Dogs are allowed on the deck.", "denial_lifted"),
        ("Dogs are allowed on the deck.", "denial_dropped"),
        ("The train had been slower than the ferry.", "sides"),
        ("The engineer Mia Lund taught the architect Olaf Rehn.", "sides"),
        ('The mayor said "nobody will ever laugh again here".', "quotation"),
        ("The fee will rise.", "surer"),
        ("All cyclists pay nothing.", "quantifier"),
        ("The train and the train were slower.", "repeated"),
        ("The deck is heated in winter but empty.", "contrast"),
    ],
)
def test_a_kind_of_error_has_its_sign(statement: str, sign: str) -> None:
    """Each kind of error raises the sign that is meant for it."""
    assert measured(statement).signs[sign] > 0


@pytest.mark.parametrize(
    "statement",
    [
        "The Kestrel Bridge was opened by Mayor Ida Holm on 14 May 2019.",
        "The bridge is 1240 metres long.",
        "Lorries can cross after 21:00.",
        "In winter the deck is warmed.",
        "Repairs take 3 weeks each autumn.",
        "Mia Lund was taught by Olaf Rehn.",
        "The train had been faster than the ferry.",
        "Dogs aren't allowed on the deck.",
    ],
)
def test_fine_paraphrases_do_not_clash(statement: str) -> None:
    """Another order, voice, form of a date or number, or a synonym is no contradiction."""
    assert measured(statement).signs["clash"] == 0


def test_a_copied_sentence_carries_nothing() -> None:
    """The passage's own words raise no sign but those of how it is made."""
    signs = measured("The deck is heated in winter.").signs
    assert {name for name, value in signs.items() if value} <= {"length", "short"}


def test_the_closest_passage_is_told() -> None:
    """The sentence that holds most of the words comes with the measure."""
    assert measured("The deck is heated in spring.").passage == "The deck is heated in winter."
    assert not measured("Penguins juggle oranges.").passage


def test_what_is_missing_is_named() -> None:
    """Numbers, names and other words are listed apart."""
    found = measured("In 1950 a juggler named Tove crossed the bridge.")
    assert found.numbers == ("1950",)
    assert found.names == ("Tove",)
    assert "juggler" in found.words


def test_what_the_user_said_is_not_asked_of_the_passages() -> None:
    """A name from the question does not count as missing."""
    statement = "The bridge that Greta crossed is 1,240 metres long."
    assert measured(statement).signs["name"] == 1
    assert measured(statement, "I am Greta").signs["name"] == 0


def test_a_statement_without_words_is_not_measured() -> None:
    """Small words alone say nothing."""
    assert support("And so it is.", Passages([BRIDGE])) is None


def test_every_sign_that_weighs_is_measured() -> None:
    """The weights name signs that exist, and none that speaks against an answer helps it."""
    signs = measured("The bridge is long.").signs
    assert set(WEIGHTS) <= set(signs)
    free = {"length", "short", "synonym", "kin", "narrower", "rounded"}
    assert all(weight >= 0 for name, weight in WEIGHTS.items() if name not in free)


def test_a_turned_comparison_with_its_opposite_is_the_same() -> None:
    """What is higher than another has the other lower than itself."""
    text = "The tower is higher than the church."
    assert measured("The church is lower than the tower.", text=text).signs["clash"] == 0
    assert measured("The church is higher than the tower.", text=text).signs["clash"] == 1


def test_a_name_may_be_spelt_out() -> None:
    """Initials in the passages stand for the name of that many words."""
    text = "The NTL opened a museum in Arvik."
    spelt = measured("A museum was opened by the Northern Trade League.", text=text)
    assert spelt.signs["name"] == 0
    other = measured("A museum was opened by the Northern Timber Guild.", text=text)
    assert other.signs["name"] == 3
