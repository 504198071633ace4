"""Spans of one conversation come together, and two conversations never do."""

from __future__ import annotations

from typing import Any

from collector.model import Identity, ToolRequest, Usage
from collector.talk import Due, Talk
from tests.build import agent, request, result, user
from tests.collector.assembly import Bench, facts, held_facts

HELLO, HI = user("Where is my kettle?"), agent("Which order?")
ORDER, LOOK = user("Order 12"), agent("", request("find_order", number=12))
FOUND, DONE = result("find_order", "shipped"), agent("It was shipped.")


def groups(dues: list[Due]) -> list[list[str]]:
    """Return the replies of each conversation."""
    return sorted([f.output[0].text for f in held_facts(due) if f.output] for due in dues)


def test_an_explicit_id_joins_across_traces() -> None:
    """Two traces with one conversation id are one conversation."""
    bench = Bench()
    bench.add(facts(on="t1", conversation_id="c", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", at=5, conversation_id="c", given=[ORDER], said=[DONE]))
    assert groups(bench.wait(1_000)) == [["Which order?", "It was shipped."]]


def test_explicit_ids_are_never_merged() -> None:
    """The same history under two ids is two conversations."""
    bench = Bench()
    bench.add(facts(on="t1", conversation_id="c1", given=[HELLO], said=[HI]))
    bench.add(facts(on="t1", at=5, conversation_id="c2", given=[HELLO, HI, ORDER], said=[DONE]))
    assert len(bench.wait(1_000)) == 2


def test_one_id_in_two_variants_is_two_conversations() -> None:
    """A shadow run carries production's conversation id and stays apart."""
    bench = Bench()
    for variant in ("production", "candidate"):
        who = Identity(agent="shop", variant=variant)
        bench.add(facts(on=variant, who=who, conversation_id="c", given=[HELLO], said=[HI]))
    assert len(bench.wait(1_000)) == 2


def test_one_id_of_two_tenants_is_two_conversations() -> None:
    """Ids are the producer's own; another tenant may use the same."""
    bench = Bench()
    for tenant in ("kettles", "teapots"):
        who = Identity(agent="shop", tenant=tenant)
        bench.add(facts(on=tenant, who=who, conversation_id="c", given=[HELLO], said=[HI]))
    assert len(bench.wait(1_000)) == 2


def test_history_joins_a_hand_written_loop() -> None:
    """Each call is a trace of its own; its history equals the tip of the one before."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", at=5, given=[HELLO, HI, ORDER], said=[LOOK]))
    bench.add(facts(on="t3", at=9, given=[HELLO, HI, ORDER, LOOK, FOUND], said=[DONE]))
    assert groups(bench.wait(1_000)) == [["Which order?", "", "It was shipped."]]
    assert bench.counts["history", "joined"] == 2


def test_history_joins_calls_that_arrive_in_the_wrong_order() -> None:
    """The later call waits for the one it continues."""
    bench = Bench()
    bench.add(facts(on="t2", at=5, given=[HELLO, HI, ORDER], said=[DONE]))
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    assert groups(bench.wait(1_000)) == [["Which order?", "It was shipped."]]


def test_a_history_that_was_continued_starts_a_new_conversation() -> None:
    """Editing an earlier message forks: the second branch is another conversation."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", at=5, given=[HELLO, HI, ORDER], said=[DONE]))
    bench.add(facts(on="t3", at=9, given=[HELLO, HI, user("Order 99")], said=[agent("Lost.")]))
    assert groups(bench.wait(1_000)) == [["Lost."], ["Which order?", "It was shipped."]]
    assert bench.counts["history", "continued"] == 1


def test_a_tie_starts_a_new_conversation() -> None:
    """Two customers said the same so far; the third call cannot tell whose it is."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", at=1, given=[HELLO], said=[HI]))
    bench.add(facts(on="t3", at=5, given=[HELLO, HI, ORDER], said=[DONE]))
    assert groups(bench.wait(1_000)) == [["It was shipped."], ["Which order?"], ["Which order?"]]
    assert bench.counts["history", "tie"] == 1


def test_history_never_joins_across_scopes() -> None:
    """Equal words of another agent, variant, tenant, version or key are not the same talk."""
    others = (
        Identity(agent="bank"),
        Identity(agent="shop", variant="candidate"),
        Identity(agent="shop", tenant="x"),
        Identity(agent="shop", agent_version="2"),
        Identity(agent="shop", environment="staging"),
        Identity(agent="shop", credential_hash="k"),
    )
    for other in others:
        bench = Bench()
        bench.add(facts(on="t1", given=[HELLO], said=[HI]))
        bench.add(facts(on="t2", at=5, who=other, given=[HELLO, HI, ORDER], said=[DONE]))
        assert len(bench.wait(1_000)) == 2


def test_the_system_prompt_does_not_matter() -> None:
    """A prompt that tells the time changes with every call."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI], system_prompt="It is 10:01."))
    bench.add(
        facts(on="t2", at=5, given=[HELLO, HI, ORDER], said=[DONE], system_prompt="It is 10:02.")
    )
    assert len(bench.wait(1_000)) == 1


def test_a_tool_call_id_joins_a_shortened_history() -> None:
    """When the history was cut, the result still answers somebody's open call."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO, HI, ORDER], said=[LOOK]))
    bench.add(facts(on="t2", at=5, given=[user("(earlier: order 12)"), LOOK, FOUND], said=[DONE]))
    assert groups(bench.wait(1_000)) == [["", "It was shipped."]]


def test_a_tool_call_id_needs_the_same_name_and_arguments() -> None:
    """Frameworks count their ids from one; the id alone joins nothing."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[agent("", request("find_order", "call_1", n=1))]))
    other = agent("", request("find_order", "call_1", n=2))
    bench.add(
        facts(
            on="t2",
            at=5,
            given=[user("Hm"), other, result("find_order", "?", "call_1")],
            said=[DONE],
        )
    )
    assert len(bench.wait(1_000)) == 2


def test_a_tool_span_joins_by_its_call_id() -> None:
    """A tool that ran in a trace of its own belongs to the call that asked."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[LOOK]))
    tool = ToolRequest(id="call_find_order", name="find_order", arguments={"number": 12})
    bench.add(facts("tool", on="t2", at=2, tool=tool, tool_result="shipped"))
    (due,) = bench.wait(1_000)
    assert len(due.held) == 2


def test_previous_response_ids_join() -> None:
    """With history on the server, a call names the response it continues."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI], response_id="r1"))
    bench.add(
        facts(
            on="t2", at=5, given=[ORDER], said=[DONE], response_id="r2", previous_response_id="r1"
        )
    )
    assert len(bench.wait(1_000)) == 1


def test_copies_of_one_call_in_two_traces_are_one_conversation() -> None:
    """A proxy's copy shares the response id and nothing else."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI], response_id="r1"))
    who = Identity(agent="proxy")
    bench.add(facts(on="t2", who=who, given=[HELLO], said=[HI], response_id="r1"))
    assert len(bench.wait(1_000)) == 1


def test_a_name_that_comes_with_the_second_copy_is_for_both() -> None:
    """The proxy's copies come first and join each other; the client's own, with words or without, say which conversation it is."""
    later = [HELLO, HI, ORDER]
    for words in (True, False):
        bench = Bench()
        who = Identity(agent="proxy")
        for number, given, reply in ((1, [HELLO], HI), (2, later, DONE)):
            call: dict[str, Any] = {
                "at": 5 * number,
                "response_id": f"r{number}",
                "usage": Usage(input=9, output=10 + number),
            }
            bench.add(facts(on=f"p{number}", who=who, given=given, said=[reply], **call))
        for number, given, reply in ((1, [HELLO], HI), (2, later, DONE)):
            call = {
                "name": f"call {number}",
                "response_id": f"r{number}",
                "usage": Usage(input=9, output=10 + number),
            }
            told: dict[str, Any] = {"given": given, "said": [reply]} if words else {}
            bench.add(facts(on="t", at=11, conversation_id="c", **told, **call))
        (due,) = bench.wait(1_000)
        assert (due.talk.id, len(due.held)) == ("c", 4)


def test_a_named_conversation_takes_in_no_other_tenant_s_copy() -> None:
    """Whoever guesses the response id and the count of a call gets nothing of it."""
    bench = Bench()
    call: dict[str, Any] = {"response_id": "r", "usage": Usage(input=9, output=11)}
    acme, brill = (Identity(agent="shop", tenant=tenant) for tenant in ("acme", "brill"))
    bench.add(facts(on="p", who=acme, given=[HELLO], said=[HI], **call))
    bench.add(facts(on="t", who=brill, conversation_id="c", **call))
    assert sorted(len(due.held) for due in bench.wait(1_000)) == [1, 1]


def test_a_response_id_that_another_call_has_as_well_names_nobody() -> None:
    """Where a model server gives out few ids, a named conversation takes in no other of the same id."""
    bench = Bench()
    one, other = Usage(input=9, output=11), Usage(input=9, output=12)
    bench.add(facts(on="p", given=[HELLO], said=[HI], response_id="r", usage=one))
    bench.add(
        facts(on="t", given=[ORDER], said=[DONE], response_id="r", usage=other, conversation_id="c")
    )
    assert len(bench.wait(1_000)) == 2


def test_a_nested_copy_does_not_hide_the_history() -> None:
    """The SDK's own span comes first, without content; the outer one still tells whose it is."""
    bench = Bench()
    bench.add(facts(on="t1", under="one", response_id="r1"))
    bench.add(facts(on="t1", name="one", given=[HELLO], said=[HI], response_id="r1"))
    bench.add(facts(on="t2", under="two", at=5, response_id="r2"))
    bench.add(
        facts(on="t2", name="two", at=5, given=[HELLO, HI, ORDER], said=[DONE], response_id="r2")
    )
    (due,) = bench.wait(1_000)
    assert len(due.held) == 4


def test_threads_join_like_ids_within_an_agent() -> None:
    """A server-side thread is one conversation."""
    bench = Bench()
    bench.add(facts(on="t1", thread_id="th", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", at=5, thread_id="th", given=[ORDER], said=[DONE]))
    assert len(bench.wait(1_000)) == 1


def test_copies_of_calls_in_traces_of_their_own_split_nothing() -> None:
    """A client's spans end first and hold no words; the instrumentation's tell whose they are."""
    bench = Bench()
    for number in (1, 2):
        bench.add(facts(on=f"sdk{number}", at=number, response_id=f"r{number}"))
    bench.add(facts(on="t1", at=1, given=[HELLO], said=[HI], response_id="r1"))
    bench.add(facts(on="t2", at=2, given=[HELLO, HI, ORDER], said=[DONE], response_id="r2"))
    (due,) = bench.wait(3_600)
    assert len(due.held) == 4

    bench.add(facts(on="sdk3", at=10, response_id="r3"))
    bench.add(
        facts(on="t3", at=10, given=[HELLO], said=[HI], response_id="r3", conversation_id="c1")
    )
    (due,) = bench.wait(3_600)
    assert (due.talk.id, len(due.held)) == ("c1", 2)


def test_an_id_on_the_root_alone_takes_in_its_children() -> None:
    """Children are exported first and carry no id; the root's id is theirs."""
    bench = Bench()
    bench.add(facts(on="t1", under="root", given=[HELLO], said=[HI]))
    bench.add(facts("tool", on="t1", under="root", at=1, tool=ToolRequest(name="find_order")))
    bench.add(facts("agent", on="t1", name="root", seconds=9, conversation_id="c"))
    (due,) = bench.wait(1_000)
    assert (due.talk.id, len(due.held)) == ("c", 3)


def test_an_id_on_one_turn_of_a_chat_takes_in_the_whole_anonymous_chat() -> None:
    """A first turn without an id, joined by history, follows the trace that has one."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    bench.add(facts(on="t2", under="root", at=5, given=[HELLO, HI, ORDER], said=[DONE]))
    bench.add(facts("agent", on="t2", name="root", at=5, conversation_id="c"))
    (due,) = bench.wait(1_000)
    assert (due.talk.id, len(due.held)) == ("c", 3)


def test_two_ids_in_one_trace_keep_their_own_children() -> None:
    """A batch job runs two conversations under one root; each child follows its own parent."""
    bench = Bench()
    bench.add(facts(on="t1", under="a", given=[HELLO], said=[HI]))
    bench.add(facts("agent", on="t1", name="a", under="job", seconds=3, conversation_id="c1"))
    bench.add(facts(on="t1", under="b", at=5, given=[ORDER], said=[DONE]))
    bench.add(facts("agent", on="t1", name="b", under="job", at=5, conversation_id="c2"))
    found = {due.talk.id: groups([due]) for due in bench.wait(1_000)}
    assert found == {"c1": [["Which order?"]], "c2": [["It was shipped."]]}


def test_a_conversation_of_old_is_found_by_its_history() -> None:
    """Long after its last episode a chat goes on; its history's key was kept."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[HI]))
    (due,) = bench.wait(1_000)
    old = due.talk
    (tip,) = old.tips
    bench.stitcher.forget(old)
    bench.remembered.tips[tip] = old.key
    bench.remembered.talks[old.key] = Talk(key=old.key, id=old.id, explicit=False, number=1)
    bench.add(facts(on="t2", at=5_000, given=[HELLO, HI, ORDER], said=[DONE]))
    (next_due,) = bench.wait(1_000)
    assert (next_due.talk.id, next_due.number) == (old.id, 2)


def test_forgetting_leaves_no_entry_behind() -> None:
    """A conversation that is let go frees every index."""
    bench = Bench()
    bench.add(facts(on="t1", given=[HELLO], said=[LOOK], response_id="r"))
    bench.add(facts(on="t2", at=5, given=[HELLO, LOOK, FOUND], said=[DONE], response_id="s"))
    (due,) = bench.wait(1_000)
    bench.stitcher.forget(due.talk)
    assert bench.stitcher.is_empty
