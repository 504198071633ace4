"""Test with the providers' own clients that they notice nothing, and that we do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import anthropic
import msgspec
import openai
import pytest

from tests.collector.proxy.provider import Provider, plain
from tests.collector.proxy.scripts import (
    CITED,
    COMPLETION,
    DECLINED,
    MESSAGE,
    REFUSED,
    RESPONSE,
    completion_events,
    message_events,
    response_events,
    streamed,
)
from tests.collector.proxy.standing import KEY, Standing

TOOLS: list[Any] = [
    {
        "name": "weather",
        "description": "Look up the weather.",
        "input_schema": {"type": "object", "properties": {"town": {"type": "string"}}},
    }
]
ASKED: list[Any] = [{"role": "user", "content": "How is Ulm, and how is Köln?"}]
STREAM_ONLY = {"gen_ai.request.stream", "gen_ai.response.time_to_first_chunk"}


def encoded(body: Any) -> bytes:
    """Write an unstreamed answer."""
    return plain(msgspec.json.encode(body), "request-id: req_9")


def ask_anthropic(url: str) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """Ask twice, unstreamed and streamed; return the message, the events and the message again."""
    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {
            "model": "claude-large-9",
            "max_tokens": 99,
            "system": "Be brief.",
            "messages": ASKED,
            "tools": TOOLS,
            "metadata": {"user_id": "ada@example.org"},
        }
        one = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            events = [event.model_dump() for event in stream]
            two = stream.get_final_message()
    return one.model_dump(), events, two.model_dump()


def ask_chat(url: str) -> tuple[dict[str, Any], list[Any]]:
    """Ask twice, unstreamed and streamed."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {
            "model": "gpt-9-mini",
            "messages": [{"role": "system", "content": "Be brief."}, *ASKED],
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": {}}}],
        }
        one = client.chat.completions.create(**asked)
        stream: Any = client.chat.completions.create(
            **asked, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk.model_dump() for chunk in stream]
    return one.model_dump(), chunks


def ask_responses(url: str) -> tuple[dict[str, Any], list[Any]]:
    """Ask twice, unstreamed and streamed."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        asked: dict[str, Any] = {"model": "gpt-9", "instructions": "Be brief.", "input": ASKED}
        one = client.responses.create(**asked)
        events = [event.model_dump() for event in client.responses.create(**asked, stream=True)]
    return one.model_dump(), events


@pytest.fixture(autouse=True)
def _only_ours() -> Iterator[None]:
    """Leave the clients' own warnings about models and serialisers alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("message", [MESSAGE, CITED, REFUSED])
def test_anthropic(message: dict[str, Any]) -> None:
    """Anthropic's client gets the same through us, and both forms are captured alike."""
    with Provider() as provider, Standing(provider.url) as proxy:
        for _ in range(2):
            provider.script("/v1/messages", encoded(message))
            provider.script("/v1/messages", *streamed(message_events(message)))
        direct = ask_anthropic(provider.url)
        through = ask_anthropic(proxy.url)
        proxy.stop()

    assert through == direct
    assert [asked.body for asked in provider.asked[2:]] == [
        asked.body for asked in provider.asked[:2]
    ]
    plainly, streaming = (span.attributes for span in proxy.spans)
    assert {k: v for k, v in streaming.items() if k not in STREAM_ONLY} == plainly
    assert not proxy.dropped()


def test_what_is_captured_of_a_message() -> None:
    """System prompt, history, tools, thinking, text, parallel calls, usage, ids and reason stand in the span."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", encoded(MESSAGE))
        provider.script("/v1/messages", *streamed(message_events(MESSAGE)))
        ask_anthropic(proxy.url)
        proxy.stop()

    said = proxy.said
    assert said("gen_ai.system_instructions") == [{"type": "text", "content": "Be brief."}]
    assert said("gen_ai.input.messages") == [
        {"role": "user", "parts": [{"type": "text", "content": ASKED[0]["content"]}]}
    ]
    (answer,) = said("gen_ai.output.messages")
    assert answer["finish_reason"] == "tool_use"
    assert answer["parts"] == [
        {"type": "reasoning", "content": "Two towns, so two calls."},
        {"type": "text", "content": "I look up both."},
        {
            "type": "tool_call",
            "id": "tu_1",
            "name": "weather",
            "arguments": {"town": "Ulm", "days": 2},
        },
        {"type": "tool_call", "id": "tu_2", "name": "weather", "arguments": {"town": "Köln"}},
        {"type": "tool_call", "id": "tu_3", "name": "now", "arguments": {}},
    ]
    (tool,) = said("gen_ai.tool.definitions")
    assert (tool["name"], tool["parameters"]) == ("weather", TOOLS[0]["input_schema"])
    attributes = proxy.spans[-1].attributes
    assert attributes["gen_ai.response.id"] == "msg_7"
    assert attributes["gen_ai.usage.input_tokens"] == 147
    assert attributes["gen_ai.usage.output_tokens"] == 55
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 100
    assert attributes["gen_ai.response.finish_reasons"] == ["tool_use"]
    assert attributes["gen_ai.request.max_tokens"] == 99
    assert len(str(attributes["user.id"])) == 16
    assert proxy.spans[-1].resource["service.name"] == "Anthropic/Python"
    assert proxy.spans[-1].scope_name == "outrider.proxy"


@pytest.mark.parametrize("completion", [COMPLETION, DECLINED])
def test_chat_completions(completion: dict[str, Any]) -> None:
    """OpenAI's client gets the same through us, and both forms are captured alike."""
    with Provider() as provider, Standing(provider.url) as proxy:
        for _ in range(2):
            provider.script("/v1/chat/completions", encoded(completion))
            provider.script("/v1/chat/completions", *streamed(completion_events(completion)))
        assert ask_chat(provider.url) == ask_chat(proxy.url)
        proxy.stop()

    plainly, streaming = (span.attributes for span in proxy.spans)
    assert {k: v for k, v in streaming.items() if k not in STREAM_ONLY} == plainly
    assert plainly["gen_ai.usage.input_tokens"] == 140
    (answer,) = proxy.said("gen_ai.output.messages")
    if completion is DECLINED:
        assert answer["parts"] == [{"type": "refusal", "content": "I will not do that."}]
    else:
        assert [part.get("arguments") for part in answer["parts"]] == [
            None,
            {"town": "Ulm"},
            {"town": "Köln"},
        ]


def test_responses() -> None:
    """The responses API is captured alike in both forms."""
    with Provider() as provider, Standing(provider.url) as proxy:
        for _ in range(2):
            provider.script("/v1/responses", encoded(RESPONSE))
            provider.script("/v1/responses", *streamed(response_events(RESPONSE)))
        assert ask_responses(provider.url) == ask_responses(proxy.url)
        proxy.stop()

    plainly, streaming = (span.attributes for span in proxy.spans)
    assert {k: v for k, v in streaming.items() if k not in STREAM_ONLY} == plainly
    (answer,) = proxy.said("gen_ai.output.messages")
    assert answer == {
        "role": "assistant",
        "finish_reason": "completed",
        "parts": [
            {"type": "reasoning", "content": "Two."},
            {"type": "text", "content": "I look it up."},
            {
                "type": "tool_call",
                "id": "call_1",
                "name": "weather",
                "arguments": {"town": "Ulm"},
            },
        ],
    }


@pytest.mark.parametrize("status", ["529 Overloaded", "429 Too Many Requests", "400 Bad Request"])
def test_errors(status: str) -> None:
    """Errors come as the upstream said them, once, and are captured as failed calls."""
    body = b'{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(body, "x-should-retry: true", status=status))
        with (
            anthropic.Anthropic(base_url=proxy.url, api_key=KEY, max_retries=0) as client,
            pytest.raises(anthropic.APIStatusError) as caught,
        ):
            client.messages.create(model="m", max_tokens=1, messages=ASKED)
        proxy.stop()

    assert caught.value.status_code == int(status[:3])
    assert caught.value.response.content == body
    assert caught.value.response.headers["x-should-retry"] == "true"
    assert len(provider.asked) == 1
    (span,) = proxy.spans
    assert span.attributes["error.type"] == "overloaded_error"
    assert span.attributes["http.response.status_code"] == int(status[:3])
    assert "gen_ai.output.messages" not in span.attributes
    assert span.status_code == 2


def test_the_clients_own_retries_work() -> None:
    """A client that retries gets through to the upstream each time."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(b"{}", "retry-after-ms: 1", status="529 Busy"))
        provider.script("/v1/messages", encoded(MESSAGE))
        with anthropic.Anthropic(base_url=proxy.url, api_key=KEY, max_retries=1) as client:
            message = client.messages.create(model="m", max_tokens=1, messages=ASKED)

    assert message.id == "msg_7"
    assert len(provider.asked) == 2


def test_an_unreachable_upstream() -> None:
    """When nobody answers behind us, the client is told so by a 502 that is ours."""
    with Provider() as provider:
        url = provider.url
    with (
        Standing(url) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=KEY, max_retries=0) as client,
        pytest.raises(openai.InternalServerError, match="cannot be reached") as caught,
    ):
        client.models.list()

    assert caught.value.status_code == 502
    assert caught.value.response.headers["x-outrider-error"] == "true"
    assert proxy.refused() == {"unreachable": 1}
