"""Test that histories whose ends were cut are joined, each message once and as whole as it came."""

from __future__ import annotations

import pytest

from collector.cut_messages import are_same, fuller, is_cut, joined
from collector.dialects.mending import MARK
from collector.model import Message
from tests.build import agent, request, result, user

FIRST, REPLY, NEXT = user("Is it in Ghent?"), agent("It is, at the market."), user("Thanks!")
HALF = agent("It is, at" + MARK)


def test_what_is_cut() -> None:
    """A text or an argument that carries the mark is."""
    assert not is_cut(REPLY)
    assert is_cut(HALF)
    assert is_cut(agent("", request("find", at=[{"town": "Gh" + MARK}])))
    assert not is_cut(agent("", request("find", at=[{"town": "Ghent"}], n=1)))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (REPLY, HALF, True),
        (HALF, REPLY, True),
        (HALF, agent("It was, at the market."), False),
        (REPLY, agent("It is, at"), False),
        (FIRST, agent("Is it in Ghent?"), False),
        (agent("", request("a", n=1)), agent("", request("a", n=2)), False),
        (agent("", request("a", n="x" + MARK)), agent("", request("a", n="xy")), True),
        (agent("", request("a", n="x" + MARK)), agent("", request("b", n="xy")), False),
    ],
)
def test_the_same_but_for_the_cut(one: Message, other: Message, *, same: bool) -> None:
    """A cut message may be any that begins like it; whole ones must be equal."""
    assert are_same(one, other) is same


def test_the_fuller_one() -> None:
    """Of two the whole one is taken, of two halves the longer one."""
    longer = agent("It is, at the" + MARK)
    assert fuller(HALF, REPLY) == fuller(REPLY, HALF) == REPLY
    assert fuller(HALF, longer) == fuller(longer, HALF) == longer


def test_a_call_that_goes_on() -> None:
    """What a call was given beyond the known, and its reply, come behind it."""
    known = [FIRST, HALF]
    expected = [FIRST, REPLY, NEXT, agent("Bye.")]
    assert joined(known, [FIRST, REPLY, NEXT], [agent("Bye.")], cut=False) == expected
    assert joined(known, [user("Who?"), REPLY], [agent("Bye.")], cut=True) is None


def test_a_call_whose_history_was_cut() -> None:
    """Its reply is new, unless it is the one that stands there already."""
    known = [FIRST, HALF, NEXT]
    silent = agent("")
    assert joined(known, [FIRST, silent], [agent("Bye.")], cut=True) == [*known, agent("Bye.")]
    assert joined(known, [FIRST], [REPLY], cut=True) == [FIRST, REPLY, NEXT]
    assert joined(known, [FIRST], [REPLY], cut=False) is None
    assert joined(known, [], [REPLY], cut=True) is None
    answer = result("find", "there")
    assert joined([FIRST], [FIRST, answer], [], cut=True) == [FIRST, answer]
