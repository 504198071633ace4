"""Test that facts are read out of HTTP bodies, and found or missed."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from collector.journal_records import Entry
from collector.otlp import Batch
from collector.otlp_decoding import Decoded
from tests.build import span
from tests.capture.agent_tasks import agent_task
from tests.capture.comparison import compare, facts_of
from tests.capture.facts import Exchange, Fact
from tests.capture.own import ANTHROPIC, OPENAI
from tests.capture.recordings import Cassette, Recording
from tests.capture.sent import Sent


def exchange(recording: Recording) -> Exchange:
    """Take a recording as it went over the wire."""
    return Exchange(
        api=recording.api,
        request=recording.request,
        status=recording.status,
        content_type=recording.headers["content-type"],
        body=recording.body,
    )


@pytest.mark.parametrize("cassettes", [ANTHROPIC, OPENAI])
def test_facts_of_a_call(cassettes: tuple[Cassette, ...]) -> None:
    """A streamed answer says what an unstreamed one would."""
    first, second = map(exchange, cassettes[0].recordings)
    kinds = Counter(fact.kind for fact in facts_of(first))
    assert (kinds["system"], kinds["user"], kinds["tool call"], kinds["tool definition"]) == (
        1,
        1,
        1,
        1,
    )
    said = list(facts_of(second))
    assert Fact(kind="tool result", text="Berth 7 east", id=said_id(said)) in said
    assert any("erth 7 east." in fact.text for fact in said if fact.kind == "assistant")
    assert {fact.reason for fact in said if fact.kind == "finish reason"} == {"stop"}


def said_id(facts: list[Fact]) -> str:
    """Return the id of the only call."""
    (id_,) = {fact.id for fact in facts if fact.kind == "tool call"}
    return id_


def test_facts_of_googles_api() -> None:
    """Chunks of a stream are one answer; thoughts are left out."""
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "At "}]}}]},
        {
            "candidates": [{"content": {"parts": [{"text": "noon."}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2},
        },
    ]
    body = b"".join(b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks)
    found = list(
        facts_of(
            Exchange(
                api="gemini",
                request={"contents": [{"role": "user", "parts": [{"text": "When?"}]}]},
                status=200,
                content_type="text/event-stream",
                body=body,
            )
        )
    )
    assert found == [
        Fact(kind="user", text="When?"),
        Fact(kind="assistant", text="At noon."),
        Fact(kind="tokens", name="input", value=4),
        Fact(kind="tokens", name="output", value=2),
        Fact(kind="finish reason", value="STOP", reason="stop"),
    ]


def test_without_telemetry_everything_is_omitted() -> None:
    """What nobody sent is no loss of ours."""
    result = compare([exchange(recording) for recording in OPENAI[0].recordings], [])
    assert {finding.fate for finding in result.findings} == {"omitted"}
    assert (result.calls, result.exchanges) == (0, 2)


def test_a_limit_of_tokens_is_no_count() -> None:
    """That a call may have five tokens does not say that it had."""
    limits = {"gen_ai.request.max_tokens": 5, "params": '{"thinking": {"budget_tokens": 6}}'}
    told = span(attributes=limits | {"gen_ai.usage.output_tokens": 7})
    batch = Batch("traces", Decoded(items=lambda: [told], accepted=1, rejected=0, reason=""))
    entry = Entry(
        received_ns=0, receiver="http", signal="traces", encoding="proto", items=1, body=b""
    )
    assert Sent([(entry, batch)]).counts == {7}


def test_an_agent_is_told_what_the_recorded_one_was() -> None:
    """System prompt, user's words, tools and their results, up to the last answer."""
    asked, streamed = ANTHROPIC[0].recordings
    last = msgspec.structs.replace(
        streamed,
        headers=asked.headers,
        body=msgspec.json.encode(exchange(streamed).answer),
    )
    made = agent_task(Cassette(name="own/run", recordings=(asked, last, last)))
    assert made is not None
    cassette, task = made
    assert cassette.recordings == (asked, last)
    assert task["user"] == "Where does the Marigold lie?"
    assert task["results"] == {"berth": ["Berth 7 east"]}
    assert [tool["name"] for tool in task["tools"]] == ["berth"]
    assert agent_task(ANTHROPIC[0]) is None  # half of it is a stream
    assert agent_task(ANTHROPIC[1]) is None
