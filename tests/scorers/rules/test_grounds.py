"""Hold what counts as said before a message."""

from __future__ import annotations

from scorers.rules.grounds import Grounds, grounds_of
from tests.build import agent, conversation, request, result, user


def test_only_what_comes_before_counts() -> None:
    """A word is held from the message after it was said, and never from the agent."""
    grounds = Grounds(conversation(user("AB-1234"), agent("CD-5678"), user("EF-9012")))
    assert [grounds.holds("ab1234", n) for n in (0, 1, 2)] == [False, True, True]
    assert not grounds.holds("cd-5678", 3)
    assert [grounds.holds("EF 9012", n) for n in (2, 3)] == [False, True]


def test_short_values_stand_alone() -> None:
    """Four characters or fewer must be a word, longer ones may be part of one."""
    grounds = Grounds(conversation(user("x1234567y, 88")))
    assert grounds.holds("34567", 1)
    assert not grounds.holds("3456", 1)
    assert grounds.holds("88", 1)


def test_figures_can_be_asked_for_in_any_order() -> None:
    """Going back gives the figures of the earlier point again."""
    grounds = Grounds(conversation(user("11"), user("22"), user("33")))
    assert grounds.figures(2) == {"11", "22"}
    assert grounds.figures(3) == {"11", "22", "33"}
    assert grounds.figures(1) == {"11"}


def test_unknown_results_and_first_words() -> None:
    """It knows when a result is missing, whether a tool has answered and whether anyone spoke."""
    grounds = Grounds(
        conversation(
            agent("Welcome!"), user("Hi"), agent("", request("a"), request("b")), result("a", "ok")
        )
    )
    assert [grounds.nothing_said(n) for n in (0, 1, 2)] == [True, True, False]
    assert [grounds.incomplete(n) for n in (2, 3)] == [False, True]
    assert [grounds.has_results(n) for n in (3, 4)] == [False, True]


def test_a_text_that_is_too_long_is_not_searched() -> None:
    """Beyond a million characters nothing is called invented."""
    assert Grounds(conversation(user("a" * 1_000_001))).holds("zz-99999", 1)


def test_one_conversation_is_indexed_once() -> None:
    """The targets of a conversation share its grounds; an equal copy has its own."""
    talk = conversation(user("Hi"))
    assert grounds_of(talk) is grounds_of(talk)
    assert grounds_of(talk) is not grounds_of(conversation(user("Hi")))
