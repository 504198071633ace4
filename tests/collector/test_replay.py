"""Test planning the requests of a replay."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.errors import ConfigError
from collector.model import Conversation, Identity
from collector.replay import MAX_BYTES, Request, plan
from tests.build import agent, conversation, user

NOW = 1_700_000_000_000_000_000


def talk(id: str, turns: int = 3, *, text: str = "Hi", who: str = "shop") -> Conversation:
    """Build a conversation of some turns."""
    messages = [m for n in range(turns) for m in (user(f"{text} {id} {n}"), agent(f"Hello {n}"))]
    return conversation(*messages, id=id, who=Identity(agent=who))


def planned(
    *conversations: Conversation, strip_ids: bool = True, interleave: int = 1, batch: int = 50
) -> list[Request]:
    """Plan a replay with a standing clock."""
    return list(
        plan(
            conversations,
            clock=lambda: NOW,
            seed="s",
            strip_ids=strip_ids,
            interleave=interleave,
            batch=batch,
        )
    )


def test_requests_hold_a_batch() -> None:
    """A request takes up to a batch of spans and names the conversations in it."""
    requests = planned(talk("a"), talk("b"), batch=4)
    assert [request.spans for request in requests] == [4, 2]
    assert [request.conversation_ids for request in requests] == [("a", "b"), ("b",)]
    assert sum(request.share for request in requests) == pytest.approx(2)
    assert {request.signal for request in requests} == {"traces"}


def test_interleaving_goes_round() -> None:
    """Conversations in flight take turns call by call, and a finished one makes room."""
    requests = planned(talk("a", 2), talk("b", 3), talk("c", 1), interleave=2, batch=1)
    assert [request.conversation_ids[0] for request in requests] == ["a", "b", "a", "b", "b", "c"]


def test_nothing_is_lost_by_interleaving() -> None:
    """The same spans are sent however they are mixed."""
    told = [talk(f"c{n}", 1 + n % 4) for n in range(10)]
    sets = [
        sorted(span_ids(planned(*told, interleave=n, batch=b, strip_ids=s)))
        for s in (False, True)
        for n, b in ((1, 50), (3, 7), (50, 1))
    ]
    assert sets[0] == sets[1] == sets[2]
    assert sets[3] == sets[4] == sets[5]


def span_ids(requests: list[Request]) -> Iterator[bytes]:
    """Yield the span ids of some requests."""
    for request in requests:
        for resource in ExportTraceServiceRequest.FromString(request.body).resource_spans:
            for scope in resource.scope_spans:
                assert scope.scope.name == "outrider.replay"
                yield from (span.trace_id + span.span_id for span in scope.spans)


def test_spans_are_grouped_by_resource() -> None:
    """Spans of one agent share a resource in the request."""
    (request,) = planned(talk("a"), talk("b", who="bank"), talk("c"), interleave=3)
    resources = ExportTraceServiceRequest.FromString(request.body).resource_spans
    assert [len(resource.scope_spans[0].spans) for resource in resources] == [6, 3]
    names = [resource.resource.attributes[0].value.string_value for resource in resources]
    assert names == ["shop", "bank"]


def test_large_spans_close_a_request() -> None:
    """A request is closed by size before its batch is full."""
    requests = planned(talk("a", 4, text="x" * (MAX_BYTES // 2)))
    assert len(requests) > 1
    assert sum(request.spans for request in requests) == 4


def test_same_seed_same_bytes() -> None:
    """With the same seed and clock a second replay is the same, byte for byte."""
    assert planned(talk("a"), talk("b")) == planned(talk("a"), talk("b"))


def test_planning_is_lazy() -> None:
    """Conversations are taken as requests are, so an endless source can be replayed."""
    endless = (talk(f"c{n}") for n in itertools.count())
    requests = plan(endless, clock=lambda: NOW, seed="s", batch=5)
    assert [next(requests).spans for _ in range(3)] == [5, 5, 5]


@pytest.mark.parametrize("wrong", [{"interleave": 0}, {"batch": 0}])
def test_wrong_numbers(wrong: dict[str, int]) -> None:
    """Numbers below one are a configuration error."""
    with pytest.raises(ConfigError, match="at least 1"):
        planned(talk("a"), **wrong)  # type: ignore[arg-type]  # the keys are int options


def test_no_conversations() -> None:
    """Nothing to replay gives no request."""
    assert planned() == []
