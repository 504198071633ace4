"""Test the gate that every record leaving the process passes."""

from __future__ import annotations

import re

import msgspec
import pytest

from collector.model import (
    Decided,
    DecisionRecord,
    Document,
    Evidence,
    LlmCall,
    Observation,
    Sampling,
    ScoreRecord,
)
from collector.redactor import Redactor
from collector.sensitive import DEFAULT_KINDS
from collector.stores.rows import rows_of
from collector.telemetry import SpanEvent, SpanLink
from tests.build import agent, conversation, identity, request, result, span, tool, user

ALL = DEFAULT_KINDS


def test_span_is_redacted_everywhere() -> None:
    """Name, status, attributes, events and resource of a span are cleaned; ids are not."""
    dirty = span(
        "GET /users/mia@example.com",
        status_message="no such user mia@example.com",
        attributes={"gen_ai.input.messages": '[{"content": "mia@example.com"}]', "n": 3},
        resource={"service.name": "shop", "owner": "mia@example.com"},
        events=(SpanEvent(name="x", time_ns=1, attributes={"content": "mia@example.com"}),),
    )
    clean = Redactor(ALL).span(dirty)
    assert b"mia" not in msgspec.json.encode(clean)
    assert (clean.trace_id, clean.span_id) == (dirty.trace_id, dirty.span_id)
    assert clean.attributes["n"] == 3


def test_conversation_is_redacted_everywhere() -> None:
    """Messages, arguments, results and system prompt of a conversation are cleaned."""
    dirty = conversation(
        user("I am mia@example.com"),
        agent("", request("find", email="mia@example.com", password="hunter")),  # noqa: S106  # invented
        result("find", '{"email": "mia@example.com"}'),
        agent("Found you"),
        who=identity("shop"),
        system_prompt="Escalate to mia@example.com",
    )
    redactor = Redactor(ALL)
    clean = redactor.conversation(dirty)
    assert b"mia" not in msgspec.json.encode(clean)
    assert b"hunter" not in msgspec.json.encode(clean)
    assert clean.messages[3] is dirty.messages[3]
    assert redactor.conversation(clean) == clean


def score(**more: str) -> ScoreRecord:
    """Build a failing verdict on a conversation."""
    return ScoreRecord(
        score_id="1",
        conversation_id=more.pop("conversation_id", "c"),
        episode=1,
        level="conversation",
        target="",
        scorer="false_success",
        scorer_version="1",
        verdict="fail",
        reason="said it wrote to mia@example.com",
        evidence=(Evidence(message=3, quote="I wrote to mia@example.com"),),
    )


def test_score_is_redacted() -> None:
    """A score's reason and its quotes are cleaned."""
    clean = Redactor(ALL).score(score())
    assert clean.conversation_id == "c"
    assert clean.reason == "said it wrote to [email]"
    assert clean.evidence[0].quote == "I wrote to [email]"


def test_names_beside_content_are_redacted() -> None:
    """Tool, model, provider and document names are cleaned wherever they stand."""
    name = "ask_mia@example.com"
    said = conversation(
        user("hello"),
        agent("", request(name, id="call_1")),
        result(name, "done", id="call_1"),
        who=identity(pair_id="pair mia@example.com"),
        tools=(tool(name),),
        llm_calls=(LlmCall(provider=name, model=name, response_id=name, error=name),),
        documents=(Document(id=name, text="passage"),),
    )
    clean = Redactor(ALL).conversation(said)
    assert b"mia" not in msgspec.json.encode(clean)
    assert clean.tool_calls[0].name == "[email]"
    assert (clean.tool_calls[0].id, clean.messages[1].tool_call_id) == ("call_1", "")
    assert clean.identity.pair_id.startswith("id-")


def test_scope_and_trace_state_are_redacted() -> None:
    """Instrumentation scope and the trace state of a span and its links are cleaned."""
    dirty = span(
        scope_name="mia@example.com",
        scope_version="1 mia@example.com",
        trace_state="vendor=mia@example.com",
        links=(
            SpanLink(
                trace_id="1" * 32, span_id="2" * 16, trace_state="v=mia@example.com", attributes={}
            ),
        ),
    )
    clean = Redactor(ALL).span(dirty)
    assert b"mia" not in msgspec.json.encode(clean)
    assert clean.trace_state == "vendor=[email]"


@pytest.mark.parametrize(
    "id",
    ["mia@example.com", "+14155550100", "whatsapp:+14155550100", "4111111111111111"],
)
def test_an_id_that_names_somebody_gets_an_alias(id: str) -> None:
    """Such an id becomes the same alias every time, and the alias stays what it is."""
    alias = Redactor(ALL).id(id)
    assert re.fullmatch("id-[0-9a-f]{16}", alias)
    assert Redactor(ALL).id(id) == alias != Redactor(ALL).id(id + "0")
    assert Redactor(ALL, {"alias": "id-.*"}).id(alias) == alias


@pytest.mark.parametrize(
    "id",
    ["", "c-1", "550e8400-e29b-41d4-a716-446655440000", "chat/2024-01-02/17", "id-1", "[email]"],
)
def test_an_ordinary_id_stays(id: str) -> None:
    """An id in which there is nothing to redact is what records are joined by."""
    assert Redactor(ALL).id(id) == id


@pytest.mark.parametrize("kept", [True, False])
def test_decided_episode_is_redacted(kept: bool) -> None:
    """Head, verdicts, ledger and observations go under one alias; unkept content is not copied."""
    who = identity("mia@example.com", tenant="mia@example.com", pair_id="mia@example.com")
    said = conversation(
        user("I am mia@example.com"),
        id="mia@example.com",
        who=who,
        llm_calls=(LlmCall(model="mia@example.com", provider="mia@example.com"),),
    )
    decided = Decided(
        episode_id="e",
        conversation=said,
        decided_ns=1,
        sampling=Sampling(kept=kept, probability=1.0, rule="hash"),
        scores=(score(conversation_id=said.id),),
        decisions=(
            DecisionRecord(
                conversation_id=said.id,
                episode=1,
                scorer="false_success",
                scorer_version="1",
                decision="skipped",
                reason="mia@example.com did not ask",
            ),
        ),
        observations=(
            Observation(
                producer="p",
                sequence=1,
                conversation_id=said.id,
                episode=1,
                scorer="false_success",
                scorer_version="1",
                shortfall=1.0,
                identity=who,
                observed_ns=1,
                started_ns=1,
            ),
        ),
    )
    redactor = Redactor(ALL)
    clean = redactor.decided(decided)
    alias = redactor.id("mia@example.com")
    records = (*clean.scores, *clean.decisions, *clean.observations)
    assert clean.conversation.id == alias
    assert all(f'"conversation_id":"{alias}"' in msgspec.json.encode(r).decode() for r in records)
    assert b"mia" not in msgspec.msgpack.encode(rows_of(clean))
    assert (clean.conversation.messages is said.messages) != kept
    assert redactor.decided(clean) == clean


def test_clean_span_is_not_copied() -> None:
    """A span in which there is nothing to redact stays the same object."""
    clean = span("chat", attributes={"gen_ai.request.model": "sonnet", "n": 3, "flags": [1, 2]})
    assert Redactor(ALL).span(clean) is clean
