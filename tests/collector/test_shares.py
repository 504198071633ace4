"""Test that calls told by log records, one message each, are taken as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import msgspec

from collector.model import Facts, Message
from collector.shares import Shares
from collector.talk import Due
from tests.build import agent, user
from tests.collector.assembly import Bench, facts, held_facts, trace

HELLO, HI = user("Where is my kettle?"), agent("Which order?")
ORDER, DONE = user("Order 12"), agent("It was shipped.")
_NUMBERS = count()


def share(on: str, *, given: Sequence[Message] = (), said: Sequence[Message] = ()) -> Facts:
    """Build what one log record of a call says."""
    told = facts(on=on, name=on, at=int(on[1:]), given=given, said=said, partial=True)
    return msgspec.structs.replace(told, end_ns=0)


def call(on: str, *, error: str = "") -> Facts:
    """Build the span of a call, which says nothing but that it was made."""
    return facts(on=on, name=on, at=int(on[1:]), model="m", error=error)


def add(bench: Bench, *shares: Facts) -> None:
    """Let log records arrive."""
    for one in shares:
        bench.add(one, log=True, key=next(_NUMBERS).to_bytes(24))


def records(on: str, *messages: Message) -> list[Facts]:
    """Build the records of a call, the last of which is its reply."""
    return [*(share(on, given=[m]) for m in messages[:-1]), share(on, said=messages[-1:])]


def replies(dues: list[Due]) -> list[list[str]]:
    """Return what was replied in each conversation."""
    return sorted([f.output[0].text for f in held_facts(due) if f.output] for due in dues)


def test_two_that_begin_alike_are_two_conversations() -> None:
    """The record of a first message is no history that another first message continues."""
    bench = Bench()
    for on, reply in (("t1", HI), ("t2", agent("Let me look."))):
        add(bench, *records(on, HELLO, reply))
        bench.add(call(on))
    assert replies(bench.wait(1_000)) == [["Let me look."], ["Which order?"]]


def test_a_later_call_joins_by_all_its_records() -> None:
    """Its history equals the tip only when the records of both are put together."""
    bench = Bench()
    add(bench, *records("t1", HELLO, HI))
    bench.add(call("t1"))
    add(bench, *records("t2", HELLO, HI, ORDER, DONE))
    bench.add(call("t2"))
    assert replies(bench.wait(1_000)) == [["Which order?", "It was shipped."]]


def test_a_span_may_come_between_its_records() -> None:
    """The exporters of spans and of records know nothing of each other."""
    bench = Bench()
    add(bench, *records("t1", HELLO, HI))
    *given, reply = records("t2", HELLO, HI, ORDER, DONE)
    add(bench, *given)
    bench.add(call("t2"))
    add(bench, reply)
    assert replies(bench.wait(1_000)) == [["Which order?", "It was shipped."]]


def test_the_longest_history_wins() -> None:
    """A beginning that another conversation ends with is not taken while more may come."""
    bench = Bench()
    add(bench, *records("t1", HELLO, HI))
    add(bench, *records("t2", HELLO, HI, ORDER, DONE))
    add(bench, *records("t3", HELLO, HI))
    add(bench, *records("t4", HELLO, HI, ORDER, DONE, user("Thanks."), agent("Bye.")))
    found = replies(bench.wait(1_000))
    assert found == [["Which order?"], ["Which order?", "It was shipped.", "Bye."]]


def test_a_failed_call_joins_by_what_it_was_given() -> None:
    """No record of a reply comes; its span says that none will."""
    bench = Bench()
    add(bench, *records("t1", HELLO, HI))
    *given, _ = records("t2", HELLO, HI, ORDER, DONE)
    add(bench, *given)
    bench.add(call("t2", error="overloaded"))
    (due,) = bench.wait(1_000)
    assert {f.trace_id for f in held_facts(due)} == {trace("t1"), trace("t2")}


def test_the_span_of_a_failed_call_may_come_first() -> None:
    """Its records then find out that nothing more is to follow."""
    bench = Bench()
    add(bench, *records("t1", HELLO, HI))
    *given, _ = records("t2", HELLO, HI, ORDER, DONE)
    bench.add(call("t2", error="overloaded"))
    add(bench, *given)
    assert len(bench.wait(1_000)) == 1


def test_calls_below_one_span_are_one_after_another() -> None:
    """Their records name the span that was the current one, not their own."""
    shares = Shares()
    for one in (*records("t1", HELLO, HI), *records("t1", ORDER, DONE)):
        whole = shares.whole(one)
    assert (whole.input, whole.output) == ((ORDER,), (DONE,))


def test_what_is_held_is_bounded() -> None:
    """Of many calls whose replies never come the oldest are let go, finished ones at once."""
    shares = Shares(most=3)
    for number in range(9):
        shares.whole(share(f"t{number}", given=[HELLO]))
    assert len(shares) == 3
    shares.whole(share("t8", said=[HI]))
    shares.whole(call("t8"))
    assert len(shares) == 2


def test_the_messages_that_are_held_are_bounded() -> None:
    """However few calls said them, and what was let go is no longer counted."""
    shares = Shares(most_bytes=100_000)
    for number in range(9):
        shares.whole(share(f"t{number}", given=[user("x" * 30_000)]))
    assert len(shares) == 3
    for _ in range(3):
        shares.whole(share("t8", given=[user("x" * 30_000)]))
    assert len(shares) == 0
    for _ in range(9):
        *_, whole = map(shares.whole, records("t1", user("x" * 30_000), HI))
        assert whole.input
    shares.whole(call("t1"))
    shares.whole(share("t2", given=[user("x" * 90_000)]))
    assert len(shares) == 1


def test_a_span_with_words_of_its_own_is_left_alone() -> None:
    """Only log records come in shares."""
    told = facts(on="t1", given=[HELLO], said=[HI], model="m")
    assert Shares().whole(told) is told
