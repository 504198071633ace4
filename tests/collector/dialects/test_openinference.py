"""Test OpenInference, whose messages are flattened attributes."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Document, Facts, Message, ToolDefinition, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user

SCHEMA: Any = {"type": "object", "properties": {"number": {"type": "integer"}}}


def read(kind: str, attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span of a kind."""
    given = {"openinference.span.kind": kind} | attributes
    return Normaliser().span(span(attributes=given, **more))


def flat(side: str, index: int, **fields: Any) -> dict[str, Any]:
    """Flatten one message; ``__`` in a name stands for a dot."""
    prefix = f"llm.{side}_messages.{index}.message."
    return {prefix + key.replace("__", "."): value for key, value in fields.items()}


def test_a_text_told_in_contents_and_again_joined_is_one_text() -> None:
    """OpenAI Agents' instrumentation writes both; blocks that say something else stay."""
    blocks = {
        "contents__0__message_content__type": "text",
        "contents__0__message_content__text": "Room 12",
        "contents__1__message_content__type": "text",
        "contents__1__message_content__text": "is free.",
    }
    once = read("LLM", flat("output", 0, role="assistant", content="Room 12\nis free.", **blocks))
    assert [message.text for message in once.output] == ["Room 12\nis free."]
    more = read("LLM", flat("output", 0, role="assistant", content="Shall I book?", **blocks))
    (message,) = more.output
    assert "Shall I book?" in message.text
    assert "is free." in message.text


def test_a_flattened_call_is_read() -> None:
    """Messages are rebuilt; a call told in contents and tool_calls is one call."""
    block = "contents__1__tool_call__"
    call = "tool_calls__0__tool_call__"
    facts = read(
        "LLM",
        flat("input", 0, role="system", content="Be kind.")
        | flat("input", 1, role="user", content="Is room 12 free?")
        | flat(
            "input",
            2,
            role="assistant",
            contents__0__message_content__type="text",
            contents__0__message_content__text="Let me see.",
            contents__1__message_content__type="tool_use",
            **{
                f"{block}id": "c1",
                f"{block}function__name": "room",
                f"{block}function__arguments": '{"number": 12}',
                f"{call}id": "c1",
                f"{call}function__name": "room",
                f"{call}function__arguments": '{"number": 12}',
            },
        )
        | flat(
            "input", 3, role="tool", tool_call_id="c1", content='[{"type":"text","text":"free"}]'
        )
        | flat("output", 0, role="assistant", content="Yes.")
        | {
            "llm.provider": "anthropic",
            "llm.model_name": "m-2",
            "llm.request.model_name": "m",
            "llm.finish_reason": "end_turn",
            "llm.token_count.prompt": 2112,
            "llm.token_count.completion": 31,
            "llm.token_count.prompt_details.cache_read": 2000,
            "llm.token_count.prompt_details.cache_write": 100,
            "llm.cost.total": 0.25,
            "llm.tools.0.tool.json_schema": json.dumps(
                {"name": "room", "description": "Look", "input_schema": SCHEMA}
            ),
        },
    )
    assert (facts.role, facts.dialect, facts.model) == ("llm", "openinference", "m-2")
    assert facts.system_prompt == "Be kind."
    assert facts.input == (
        user("Is room 12 free?"),
        agent("Let me see.", request("room", "c1", number=12)),
        Message(role="tool", text="free", tool_call_id="c1"),
    )
    assert facts.output == (agent("Yes."),)
    assert facts.tools == (ToolDefinition(name="room", description="Look", parameters=SCHEMA),)
    assert facts.usage == Usage(input=2112, output=31, cache_read=2000, cache_write=100)
    assert (facts.finish_reason, facts.cost_usd) == ("stop", 0.25)


def test_more_than_ten_messages_stay_in_order() -> None:
    """Message 10 comes after message 9, whatever the order of the attributes."""
    attributes: dict[str, Any] = {}
    for index in (10, 2, 9, 11, 1, 0, 3, 4, 5, 6, 7, 8):
        attributes |= flat("input", index, role="user", content=str(index))
    facts = read("LLM", attributes)
    assert [message.text for message in facts.input] == [str(index) for index in range(12)]


def test_masked_content_counts_as_absent() -> None:
    """Content that the instrumentation hides is no content."""
    facts = read(
        "LLM",
        flat("input", 0, role="user", content="__REDACTED__")
        | {"input.value": "__REDACTED__", "output.value": "__REDACTED__"},
    )
    assert (facts.input, facts.output) == ((), ())


def test_a_chain_is_no_call_though_it_has_messages() -> None:
    """Chains carry messages and counts of their children, which are not theirs."""
    facts = read("CHAIN", flat("input", 0, role="user", content="Hi"))
    assert (facts.role, facts.usage, facts.input) == ("chain", None, ())


def test_langchains_tool_span_gives_the_call_id_from_its_output() -> None:
    """The id stands inside the serialised output, and the input is a bare value."""
    output = {"type": "tool", "data": {"content": "free", "tool_call_id": "c1", "status": "error"}}
    facts = read(
        "TOOL", {"tool.name": "room", "input.value": "A-12", "output.value": json.dumps(output)}
    )
    assert facts.tool == ToolRequest(id="c1", name="room", arguments="A-12")
    assert (facts.tool_result, facts.tool_is_error) == ("free", True)


def test_a_plain_tool_span_is_named_by_its_span() -> None:
    """Without a tool's name the span's own is taken, and the input is its arguments."""
    facts = read("TOOL", {"input.value": '{"number": 12}', "output.value": "free"}, name="room")
    assert facts.tool == ToolRequest(name="room", arguments={"number": 12})
    assert facts.tool_result == "free"


def test_documents_carry_text_and_score() -> None:
    """A score may stand in the metadata's JSON."""
    prefix = "retrieval.documents."
    facts = read(
        "RETRIEVER",
        {
            f"{prefix}0.document.content": "Rooms have baths.",
            f"{prefix}0.document.metadata": '{"score": 0.5}',
            f"{prefix}1.document.id": "d2",
            f"{prefix}1.document.content": "Breakfast at eight.",
            f"{prefix}1.document.score": 0.25,
        },
    )
    assert facts.role == "retriever"
    assert facts.documents == (
        Document(text="Rooms have baths.", score=0.5),
        Document(id="d2", text="Breakfast at eight.", score=0.25),
    )


def test_a_reranker_gives_what_it_returned() -> None:
    """Of a reranker the output documents count."""
    facts = read(
        "RERANKER",
        {
            "reranker.input_documents.0.document.content": "in",
            "reranker.output_documents.0.document.content": "out",
        },
    )
    assert facts.documents == (Document(text="out"),)


def test_an_instrumentation_may_flatten_nothing() -> None:
    """Request and response as they are tell messages, tools, tokens, reason and id."""
    tool = {"type": "function", "function": {"name": "room", "parameters": {"type": "object"}}}
    asked = {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hi"},
        ],
        "tools": [tool],
    }
    answered = {
        "id": "chatcmpl-1",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Ho"}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }
    facts = read("LLM", {"input.value": json.dumps(asked), "output.value": json.dumps(answered)})
    assert (facts.system_prompt, facts.input, facts.output) == (
        "Be kind.",
        (user("Hi"),),
        (agent("Ho"),),
    )
    assert [t.name for t in facts.tools] == ["room"]
    assert (facts.usage, facts.finish_reason) == (Usage(input=9, output=2), "stop")
    assert facts.response_id == "chatcmpl-1"


def test_a_responses_id_is_taken_from_the_raw_output() -> None:
    """The convention has no key for it, and it tells apart what other spans say again."""
    facts = read(
        "LLM", {"llm.token_count.prompt": 3, "output.value": '{"id": "msg_7", "content": []}'}
    )
    assert (facts.response_id, facts.usage) == ("msg_7", Usage(input=3))


def test_a_search_for_tools_may_wait_for_the_agent() -> None:
    """LangChain flattens no call of OpenAI's own; one that the agent runs has a call's id."""
    block = {"type": "tool_search_call", "id": "tsc_1", "call_id": "call_1", "arguments": {"q": 1}}
    message = {"type": "constructor", "kwargs": {"type": "ai", "content": [block]}}
    returned = json.dumps({"generations": [[{"text": "", "message": message}]]})
    facts = read("LLM", flat("output", 0, role="assistant") | {"output.value": returned})
    assert facts.output == (agent("", request("tool_search", "call_1", q=1)),)
    assert facts.finish_reason == "tool_call"


def test_agents_say_what_was_asked_and_answered() -> None:
    """An agent's values are its task and its last words; a chain's only where it is the root."""
    values = {"input.value": '{"task": "Hi", "stream": true}', "output.value": "Ho"}
    facts = read("AGENT", values)
    assert (facts.role, facts.input, facts.output) == ("agent", (user("Hi"),), (agent("Ho"),))
    assert read("CHAIN", values).output == (agent("Ho"),)
    assert read("CHAIN", values, parent="3" * 16).output == ()


def test_arguments_may_stand_where_the_schema_belongs() -> None:
    """Some put a call's arguments under ``tool.parameters``, decorated functions under kwargs."""
    tool = {"tool.name": "room", "tool.parameters": '{"n": 1}'}
    schema = {"tool.name": "room", "tool.parameters": '{"type": "object", "properties": {}}'}
    called = {"tool.name": "room", "input.value": '{"args": [], "kwargs": {"n": 1}}'}
    assert read("TOOL", tool).tool == ToolRequest(name="room", arguments={"n": 1})
    assert read("TOOL", schema).tool == ToolRequest(name="room")
    assert read("TOOL", called).tool == ToolRequest(name="room", arguments={"n": 1})


def test_metadata_may_name_the_conversation() -> None:
    """LangGraph's thread stands in the JSON of the metadata."""
    assert read("CHAIN", {"metadata": '{"thread_id": "t1"}'}).conversation_id == "t1"
    assert read("CHAIN", {"metadata": "none"}).conversation_id == ""


def test_a_retrieval_keeps_what_was_looked_for() -> None:
    """The query is there; documents may stand only in the raw output."""
    facts = read(
        "RETRIEVER",
        {"input.value": "baths?", "output.value": '{"documents": [{"page_content": "Yes."}]}'},
    )
    assert (facts.input, facts.documents) == ((user("baths?"),), (Document(text="Yes."),))


def test_what_was_not_flattened_is_read_from_the_raw_values() -> None:
    """Old functions, a refusal and calls that the provider served stand in the raw values alone."""
    asked = {"messages": [{"role": "user", "content": "Hi"}], "functions": [{"name": "room"}]}
    declined = {"choices": [{"message": {"role": "assistant", "refusal": "No, sorry."}}]}
    facts = read(
        "LLM",
        flat("input", 0, role="user", content="Hi")
        | flat("output", 0, role="assistant")
        | {"input.value": json.dumps(asked), "output.value": json.dumps(declined)},
    )
    assert [tool.name for tool in facts.tools] == ["room"]
    assert facts.output == (agent("No, sorry."),)

    served = {"type": "mcp_call", "id": "mcp_1", "name": "room", "arguments": '{"n": 1}'}
    words = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Yes."}],
    }
    answer = {"status": "completed", "output": [served | {"output": "free"}, words]}
    facts = read(
        "LLM",
        flat("output", 0, role="assistant", content="Yes.") | {"output.value": json.dumps(answer)},
    )
    assert [r for m in facts.output for r in m.tool_requests] == [request("room", "mcp_1", n=1)]
    assert facts.output[-1] == agent("Yes.")
    assert facts.finish_reason == "stop"


def test_tools_may_stand_among_the_settings() -> None:
    """LiteLLM's functions are flattened nowhere."""
    settings = {"model": "m", "functions": [{"name": "room", "parameters": SCHEMA}]}
    facts = read("LLM", {"llm.invocation_parameters": json.dumps(settings)})
    assert facts.tools == (ToolDefinition(name="room", parameters=SCHEMA),)


def test_a_request_may_stand_among_the_settings() -> None:
    """Bedrock's bodies do, in each model's own form; other settings say nothing."""
    said = [{"role": "user", "content": [{"type": "text", "text": "Is it free?"}]}]
    for body in (
        {"messages": said, "system": "Be kind.", "max_tokens": 9},
        {"inputText": "Is it free?", "textGenerationConfig": {}},
        {"prompt": "Is it free?"},
    ):
        facts = read("LLM", {"llm.invocation_parameters": json.dumps(body)})
        assert facts.input == (user("Is it free?"),)
        assert facts.system_prompt == str(body.get("system", ""))
    assert read("LLM", {"llm.invocation_parameters": '{"temperature": 1}'}).input == ()


def test_a_tools_own_span_may_hold_its_definition() -> None:
    """The Agents SDK's chat models tell the tools that were offered nowhere else."""
    facts = read(
        "TOOL",
        {
            "tool.name": "room",
            "tool.description": "Look at a room.",
            "tool.parameters": json.dumps(SCHEMA),
            "input.value": '{"number": 12}',
        },
    )
    assert facts.tools == (
        ToolDefinition(name="room", description="Look at a room.", parameters=SCHEMA),
    )


def test_what_frameworks_leave_in_their_own_shapes_is_read() -> None:
    """LangChain keeps the response's id, status and a refusal beside the message."""
    message = {
        "type": "ai",
        "content": "",
        "additional_kwargs": {"refusal": "No, sorry."},
        "response_metadata": {"id": "resp_7", "status": "completed"},
    }
    output = {"generations": [[{"message": {"kwargs": message}}]]}
    facts = read("LLM", {"output.value": json.dumps(output)})
    assert facts.output == (agent("No, sorry."),)
    assert (facts.response_id, facts.finish_reason) == ("resp_7", "stop")

    words = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Yes."}],
    }
    facts = read("LLM", {"output.value": json.dumps([{"object": "response", "output": [words]}])})
    assert facts.output == (agent("Yes."),)


def test_spans_that_lost_their_kind_to_a_limit() -> None:
    """Where attributes were left out, those that are there tell what the span is."""
    left: dict[str, dict[str, Any]] = {
        "llm": {"llm.output_messages.0.message.content": "Hi."},
        "retriever": {"retrieval.documents.0.document.content": "Page."},
        "tool": {"tool.name": "find"},
    }
    for role, attributes in left.items():
        scope = "openinference.instrumentation.openai"
        lost = span(attributes=attributes, scope_name=scope, dropped_attributes=9)
        read = Normaliser().span(lost)
        assert (read.role, read.dialect, read.truncated) == (role, "openinference", True)
        for other in (
            span(attributes=attributes, scope_name=scope),
            span(attributes=attributes, scope_name="shop", dropped_attributes=9),
        ):
            assert Normaliser().span(other).dialect != "openinference"


def test_messages_that_a_limit_left_out_are_in_the_whole_request() -> None:
    """Of the flattened messages the last are missing; the request's text has all of them."""
    messages = [{"role": "user", "content": f"Line {n}."} for n in range(4)]
    flat = {
        f"llm.input_messages.{n}.message.{key}": value
        for n, message in enumerate(messages[:2])
        for key, value in message.items()
    }
    whole = {"input.value": json.dumps({"messages": messages}), "openinference.span.kind": "LLM"}
    read = Normaliser().span(span(attributes=whole | flat, dropped_attributes=4))
    assert [m.text for m in read.input] == ["Line 0.", "Line 1.", "Line 2.", "Line 3."]
