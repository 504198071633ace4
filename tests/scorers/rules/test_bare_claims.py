"""Check when "Done!" claims what the user asked for."""

from __future__ import annotations

import pytest

from scorers.rules.bare_claims import bare_claim
from tests.build import agent, user


@pytest.mark.parametrize(
    ("asked", "reply", "act"),
    [
        ("Please cancel my order.", "Done!", "remove"),
        ("Could you please refund it?", "All set! It takes three days.", "pay"),
        ("Hi, book a room for two", "Great, that's taken care of.", "edit"),
        ("I want you to email Ana.", "Consider it done.", "tell"),
        ("Find it and delete it", "Done — it is gone.", "remove"),
    ],
)
def test_claims(asked: str, reply: str, act: str) -> None:
    """A reply that begins with "Done" claims the deed that was asked for."""
    claim = bare_claim([user(asked), agent(reply)], 1)
    assert claim is not None
    assert (claim.act, claim.message, claim.sure) == (act, 1, False)
    assert claim.quote in reply


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("Please cancel my order.", "Shall I cancel it?"),
        ("Please cancel my order.", "Done with that? Then let me know."),
        ("Where is my order?", "Done! It is on its way."),
        ("Please create a list of my orders.", "Done! Here it is."),
        ("What are you set up for?", "All set up for parcels."),
    ],
)
def test_no_claim(asked: str, reply: str) -> None:
    """Questions that are answered and texts that are written claim no deed."""
    assert bare_claim([user(asked), agent(reply)], 1) is None


@pytest.mark.parametrize(
    ("asked", "reply", "claimed"),
    [
        ("Please cancel my order.", "Your order is cancelled.", True),
        ("Please cancel my order.", "It's cancelled, and the money is on its way.", True),
        ("Is my order cancelled?", "Your order is cancelled.", False),
        ("Please cancel my order.", "It is not cancelled yet.", False),
        ("Please cancel my order.", "If it is cancelled, you will hear.", False),
        ("Please cancel my order.", "It is packed.", False),
    ],
)
def test_states(asked: str, reply: str, claimed: bool) -> None:
    """That a thing is in the state that was wished for claims the deed; other states do not."""
    assert (bare_claim([user(asked), agent(reply)], 1) is not None) is claimed


def test_nobody_asked() -> None:
    """Without a user before it the words claim nothing."""
    assert bare_claim([agent("Done!")], 0) is None
