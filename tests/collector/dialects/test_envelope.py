"""Test what every span says in any convention: identity, conversation, error, end."""

from __future__ import annotations

from typing import Any

import pytest

from collector.model import Facts, Identity
from collector.normalise import Normaliser
from collector.telemetry import SpanEvent
from tests.build import span


def read(
    attributes: dict[str, Any] | None = None, resource: dict[str, Any] | None = None, **more: Any
) -> Facts:
    """Normalise one span that may follow no convention."""
    return Normaliser().span(span(attributes=attributes, resource=resource, **more))


def test_the_resource_identifies_a_span_that_does_not() -> None:
    """Service name and version stand in for the agent's."""
    resource = {
        "service.name": "shop",
        "service.version": "7",
        "deployment.environment.name": "prod",
        "outrider.variant": "canary",
        "outrider.tenant": "acme",
    }
    assert read(resource=resource).identity == Identity(
        agent="shop", agent_version="7", environment="prod", variant="canary", tenant="acme"
    )


def test_the_span_identifies_itself_first() -> None:
    """The agent's own name and version go before the service's, and users are hashed."""
    attributes = {
        "gen_ai.agent.name": "clerk",
        "gen_ai.agent.version": "8",
        "outrider.variant": "shadow",
        "outrider.pair.id": "p1",
        "user.id": "u-1",
    }
    resource = {"service.name": "shop", "service.version": "7", "deployment.environment": "dev"}
    identity = read(attributes, resource).identity
    assert (identity.agent, identity.agent_version, identity.environment) == ("clerk", "8", "dev")
    assert (identity.variant, identity.pair_id) == ("shadow", "p1")
    assert len(identity.user_hash) == 16
    assert "u-1" not in identity.user_hash


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"session.id": "s", "gen_ai.conversation.id": "c"}, "c"),
        ({"session.id": "s"}, "s"),
        ({"langfuse.session.id": "l", "session.id": "s"}, "l"),
        ({"traceloop.association.properties.thread_id": "t"}, "t"),
        ({"langsmith.metadata.session_id": "m"}, "m"),
        ({"session.id": 42}, "42"),
        ({}, "r"),
    ],
)
def test_the_conversations_own_id_goes_first(attributes: dict[str, Any], expected: str) -> None:
    """A session may hold several conversations; the resource's session is the last resort."""
    assert read(attributes, {"session.id": "r"}).conversation_id == expected


@pytest.mark.parametrize(
    ("attributes", "more", "expected"),
    [
        ({}, {}, ""),
        ({}, {"status_code": 2}, "error"),
        ({}, {"status_code": 2, "status_message": "broken"}, "broken"),
        ({"error.type": "timeout"}, {}, "timeout"),
        (
            {},
            {
                "status_code": 2,
                "status_message": "broken",
                "events": (
                    SpanEvent(
                        name="exception", time_ns=1, attributes={"exception.type": "ValueError"}
                    ),
                ),
            },
            "ValueError",
        ),
    ],
)
def test_errors_are_named(attributes: dict[str, Any], more: dict[str, Any], expected: str) -> None:
    """The error's type goes before the exception's, then the status message."""
    assert read(attributes, **more).error == expected


def test_the_producer_may_end_the_conversation() -> None:
    """An attribute or an event says that the conversation is over."""
    end = SpanEvent(name="outrider.conversation.end", time_ns=1, attributes={})
    assert read({"outrider.conversation.end": True}).ends_conversation
    assert read(events=(end,)).ends_conversation
    assert not read({"outrider.conversation.end": False}).ends_conversation


def test_simulated_and_user_side_tools_are_marked() -> None:
    """A dry run and a tool of the user's are told apart from the agent's."""
    facts = read({"outrider.tool.simulated": True, "outrider.tool.requestor": "user"})
    assert (facts.simulated, facts.user_side) == (True, True)
