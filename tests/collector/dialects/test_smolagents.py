"""Test the steps that smolagents writes as text."""

from __future__ import annotations

from collector.dialects.smolagents import acted
from tests.build import agent, request, result, user

ROOM = "[{'id': 'c1', 'type': 'function', 'function': {'name': 'room', 'arguments': {'n': 1}}}]"


def test_written_calls_become_calls() -> None:
    """The observation after a call is its result, the words before it stay."""
    assert acted(
        (
            user("New task:\nIs room 1 free?"),
            agent(f"Let me see.\nCalling tools:\n{ROOM}"),
            user("Observation:\nfree"),
            agent("Yes."),
        )
    ) == (
        user("New task:\nIs room 1 free?"),
        agent("Let me see.", request("room", "c1", n=1)),
        result("room", "free", "c1"),
        agent("Yes."),
    )


def test_what_cannot_be_read_stays_text() -> None:
    """A text that is no literal, and an observation that nothing asked for."""
    broken = (agent("Calling tools:\n[{'id': "), user("Observation:\nnothing"))
    assert acted(broken) == broken
    plain = (user("Hi"), agent("Calling you back."))
    assert acted(plain) is plain
