"""Test what OpenLLMetry's LangChain package leaves in LangChain's own form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.calls import llm_call, model_calls
from collector.model import Facts, Usage
from collector.normalise import Normaliser
from tests.build import agent, request, span, user

SCOPE = "opentelemetry.instrumentation.langchain"
CALL = {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "room", "arguments": "{}"}
USAGE = {"input_tokens": 3, "output_tokens": 5, "output_token_details": {"reasoning": 4}}


def read(attributes: dict[str, Any], **more: Any) -> Facts:
    """Normalise one span; structures become JSON."""
    found = {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in attributes.items()}
    return Normaliser().span(span(attributes=found, scope_name=SCOPE, **more))


def call(said: Any, **usage: Any) -> Facts:
    """Read the span of a model's call."""
    counted = {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 5}
    given = [{"role": "user", "parts": [{"type": "text", "content": "Is it free?"}]}]
    told = {"gen_ai.input.messages": given, "gen_ai.output.messages": said}
    return read(
        {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", **told, **counted, **usage},
        id="2" * 16,
        parent="3" * 16,
    )


def task(message: dict[str, Any], *, update: bool = True) -> Facts:
    """Read the span of the task around it."""
    state = {"messages": [{"lc": 1, "type": "constructor", "kwargs": {"type": "ai", **message}}]}
    outputs: Any = [{"graph": None, "update": state}] if update else state
    return read(
        {
            "gen_ai.operation.name": "execute_task",
            "traceloop.span.kind": "task",
            "traceloop.entity.output": {"outputs": outputs, "kwargs": {}},
        },
        id="3" * 16,
        parent="4" * 16,
    )


def part(content: str) -> list[dict[str, Any]]:
    """Build a reply of one text."""
    return [{"role": "assistant", "parts": [{"type": "text", "content": content}]}]


def test_blocks_that_were_written_as_text_are_opened() -> None:
    """A call is one call, though it stands there twice; reasoning is no text."""
    thought = {"type": "text", "content": json.dumps({"type": "reasoning", "summary": []})}
    parts = [
        {"type": "text", "content": json.dumps(CALL)},
        {"type": "tool_call", "id": "c1", "name": "room", "arguments": {}},
    ]
    facts = call([{"role": "assistant", "parts": [thought, *parts]}])
    assert facts.input == (user("Is it free?"),)
    assert facts.output == (agent("", request("room", "c1")),)


@pytest.mark.parametrize("text", ['{"rooms": 3}', '{"type": "suite"}', "{not JSON"])
def test_a_reply_in_json_stays_text(text: str) -> None:
    """The model may have been asked for an object, even for one with a type."""
    assert call(part(text)).output == (agent(text),)


@pytest.mark.parametrize("update", [True, False])
def test_the_task_tells_the_reason_and_the_reasoning(*, update: bool) -> None:
    """The call's own span has neither of Anthropic and of OpenAI's responses."""
    metadata = {"id": "r", "stop_reason": "end_turn"}
    around = task(
        {"content": "Yes.", "response_metadata": metadata, "usage_metadata": USAGE}, update=update
    )
    (found,) = model_calls([call(part("Yes.")), around])
    told = llm_call(found)
    assert (told.finish_reason, told.usage) == ("stop", Usage(input=3, output=5, reasoning=4))
    assert told.span_ids == ("2" * 16,)


def test_the_task_tells_of_a_refusal() -> None:
    """The call's span has a reply without parts."""
    message = {"content": "", "additional_kwargs": {"refusal": "I say no."}}
    around = task(message | {"response_metadata": {"id": "r"}, "usage_metadata": USAGE})
    (found,) = model_calls([call([{"role": "assistant", "parts": []}]), around])
    assert found.content.output == (agent("I say no."),)


@pytest.mark.parametrize(
    ("id", "usage"), [("another", USAGE), ("r", {"input_tokens": 4, "output_tokens": 5})]
)
def test_a_task_around_another_call_tells_nothing(id: str, usage: Any) -> None:
    """What it keeps is a later reply, or an earlier one."""
    metadata = {"id": id, "object": "response", "status": "incomplete"}
    around = task({"content": "No.", "response_metadata": metadata, "usage_metadata": usage})
    (found,) = model_calls([call(part("Yes.")), around])
    assert llm_call(found).finish_reason == ""


def test_a_task_without_a_reply_is_a_step() -> None:
    """Most tasks are around something else."""
    facts = task({"content": "Yes."})
    assert (facts.role, facts.usage, facts.output) == ("chain", None, ())
