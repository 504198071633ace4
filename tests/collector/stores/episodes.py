"""Build decided episodes for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from collector.model import (
    Conversation,
    Decided,
    DecisionRecord,
    Document,
    Episode,
    Evidence,
    Identity,
    LlmCall,
    Observation,
    Sampling,
    ScoreRecord,
    Usage,
)
from tests.build import agent, conversation, identity, request, result, tool, user

START_NS = 1_790_000_000_123_456_789
SECOND = 1_000_000_000
WHO = identity("shop", agent_version="v7", environment="prod", tenant="acme", user_hash="u1")


def talk(id: str = "conv-1", *, number: int = 1, who: Identity = WHO, **more: Any) -> Conversation:
    """Build a conversation with one tool call, one model call and one document."""
    return conversation(
        user("Where is parcel P-9?"),
        agent("Let me look.", request("track", parcel="P-9", tags=["é", None], deep={"a": 1.5})),
        result("track", '{"state":"in \\"transit\\""}', is_error=False),
        agent("It is in transit."),
        id=id,
        who=who,
        tools=(tool("track", {"parcel": {"type": "string"}}, "parcel"),),
        episode=Episode(
            number=number, started_ns=START_NS, ended_ns=START_NS + SECOND, end_reason="explicit"
        ),
        system_prompt="You help with parcels.",
        llm_calls=(
            LlmCall(
                span_ids=("a" * 16, "b" * 16),
                trace_id="1" * 32,
                provider="anthropic",
                model="small-1",
                response_id="msg_1",
                usage=Usage(input=120, output=30, cache_read=100),
                cost_usd=0.002,
                started_ns=START_NS,
                ended_ns=START_NS + SECOND // 4,
                finish_reason="tool_call",
            ),
            LlmCall(model="small-1", usage=Usage(input=10, output=5)),
        ),
        documents=(Document(id="d1", text="Parcels take two days.", score=0.5),),
        trace_ids=("1" * 32,),
        span_count=3,
        **more,
    )


def score(
    scorer: str = "looping",
    *,
    id: str = "conv-1",
    number: int = 1,
    target: str = "",
    revision: int = 0,
    verdict: Any = "pass",
    value: float | None = 1.0,
) -> ScoreRecord:
    """Build a score with one piece of evidence."""
    return ScoreRecord(
        score_id=f"{id}-{number}-{scorer}-{target}-{revision}",
        conversation_id=id,
        episode=number,
        level="tool_call" if target else "conversation",
        target=target,
        scorer=scorer,
        scorer_version="1",
        revision=revision,
        value=value,
        verdict=verdict,
        reason="No call was repeated.",
        evidence=(Evidence(message=3, quote="It is in transit."),),
        latency_s=0.0005,
        scored_ns=START_NS + 2 * SECOND,
        trace_id="1" * 32,
    )


def decided(
    id: str = "conv-1",
    *,
    number: int = 1,
    revision: int = 0,
    kept: bool = True,
    scores: Iterable[ScoreRecord] | None = None,
    sequence: int = 1,
    who: Identity = WHO,
    **more: Any,
) -> Decided:
    """Build a decided episode with a score, a ledger row and an observation."""
    if scores is None:
        scores = (score(id=id, number=number, revision=revision),)
    return Decided(
        episode_id=f"{id}/{number}",
        conversation=talk(id, number=number, who=who, **more),
        revision=revision,
        decided_ns=START_NS + 2 * SECOND,
        sampling=Sampling(kept=kept, probability=1.0 if kept else 0.25, rule="hash"),
        scores=tuple(scores),
        decisions=(
            DecisionRecord(
                conversation_id=id,
                episode=number,
                scorer="looping",
                scorer_version="1",
                decision="scored",
                targets=1,
                decided_ns=START_NS + 2 * SECOND,
            ),
        ),
        observations=(
            Observation(
                producer="p1",
                sequence=sequence,
                conversation_id=id,
                episode=number,
                scorer="looping",
                scorer_version="1",
                shortfall=0.0,
                identity=who,
                observed_ns=START_NS + 2 * SECOND,
                started_ns=START_NS,
            ),
        ),
    )


def through_outbox(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Send rows through the form in which the outbox keeps them."""
    back: dict[str, list[Any]] = msgspec.msgpack.decode(msgspec.msgpack.encode(rows))
    return back
