"""Test what the spans and log records of an episode say together."""

from __future__ import annotations

from collector.held import merged_facts
from collector.model import Facts, Usage
from collector.talk import Held
from tests.build import agent, identity, user


def held(fact: Facts, number: int, *, log: bool = False) -> Held:
    """Hold one item."""
    return Held(key=b"", ref=(number, 0), size=0, richness=0, facts=fact, is_log=log)


def fact(*, said: str = "", output: int = 0, span_id: str = "a", at: int = 0) -> Facts:
    """Build a model call's facts."""
    return Facts(
        role="llm",
        dialect="test",
        trace_id="t",
        span_id=span_id,
        parent_id="root",
        start_ns=at,
        identity=identity(),
        usage=Usage(input=1, output=output),
        input=(user("Hi"),) if said else (),
        output=(agent(said),) if said else (),
    )


def test_a_record_and_its_span_are_one_call() -> None:
    """The record has the words, the span the times."""
    (call,) = merged_facts(
        [held(fact(output=3), 1), held(fact(said="Yes.", output=3), 2, log=True)]
    )
    assert (call.span_id, call.output) == ("a", (agent("Yes."),))


def test_records_of_several_calls_on_one_span_stay_apart() -> None:
    """The span that they name is the agent's, whose counts are a sum or the last call's."""
    around, *calls = merged_facts(
        [
            held(fact(said="Now.", output=4, at=1), 1),
            held(fact(said="Wait.", output=3, at=2), 2, log=True),
            held(fact(said="Now.", output=4, at=3), 3, log=True),
        ]
    )
    assert (around.role, around.usage, around.output) == ("agent", None, ())
    assert [(c.parent_id, c.usage) for c in calls] == [
        ("a", Usage(input=1, output=3)),
        ("a", Usage(input=1, output=4)),
    ]
