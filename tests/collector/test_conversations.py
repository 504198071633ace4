"""Facts of one episode become the conversation a person would recognise."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.conversations import Built, build
from collector.message_keys import MessageKeys
from collector.model import (
    Document,
    Episode,
    FactRole,
    Facts,
    Message,
    ToolDefinition,
    ToolRequest,
    Usage,
)
from tests.build import agent, identity, request, result, user


def fact(role: FactRole = "llm", **more: Any) -> Facts:
    """Build facts of one span; times are seconds."""
    more.setdefault("start_ns", 0)
    more.setdefault("identity", identity())
    return Facts(role=role, dialect="test", **more)


def built(*facts: Facts, **more: Any) -> Built:
    """Build a conversation from facts."""
    return build(facts, id="c", explicit=True, episode=Episode(), keys=MessageKeys(), **more)


ASK = user("Where is parcel 7?")
LOOK = agent("", request("find_parcel", number=7))
FOUND = result("find_parcel", '{"at": "depot"}')
TELL = agent("It is at the depot.")


def test_two_calls_with_history_are_one_conversation() -> None:
    """The second call's history repeats the first; every message stands once."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact(span_id="b", start_ns=2, input=(ASK, LOOK, FOUND), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)
    assert [(c.name, c.result) for c in conversation.tool_calls] == [
        ("find_parcel", '{"at": "depot"}')
    ]
    assert len(conversation.llm_calls) == 2


def test_calls_given_out_of_order_are_put_in_order() -> None:
    """Spans arrive in any order; start times decide."""
    conversation = built(
        fact(span_id="b", start_ns=2, input=(ASK, LOOK, FOUND), output=(TELL,)),
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)


def test_what_one_span_leaves_out_another_tells() -> None:
    """A tool's description from its own span, a system prompt from the agent's."""
    bare = ToolDefinition(name="find_parcel", parameters={"type": "object"})
    told = ToolDefinition(name="find_parcel", description="Find it.", parameters={})
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,), tools=(bare,)),
        fact("tool", span_id="b", start_ns=1, tool=request("find_parcel"), tools=(told,)),
        fact("agent", span_id="c", start_ns=2, system_prompt="Be brief."),
    ).conversation
    assert conversation.tools == (
        ToolDefinition(name="find_parcel", description="Find it.", parameters={"type": "object"}),
    )
    assert conversation.system_prompt == "Be brief."


def test_of_two_counts_the_one_nearest_to_the_wire_holds() -> None:
    """What wraps a client may count a stream's first tokens twice; the client's own span does not."""
    (call,) = built(
        fact(span_id="outer", output=(TELL,), usage=Usage(input=9, output=11), response_id="r1"),
        fact(
            span_id="sdk",
            start_ns=1,
            usage=Usage(input=9, output=10, cache_read=4),
            response_id="r1",
        ),
        fact(span_id="late", start_ns=2, usage=Usage(input=9), response_id="r1"),
    ).conversation.llm_calls
    assert call.usage == Usage(input=9, output=10, cache_read=4)


def test_a_model_span_inside_a_model_span_is_one_call() -> None:
    """An SDK's span inside an instrumentor's is the same call and its usage counts once."""
    usage = Usage(input=10, output=3)
    conversation = built(
        fact(span_id="sdk", parent_id="outer", usage=usage, response_id="r1"),
        fact(span_id="outer", input=(ASK,), output=(TELL,), usage=usage, response_id="r1"),
    ).conversation
    assert len(conversation.llm_calls) == 1
    assert conversation.llm_calls[0].usage == usage
    assert conversation.messages == (ASK, TELL)


def test_the_same_response_id_is_one_call_wherever_it_comes_from() -> None:
    """A proxy's copy shares only the response id with the SDK's span."""
    conversation = built(
        fact(span_id="a", trace_id="t1", response_id="r1", output=(TELL,)),
        fact(span_id="b", trace_id="t2", response_id="r1", input=(ASK,), output=(TELL,)),
    ).conversation
    assert len(conversation.llm_calls) == 1
    assert conversation.messages == (ASK, TELL)


def test_calls_that_send_only_what_is_new_are_appended() -> None:
    """With history on the server, the second call holds only the tool's result."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact(span_id="b", start_ns=2, input=(FOUND,), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)


def test_a_history_that_drops_its_beginning_is_aligned() -> None:
    """A sliding window overlaps the end of what is known; nothing is doubled."""
    later = user("Thanks. And parcel 8?")
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact(span_id="b", start_ns=2, input=(ASK, LOOK, FOUND), output=(TELL,)),
        fact(span_id="c", start_ns=3, input=(TELL, later), output=(agent("Not found."),)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL, later, agent("Not found."))


def test_a_summarised_history_is_aligned_after_the_summary() -> None:
    """A compacted history starts with a summary that nobody said; the rest overlaps."""
    later = user("And parcel 8?")
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(TELL,)),
        fact(span_id="b", start_ns=3, input=(user("Summary so far"), TELL, later), output=(LOOK,)),
    ).conversation
    assert conversation.messages == (ASK, TELL, later, LOOK)


def test_a_retry_with_the_same_history_does_not_double_the_reply() -> None:
    """The same call made twice is two calls, and its words stand once."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(TELL,)),
        fact(span_id="b", start_ns=2, input=(ASK,), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, TELL)
    assert len(conversation.llm_calls) == 2


def test_a_result_only_a_span_carries_is_put_behind_its_request() -> None:
    """A tool result nobody repeated still stands in the conversation."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact(
            "tool",
            span_id="t",
            tool=request("find_parcel", number=7),
            tool_result="gone",
            tool_is_error=True,
        ),
    ).conversation
    assert conversation.messages[2].text == "gone"
    assert conversation.messages[2].is_error is True
    assert conversation.tool_calls[0].span_id == "t"
    assert conversation.tool_calls[0].answered_at == 2


def test_a_tool_span_without_an_id_joins_by_name_and_arguments() -> None:
    """Half of the producers do not write the call's id on the tool span."""
    anonymous = request("find_parcel", number=7)
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact(
            "tool", span_id="t", tool=type(anonymous)(name="find_parcel", arguments={"number": 7})
        ),
    ).conversation
    assert [(c.id, c.span_id) for c in conversation.tool_calls] == [("call_find_parcel", "t")]


def test_a_client_span_inside_a_tool_span_is_the_same_tool_call() -> None:
    """An MCP client's span under ``execute_tool`` is one call."""
    call = request("find_parcel", number=7)
    conversation = built(
        fact("tool", span_id="t", tool=call),
        fact("tool", span_id="m", parent_id="t", tool=call),
    ).conversation
    assert len(conversation.tool_calls) == 1


def test_an_agent_span_alone_still_gives_the_conversation() -> None:
    """Some producers put content on the agent span and emit no model spans."""
    conversation = built(
        fact("agent", span_id="a", input=(ASK,), output=(TELL,)),
        fact("tool", span_id="t", parent_id="a", tool=request("find_parcel"), tool_result="x"),
    ).conversation
    assert conversation.messages == (ASK, TELL)
    assert [c.asked_at for c in conversation.tool_calls] == [-1]


def test_the_root_span_adds_what_came_after_the_last_call() -> None:
    """A user's last word that no call followed stands on the root span."""
    bye = user("Thanks, bye")
    conversation = built(
        fact("agent", span_id="r", input=(ASK, TELL, bye)),
        fact(span_id="a", parent_id="r", start_ns=1, input=(ASK,), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, TELL, bye)


def test_an_inner_agents_history_stays_apart_but_its_tools_count() -> None:
    """A sub-agent's prompt is not the user's; its tool calls are the agent's."""
    inner_ask = user("Find parcel 7 in the archive")
    inner_call = agent("", request("search_archive", number=7))
    conversation = built(
        fact("agent", span_id="top", input=(ASK,), output=(TELL,)),
        fact(span_id="a", parent_id="top", start_ns=1, input=(ASK,), output=(LOOK,)),
        fact("agent", span_id="sub", parent_id="top", start_ns=2),
        fact(span_id="b", parent_id="sub", start_ns=3, input=(inner_ask,), output=(inner_call,)),
        fact(span_id="c", parent_id="top", start_ns=4, input=(ASK, LOOK, FOUND), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)
    assert [c.name for c in conversation.tool_calls] == ["find_parcel", "search_archive"]
    assert len(conversation.llm_calls) == 3


def test_the_next_episode_starts_after_the_context() -> None:
    """Messages of the earlier episode are context, wherever they are repeated from."""
    first = built(fact(span_id="a", input=(ASK,), output=(TELL,)))
    more, reply = user("And parcel 8?"), agent("In Ghent.")
    repeated = built(
        fact(span_id="b", input=(ASK, TELL, more), output=(reply,)), context_tip=first.tip
    ).conversation
    assert repeated.episode.first_message == 2
    assert [t.index for t in repeated.turns] == [1]
    remembered = built(
        fact(span_id="b", input=(more,), output=(reply,)),
        context=(ASK, TELL),
        context_tip=first.tip,
    ).conversation
    assert remembered.messages == repeated.messages
    assert remembered.episode.first_message == 2


def test_without_its_context_the_next_episode_judges_what_it_has() -> None:
    """When the earlier messages are gone, the new ones are the episode."""
    conversation = built(
        fact(span_id="b", input=(user("And parcel 8?"),), output=(TELL,)), context_tip=b"x" * 16
    ).conversation
    assert conversation.episode.first_message == 0


def test_the_version_is_derived_from_prompt_tools_and_model() -> None:
    """Without a declared version, another system prompt is another version."""

    def version(prompt: str) -> str:
        call = fact(span_id="a", system_prompt=prompt, model="m", input=(ASK,), output=(TELL,))
        return built(call).conversation.identity.agent_version

    assert version("Be kind") == version("Be kind")
    assert version("Be kind") != version("Be brief")
    assert len(version("Be kind")) == 12


def test_grouping_of_a_reply_does_not_matter() -> None:
    """One producer reports text and call as one message, the next history as two."""
    both = agent("Let me look.", request("find_parcel", number=7))
    text, call = agent("Let me look."), agent("", request("find_parcel", number=7))
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(both,)),
        fact(span_id="b", start_ns=1, input=(ASK, text, call, FOUND), output=(TELL,)),
    ).conversation
    assert len(conversation.tool_calls) == 1
    assert conversation.messages[-1] == TELL
    assert sum(isinstance(m, Message) for m in conversation.messages) == 5


def test_the_last_word_may_stand_only_in_the_agents_span() -> None:
    """Where no model call tells how the run ended, its root does; a result comes before it."""
    tool = ToolRequest(name="find_parcel", arguments={"number": 7})
    conversation = built(
        fact("agent", span_id="a", trace_id="t", input=(ASK,), output=(TELL,)),
        fact(span_id="b", parent_id="a", trace_id="t", start_ns=1, input=(ASK,), output=(LOOK,)),
        fact("tool", span_id="c", trace_id="t", start_ns=2, tool=tool, tool_result="depot"),
    ).conversation
    found = Message(
        role="tool", text="depot", tool_call_id="call_find_parcel", tool_name="find_parcel"
    )
    assert conversation.messages == (ASK, LOOK, found, TELL)
    call = conversation.tool_calls[0]
    assert (call.span_id, call.result, call.answered_at) == ("c", "depot", 2)


def test_an_agents_span_does_not_repeat_a_reply_that_was_recorded() -> None:
    """A model call that replied has the last word, however the agent words it."""
    conversation = built(
        fact("agent", span_id="a", trace_id="t", input=(ASK,), output=(agent("At the depot"),)),
        fact(span_id="b", parent_id="a", trace_id="t", start_ns=1, input=(ASK,), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, TELL)


def test_a_reply_that_was_asked_for_again_stands_behind_the_first() -> None:
    """So does the agent's behind that of a call which only routes; both were said."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(agent("parcels"),)),
        fact(span_id="b", start_ns=2, input=(ASK,), output=(TELL,)),
        fact(span_id="c", start_ns=4, input=(ASK,), output=(agent("parcels"),)),
    ).conversation
    assert conversation.messages == (ASK, agent("parcels"), TELL)


def test_what_is_said_aside_stands_nowhere() -> None:
    """A call that was given less than was known when it was made is no part of the talk."""
    conversation = built(
        fact(span_id="a", input=(ASK, LOOK, FOUND), output=(TELL,)),
        fact(span_id="b", start_ns=2, input=(ASK,), output=(agent("A parcel is late."),)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, FOUND, TELL)


def test_a_retrieval_alone_is_a_conversation() -> None:
    """What was looked for stands in for the user; a passage ranked again stands once."""
    bath = Document(id="1", text="Rooms have baths.")
    conversation = built(
        fact("retriever", span_id="a", input=(ASK,), documents=(bath, Document(score=0.1))),
        fact(
            "retriever",
            span_id="b",
            start_ns=1,
            documents=(msgspec.structs.replace(bath, score=0.9),),
        ),
    ).conversation
    assert conversation.messages == (ASK,)
    assert conversation.documents == (
        Document(id="1", text="Rooms have baths.", score=0.9),
        Document(score=0.1),
    )


def test_results_may_stand_between_calls_that_were_asked_for_at_once() -> None:
    """A history that puts each result behind its call is the same history, not another one."""
    first, second = agent("", request("a", "1")), agent("", request("b", "2"))
    one, two = result("a", "x", "1"), result("b", "y", "2")
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(first, second)),
        fact(span_id="b", start_ns=2, input=(ASK, first, one, second, two), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, first, one, second, two, TELL)


def test_a_history_without_the_agents_words_goes_on_where_it_stopped() -> None:
    """Some producers leave out what the model replied; the results after it are not lost."""
    nameless = Message(role="tool", text="depot")
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,)),
        fact("tool", span_id="c", start_ns=1, tool=LOOK.tool_requests[0], tool_result="depot"),
        fact(span_id="b", start_ns=2, input=(ASK, nameless), output=(TELL,)),
    ).conversation
    assert conversation.messages == (ASK, LOOK, nameless, TELL)
    assert [c.result for c in conversation.tool_calls] == ["depot"]


def test_two_calls_may_share_the_id_of_their_run() -> None:
    """One after the other and with other words they are two, whatever id they carry."""
    common: dict[str, Any] = {"response_id": "run_1", "trace_id": "t"}
    conversation = built(
        fact(span_id="a", end_ns=1, input=(ASK,), output=(LOOK,), **common),
        fact(span_id="b", start_ns=2, end_ns=3, input=(ASK, LOOK, FOUND), output=(TELL,), **common),
    ).conversation
    assert len(conversation.llm_calls) == 2


def test_agents_above_do_not_hide_the_calls_below_them() -> None:
    """Calls under the same two agents are one conversation, though a history was rewritten."""
    wrapped: dict[str, Any] = {"parent_id": "inner", "trace_id": "t"}
    conversation = built(
        fact("agent", span_id="outer", trace_id="t"),
        fact("agent", span_id="inner", parent_id="outer", trace_id="t"),
        fact(span_id="a", start_ns=1, input=(ASK,), output=(LOOK,), **wrapped),
        fact(span_id="b", start_ns=2, input=(user("Again?"),), output=(TELL,), **wrapped),
    ).conversation
    assert conversation.messages == (ASK, LOOK, user("Again?"), TELL)


def test_what_was_cut_is_marked() -> None:
    """A call and a tool call say that not all of them came through."""
    conversation = built(
        fact(span_id="a", input=(ASK,), output=(LOOK,), truncated=True),
        fact("tool", span_id="c", start_ns=1, tool=LOOK.tool_requests[0], truncated=True),
    ).conversation
    assert conversation.llm_calls[0].truncated
    assert conversation.tool_calls[0].truncated
