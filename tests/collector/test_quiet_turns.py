"""A turn is finished when its root span ended, no known span is open, and it went quiet."""

from __future__ import annotations

from tests.build import agent, user
from tests.collector.assembly import Bench, facts, without_end

ASK, TELL = user("Where is my kettle?"), agent("In Ghent.")


def test_a_quiet_turn_is_due_once() -> None:
    """Two quiet seconds after the root ended, the turn is due; then not again."""
    bench = Bench(turn_quiet=2)
    bench.add(facts(under="root", conversation_id="c", given=[ASK], said=[TELL]))
    assert bench.peek(2) == []
    bench.add(facts("agent", name="root", seconds=3, conversation_id="c"))
    assert bench.peek(1) == []
    (due,) = bench.peek(1)
    assert (due.kind, len(due.held)) == ("turn", 2)
    assert bench.peek(60) == []


def test_the_next_turn_is_due_again() -> None:
    """Each turn of a chat is scored soon after it ended."""
    bench = Bench(turn_quiet=2)
    bench.add(facts("agent", on="t1", conversation_id="c"))
    assert len(bench.peek(2)) == 1
    bench.add(facts("agent", on="t2", at=60, conversation_id="c"))
    (due,) = bench.peek(2)
    assert len(due.held) == 2


def test_a_span_that_is_still_open_holds_the_turn() -> None:
    """A stream that was reported at its start is not finished."""
    bench = Bench(turn_quiet=2)
    call = facts(name="stream", under="root", conversation_id="c", given=[ASK], said=[TELL])
    bench.add(without_end(call), richness=1)
    bench.add(facts("agent", name="root", conversation_id="c"))
    assert bench.peek(5) == []
    bench.add(call, richness=2)
    assert len(bench.peek(2)) == 1


def test_conversations_without_an_id_wait_for_their_episode() -> None:
    """What may yet join another conversation is not scored by turns."""
    bench = Bench(turn_quiet=2, lone_trace_timeout=60)
    bench.add(facts(given=[ASK], said=[TELL]))
    assert bench.peek(5) == []
