"""Test the test traffic itself: what the end-to-end tests feed in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collector.model import Conversation, Identity, ToolRequest
from collector.normalise import Normaliser
from collector.otlp import parse
from collector.transcripts import read
from tests.build import agent, conversation, user
from tests.e2e.stitching import pairs, truth
from tests.e2e.synthetic import SCENES
from tests.e2e.traffic import (
    as_json_requests,
    as_requests,
    requests_of,
    synthetic,
    synthetic_labelled,
    write_transcript,
)

NOW = 1_700_000_000_000_000_000


def test_synthetic_is_repeatable() -> None:
    """The same seed invents the same conversations, another seed others, ids included."""
    assert synthetic(20, 1) == synthetic(20, 1)
    first, second = ({c.id for c in synthetic(20, seed)} for seed in (1, 2))
    assert len(first | second) == 40


def test_synthetic_truths() -> None:
    """Every kind of fault comes up about equally often, beside conversations without any."""
    told = synthetic_labelled(len(SCENES) * 3, 5)
    counts = Counter(truth for _, truths in told for truth in truths)
    assert counts == dict.fromkeys(
        (
            "false_success",
            "looping",
            "tool_call_problem",
            "invented_argument",
            "missed_escalation",
        ),
        3,
    )
    assert sum(not truths for _, truths in told) == 12


def test_transcript_round_trip(tmp_path: Path) -> None:
    """A written transcript reads back as the very same conversations."""
    told = synthetic(30, 3)
    assert list(read(write_transcript(tmp_path / "a.jsonl", told))) == told


def test_requests_decode() -> None:
    """Every planned span is accepted by the decoder, and both encodings say the same."""
    told = synthetic(12, 3)
    for strip_ids in (False, True):
        requests = requests_of(told, clock=lambda: NOW, strip_ids=strip_ids, interleave=4)
        bodies = as_requests(told, clock=lambda: NOW, strip_ids=strip_ids, interleave=4)
        assert bodies == [request.body for request in requests]
        json_bodies = as_json_requests(told, clock=lambda: NOW, strip_ids=strip_ids, interleave=4)
        for request, body in zip(requests, json_bodies, strict=True):
            batch = parse("traces", "proto", request.body)
            assert (batch.accepted, batch.rejected) == (request.spans, 0)
            assert parse("traces", "json", body).spans() == batch.spans()


@pytest.mark.parametrize("strip_ids", [False, True])
def test_traffic_says_what_was_recorded(*, strip_ids: bool) -> None:
    """Read back by the normaliser, the spans hold every message, tool and result."""
    for told in [*synthetic(18, 6), conversation(user("Anyone?"), id="alone")]:
        normaliser = Normaliser()
        facts = [
            normaliser.span(span)
            for body in as_requests([told], strip_ids=strip_ids)
            for span in parse("traces", "proto", body).spans()
        ]
        histories = [fact.input + fact.output for fact in facts]
        assert max(histories, key=len) == told.messages
        assert {fact.system_prompt for fact in facts if fact.role == "llm"} <= {told.system_prompt}
        assert all(fact.tools == told.tools for fact in facts if fact.role == "llm")
        assert {fact.conversation_id for fact in facts} == {"" if strip_ids else told.id}
        assert [fact.ends_conversation for fact in facts] == [False] * (len(facts) - 1) + [True]
        answered = [call for call in told.tool_calls if call.answered_at >= 0]
        tools = [(f.tool, f.tool_result, bool(f.tool_is_error)) for f in facts if f.role == "tool"]
        assert tools == [
            (ToolRequest(id=c.id, name=c.name, arguments=c.arguments), c.result, bool(c.is_error))
            for c in ([] if strip_ids else answered)
        ]


def test_truth_names_every_trace() -> None:
    """The truth holds exactly the traces that are sent, with and without ids."""
    told = [*synthetic(18, 4), conversation(id="empty"), conversation(user("Hi"), id="alone")]
    for strip_ids in (False, True):
        spans = [
            span
            for body in as_requests(told, strip_ids=strip_ids)
            for span in parse("traces", "proto", body).spans()
        ]
        assert {s.trace_id for s in spans} == truth(told, strip_ids=strip_ids).keys()


def test_variants_have_traces_of_their_own() -> None:
    """Two variants of one conversation never share a trace."""
    told = synthetic(3, 4)
    assert not truth(told).keys() & truth(told, variant="shadow").keys()


def exported(id: str, *traces: str) -> Conversation:
    """Build a conversation as the store would give it back."""
    return conversation(id=id, who=Identity(), trace_ids=traces)


def test_pairs() -> None:
    """Precision falls with what is wrongly joined, recall with what is not joined or missing."""
    known = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"}
    perfect = [exported("x", "a1", "a2", "a3"), exported("y", "b1", "b2")]
    assert pairs(perfect, known) == (1.0, 1.0)
    assert pairs([exported("x", "a1", "a2", "a3", "b1", "b2")], known) == (0.4, 1.0)
    assert pairs([exported("x", "a1", "a2")], known) == (1.0, 0.25)
    assert pairs([{"conversation_id": "x", "trace_ids": ["a1", "b1", "else"]}], known) == (0.0, 0.0)
    assert pairs([], {}) == (1.0, 1.0)


def test_pairs_over_episodes() -> None:
    """Episodes of one conversation are one group, however often a trace is repeated."""
    known = {"a1": "a", "a2": "a"}
    assert pairs([exported("x", "a1"), exported("x", "a1", "a2")], known) == (1.0, 1.0)
    both = [exported("x", "a1", "a2"), exported("y", "a1", "a2")]
    assert pairs(both, known) == (1.0, 1.0)


def test_replayed_text_survives() -> None:
    """Characters of every kind come through the encoding unchanged."""
    text = 'Grüße "\\" \u2028 \U0001f375 \x00 end'
    told = conversation(user(text), agent(text), system_prompt=text)
    (body,) = as_requests([told])
    chat = parse("traces", "proto", body).spans()[0]
    assert isinstance(chat.attributes["gen_ai.input.messages"], str)
    assert "\U0001f375" in chat.attributes["gen_ai.input.messages"]
