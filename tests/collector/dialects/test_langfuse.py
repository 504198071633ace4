"""Test Langfuse's SDK."""

from __future__ import annotations

import json
from typing import Any

from collector.model import Document, Facts, ToolRequest, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user


def read(kind: str, **observation: Any) -> Facts:
    """Normalise one observation; ``__`` in a name stands for a dot."""
    attributes = {
        f"langfuse.observation.{key.replace('__', '.')}": value
        for key, value in observation.items()
    }
    attributes |= {"langfuse.observation.type": kind, "session.id": "s1"}
    return Normaliser().span(span("room", attributes=attributes))


def test_a_generation_is_a_call_in_openais_shape() -> None:
    """Usage and cost are JSON objects, and cached tokens stand beside the input."""
    call = {"id": "c1", "type": "function", "function": {"name": "room", "arguments": '{"n": 1}'}}
    facts = read(
        "generation",
        input=json.dumps([{"role": "user", "content": "Is room 1 free?"}]),
        output=json.dumps({"role": "assistant", "content": "", "tool_calls": [call]}),
        model__name="m",
        usage_details=json.dumps({"input": 12, "output": 31, "cache_read_input_tokens": 2000}),
        cost_details=json.dumps({"total": 0.5}),
    )
    assert (facts.role, facts.dialect, facts.model) == ("llm", "langfuse", "m")
    assert facts.conversation_id == "s1"
    assert facts.input == (user("Is room 1 free?"),)
    assert facts.output == (agent("", request("room", "c1", n=1)),)
    assert facts.usage == Usage(input=2012, output=31, cache_read=2000)
    assert (facts.finish_reason, facts.cost_usd) == ("tool_call", 0.5)


def test_tools_and_retrievals_are_read() -> None:
    """A tool's input is its arguments; a retriever's output is its documents."""
    tool = read("tool", input='{"n": 1}', output='{"free": true}')
    assert tool.tool == ToolRequest(name="room", arguments={"n": 1})
    assert tool.tool_result == '{"free": true}'
    found = read("retriever", output='[{"page_content": "Rooms have baths."}]')
    assert found.documents == (Document(text="Rooms have baths."),)


def test_an_unknown_type_is_other() -> None:
    """Types of a later version are kept without a meaning."""
    assert read("novelty").role == "other"


def test_what_langchain_records_is_read() -> None:
    """A tool recorded as a plain span is a tool; definitions among messages are tools."""
    message = {"content": "free", "type": "tool", "name": "room", "tool_call_id": "c1"}
    tool = {"type": "function", "function": {"name": "room", "parameters": {"type": "object"}}}
    attributes = {
        "langfuse.observation.type": "span",
        "langfuse.observation.input": "{'n': 1}",
        "langfuse.observation.output": json.dumps(message),
    }
    found = Normaliser().span(span("room", parent="3" * 16, attributes=attributes))
    assert (found.role, found.tool, found.tool_result) == (
        "tool",
        request("room", "c1", n=1),
        "free",
    )
    call = read(
        "generation",
        input=json.dumps([{"role": "user", "content": "Hi"}, {"role": "tool", "content": tool}]),
    )
    assert (call.input, [t.name for t in call.tools]) == ((user("Hi"),), ["room"])


def test_an_agents_observation_says_what_was_asked_and_answered() -> None:
    """Of a graph's state the last answer counts, of a decorated function its argument."""
    facts = read("agent", input='{"args": ["Hi"], "kwargs": {}}', output='"Ho"')
    assert (facts.role, facts.input, facts.output) == ("agent", (user("Hi"),), (agent("Ho"),))


def test_a_retrievers_input_is_what_was_looked_for() -> None:
    """The query is kept beside what was found."""
    found = read("retriever", input='{"query": "baths"}', output='["Rooms have baths."]')
    assert (found.input, found.documents) == (
        (user("baths"),),
        (Document(text="Rooms have baths."),),
    )


def test_the_total_says_whether_cached_tokens_are_in_the_input() -> None:
    """Integrations differ; where the total counts them beside the input, they are added."""
    beside = {"input": 50, "output": 5, "cache_read_input_tokens": 20, "total": 75}
    inside = {"input": 50, "output": 5, "input_cached_tokens": 20, "total": 55}
    for details, total in ((beside, 70), (inside, 50)):
        usage = read("generation", usage_details=json.dumps(details)).usage
        assert usage == Usage(input=total, output=5, cache_read=20)


def test_a_raw_response_tells_what_the_observation_does_not() -> None:
    """Tokens, reason and instructions stand in the body of the response."""
    body = {
        "id": "resp_1",
        "instructions": "Be kind.",
        "tools": [{"type": "function", "name": "room", "parameters": {}}],
        "output": [{"type": "message", "role": "assistant", "content": [{"text": "Ho"}]}],
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
    facts = read("generation", output=json.dumps(body))
    assert (facts.system_prompt, [t.name for t in facts.tools]) == ("Be kind.", ["room"])
    assert (facts.output, facts.usage) == ((agent("Ho"),), Usage(input=9, output=2))
    assert facts.response_id == "resp_1"
