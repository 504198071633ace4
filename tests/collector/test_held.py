"""Test what the spans and log records of an episode say together."""

from __future__ import annotations

import msgspec

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


def share(text: str, number: int, *, reply: bool = False) -> Held:
    """Hold one message of a call, which a log record tells at a second of its own."""
    told = Facts(
        role="llm",
        dialect="test",
        trace_id="t",
        span_id="a",
        start_ns=number,
        identity=identity(),
        input=() if reply else (user(text),),
        output=(agent(text),) if reply else (),
        partial=True,
    )
    return held(told, number, log=True)


def test_messages_of_several_calls_on_one_span_stay_apart() -> None:
    """What comes after a reply belongs to the next call; choices of one reply are one."""
    messages = [
        share("Hi", 1),
        share("Yes.", 2, reply=True),
        share("Well.", 3, reply=True),
        share("Hi again", 4),
        share("No.", 5, reply=True),
    ]
    calls = merged_facts(messages)
    assert [(c.input, c.output) for c in calls] == [
        ((user("Hi"),), (agent("Yes."), agent("Well."))),
        ((user("Hi again"),), (agent("No."),)),
    ]
    assert [(c.parent_id, c.span_id, c.partial) for c in calls] == [("a", "", False)] * 2
    assert [(c.start_ns, c.end_ns) for c in calls] == [(1, 3), (4, 5)]


def test_messages_of_one_call_are_not_the_agents_around_it() -> None:
    """Where the call's own span is not the current one, its records name the agent's."""
    around = msgspec.structs.replace(fact(), role="agent", usage=None)
    messages = [share("Hi", 1), share("Yes.", 2, reply=True)]
    agents, call = merged_facts([held(around, 0), *messages])
    assert (agents.role, agents.output) == ("agent", ())
    assert (call.role, call.parent_id, call.output) == ("llm", "a", (agent("Yes."),))
    (own,) = merged_facts([held(fact(), 0), *messages])
    assert (own.span_id, own.output) == ("a", (agent("Yes."),))
