"""Test that a client's own span beside a framework's is the same call, and others are not."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest

from collector.calls import llm_call, model_calls
from collector.model import Facts, Identity, Usage
from collector.twins import LATEST, SCOPES, Twins, call_of, is_within, paired
from tests.build import agent, user
from tests.collector.assembly import Bench, facts, held_facts

HELLO, HI = user("Where is my kettle?"), agent("Which order?")
SPENT = Usage(input=17, output=10)


def told(*, on: str = "framework", at: float = 0.0, seconds: float = 9.0, **more: Any) -> Facts:
    """Build the framework's span."""
    given: dict[str, Any] = {"given": [HELLO], "said": [HI], "usage": SPENT, "model": "kettle-4"}
    return facts(on=on, at=at, seconds=seconds, name=f"told-{on}-{at}", **given | more)


def bare(*, on: str = "client", at: float = 1.0, seconds: float = 2.0, **more: Any) -> Facts:
    """Build the client's own span."""
    given: dict[str, Any] = {"usage": SPENT, "model": "kettle-4-20260101"}
    return facts(on=on, at=at, seconds=seconds, name=f"bare-{on}-{at}", **given | more)


@pytest.mark.parametrize("first", ["client", "framework"])
@pytest.mark.parametrize("id", ["", "c"])
def test_two_traces_with_one_call_are_one_conversation(first: str, id: str) -> None:
    """Whichever comes first, and whether or not the conversation has an id."""
    bench = Bench()
    both = [bare(), told(conversation_id=id)]
    for one in both if first == "client" else reversed(both):
        bench.add(one)
    (due,) = bench.wait(1_000)
    (call,) = model_calls(held_facts(due))
    assert llm_call(call).usage == SPENT
    assert set(llm_call(call).span_ids) == {fact.span_id for fact in both}


def test_a_twin_in_the_same_trace_is_one_call() -> None:
    """Both stand under the request that the program serves."""
    served = facts("other", on="t", name="request", seconds=20)
    spans = [served, told(on="t", under="request"), bare(on="t", under="request")]
    assert len(model_calls(spans)) == 1


OTHERS = {
    "later": bare(at=20),
    "longer": bare(seconds=30),
    "other counts": bare(usage=Usage(input=17, output=11)),
    "other input": bare(usage=Usage(input=18)),
    "other model": bare(usage=None, model="teapot-1"),
    "failed": bare(usage=None, error="overloaded"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_differs_is_another_call(other: Facts) -> None:
    """It was made at another time, counted otherwise, or ended otherwise."""
    bench = Bench()
    bench.add(told())
    bench.add(other)
    assert len(bench.wait(1_000)) == 2
    assert len(model_calls([told(), other])) == 2


ALIKE = {
    "uncounted": bare(usage=None),
    "half counted": bare(usage=Usage(output=10)),
    "another name of the model": bare(model="spout"),
}


@pytest.mark.parametrize("other", ALIKE.values(), ids=ALIKE)
def test_what_is_not_said_does_not_differ(other: Facts) -> None:
    """Some clients count nothing, some only half; aliases name a model otherwise."""
    assert is_within(call_of(other), call_of(told()))


def test_both_may_fail() -> None:
    """A call that was refused is told of by both, and counted by none."""
    one, other = bare(usage=None, error="overloaded"), told(usage=None, error="ValueError", said=[])
    assert len(model_calls([one, other])) == 1


def test_records_of_a_call_stand_within_its_span() -> None:
    """They were written while it was made; a framework's span is not within a client's."""
    records = msgspec.structs.replace(told(at=1.5, seconds=1, usage=None, model=""), span_id="")
    assert len(model_calls([records, bare()])) == 1
    assert len(model_calls([told(at=1.5, seconds=1, usage=None, model=""), bare()])) == 2
    late = msgspec.structs.replace(records, end_ns=records.end_ns + 10**9)
    assert len(model_calls([late, bare()])) == 2


def test_each_has_one_twin_at_most() -> None:
    """A second call of the client is one that the framework does not tell of."""
    bench = Bench()
    for one in (told(conversation_id="c"), bare(), bare(on="again", at=4.0)):
        bench.add(one)
    assert len(bench.wait(1_000)) == 2
    assert len(model_calls([told(), bare(), bare(on="again", at=4.0)])) == 2


def test_the_nearest_is_the_twin() -> None:
    """Of calls under way at once, the one that began last before it."""
    spans = [told(on="slow", seconds=20), told(on="quick", at=0.5), bare()]
    found = {frozenset(fact.span_id for fact in group) for group in paired([[s] for s in spans])}
    assert frozenset(span.span_id for span in spans[1:]) in found


@pytest.mark.parametrize(("others", "calls"), [(LATEST - 1, LATEST), (LATEST, LATEST + 2)])
@pytest.mark.parametrize("begins", ["before", "after"])
def test_so_many_calls_are_compared_as_are_under_way_at_once(
    others: int, calls: int, begins: str
) -> None:
    """However many there are, each is compared with the nearest ones alone."""
    another = Usage(input=17, output=11)
    if begins == "before":
        one, client, at = told(at=3), bare(at=5), 4
    else:
        one = msgspec.structs.replace(told(at=3, seconds=1), span_id="")
        client, at = bare(at=1, seconds=5), 2
    between = [told(on=f"t{n}", at=at + n / 1_000, usage=another) for n in range(others)]
    assert len(model_calls([one, *between, client])) == calls


def test_programs_have_no_twins_in_others() -> None:
    """Another agent, tenant or variant may count the same by chance."""
    for who in (
        Identity(agent="bank"),
        Identity(agent="shop", tenant="x"),
        Identity(agent="shop", variant="candidate"),
    ):
        bench = Bench()
        bench.add(told())
        bench.add(bare(who=who))
        assert len(bench.wait(1_000)) == 2


def test_the_user_says_nothing_of_the_program() -> None:
    """Only the framework knows whose call it was."""
    bench = Bench()
    bench.add(bare())
    bench.add(told(who=Identity(agent="shop", user_hash="u")))
    assert len(bench.wait(1_000)) == 1


@pytest.mark.parametrize("order", ["said bare told", "bare said told", "told said bare"])
def test_a_conversation_that_says_something_is_not_moved(order: str) -> None:
    """A client's span in a trace where more was said stays there."""
    said = facts(on="client", at=-5, given=[user("Hi")], said=[HI], usage=Usage(output=1))
    spans = {"said": said, "bare": bare(), "told": told()}
    bench = Bench()
    for word in order.split():
        bench.add(spans[word])
    assert len(bench.wait(1_000)) == 2


def test_what_is_remembered_is_bounded() -> None:
    """Of many calls and programs the latest are remembered."""
    twins = Twins()
    for number in range(LATEST + 1):
        twins.of_bare(bare(at=number, seconds=0.5), f"trace-{number}")
    assert twins.of_told(told(at=-0.5, seconds=1.2), "c") == ""
    assert twins.of_told(told(at=0.5, seconds=1.2), "c") == "trace-1"
    shops = [Identity(agent=f"a{number}") for number in range(SCOPES)]
    for shop in shops:
        twins.of_bare(bare(who=shop), "trace")
    assert twins.of_told(told(at=1.5, seconds=1.2), "c") == ""
    for shop in (shops[1], shops[2]):
        twins.of_bare(bare(who=shop, at=50), "later")
    assert [twins.of_told(told(who=shop), "c") for shop in shops[:3]] == ["", "trace", "trace"]


@pytest.mark.parametrize("long", ["model", "agent"])
def test_no_long_name_is_remembered(long: str) -> None:
    """Whoever makes up names of models or agents fills no memory."""
    name = 100_000 * "x"
    twins = Twins()
    tracemalloc.start()
    try:
        for number in range(50):
            who = Identity(agent=f"{number}{name}" if long == "agent" else "shop")
            model = f"{number}{name}" if long == "model" else "kettle-4"
            twins.of_told(told(who=who, model=model), "c")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 10 * len(name)


def test_spans_of_one_response_need_no_twin() -> None:
    """A call whose two spans are known by their response is not part of another around it."""
    one, two, other = told(at=1, response_id="r"), bare(at=2, response_id="r"), told(seconds=20)
    assert len(model_calls([one, two, other])) == 2
