"""Test the LLM proxy in a whole process: what goes through it becomes scored conversations."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.collector.proxy.provider import Provider, plain
from tests.collector.proxy.scripts import message_events, streamed
from tests.e2e.relay import Relay
from tests.e2e.served import Served, eventually, free_ports

KEYS = ("sk-ant-first-key-0123456789abcdef", "sk-ant-second-key-fedcba9876543210")
USER = "grace@example.org"
WORDS = ("Is my bike ready?", "When can I fetch it?", "Is it open on Sunday?", "And on Monday?")


def reply(number: int, key: int) -> dict[str, Any]:
    """Write what the model says in one call: first a tool call, then words."""
    content: list[dict[str, Any]] = [{"type": "text", "text": f"Answer {number}."}]
    if number == 0:
        call = {"type": "tool_use", "id": f"tu_{key}", "name": "find_repair", "input": {"n": 7}}
        content = [{"type": "text", "text": "I look."}, call]
    return {
        "id": f"msg_{key}_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-small-9",
        "content": content,
        "stop_reason": "end_turn" if number else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def converse(url: str, key: int, *, stream: bool) -> None:
    """Hold one conversation without any id, every call with the whole history."""
    messages: list[Any] = [{"role": "user", "content": WORDS[0]}]
    with httpx.Client(trust_env=False, timeout=30) as client:
        for number in range(len(WORDS) + 1):
            answer = client.post(
                f"{url}/v1/messages",
                headers={"x-api-key": KEYS[key], "user-agent": "bike-desk/3.1"},
                json={
                    "model": "claude-small",
                    "max_tokens": 100,
                    "system": "You work at a bicycle shop.",
                    "messages": messages,
                    "stream": stream,
                    "metadata": {"user_id": USER},
                },
            )
            assert answer.status_code == 200
            messages.append({"role": "assistant", "content": reply(number, key)["content"]})
            if number == 0:
                result = {"type": "tool_result", "tool_use_id": f"tu_{key}", "content": "ready"}
                messages.append({"role": "user", "content": [result]})
            elif number < len(WORDS):
                messages.append({"role": "user", "content": WORDS[number]})


def takes_calls(port: int) -> bool:
    """Say whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def everything_written(served: Served) -> bytes:
    """Read every file of the data directory, the log and the metrics."""
    written = [path.read_bytes() for path in served.data_dir.rglob("*") if path.is_file()]
    scrape = served.client.get(f"{served.metrics}/metrics").content
    return b"\n".join([*written, served.errors.read_bytes(), scrape])


def test_turns_join_without_ids_and_streams_are_as_good(tmp_path: Path) -> None:
    """Five calls are one conversation, streamed or not; the key and the user are written nowhere."""
    (port,) = free_ports(1)
    with (
        Provider() as provider,
        Served(
            tmp_path / "data",
            PROXY__ADDRESS=f"127.0.0.1:{port}",
            PROXY__ANTHROPIC=provider.url,
            PROXY__OPENAI=provider.url,
            TELEMETRY__LOG_LEVEL="debug",
        ) as served,
    ):
        for number in range(len(WORDS) + 1):
            provider.script("/v1/messages", plain(msgspec.json.encode(reply(number, 0))))
        for number in range(len(WORDS) + 1):
            provider.script("/v1/messages", *streamed(message_events(reply(number, 1))))
        url = f"http://127.0.0.1:{port}"
        eventually(lambda: takes_calls(port), "the proxy takes calls")
        converse(url, 0, stream=False)
        converse(url, 1, stream=True)
        eventually(
            lambda: served.value("spans_received_total", receiver="proxy") == 10,
            "the calls are captured",
        )
        served.settled(2)
        conversations = served.export("conversations")
        written = everything_written(served)
        assert served.value("proxy_responses_total", upstream="anthropic", status="200") == 10
        assert served.value("proxy_capture_dropped_total") == 0
        assert json.loads((served.data_dir / "serve.json").read_text())["proxy"] == url[7:]

    assert len(conversations) == 2
    one, other = conversations
    assert one["conversation_id"] != other["conversation_id"]
    said = [message["text"] for message in one["messages"] if message["role"] == "user"]
    assert said == list(WORDS)
    assert len(one["llm_calls"]) == 5
    (call,) = one["tool_calls"]
    assert (call["name"], call["arguments"], call["result"]) == ("find_repair", {"n": 7}, "ready")
    assert one["identity"]["agent"] == "bike-desk"
    assert one["identity"]["agent_version"] == "3.1"
    assert [m["text"] for m in one["messages"]] == [m["text"] for m in other["messages"]]
    assert [c["tokens"] for c in one["llm_calls"]] == [c["tokens"] for c in other["llm_calls"]]
    assert {asked.header("x-api-key") for asked in provider.asked} == set(KEYS)
    for secret in (*KEYS, USER):
        assert secret.encode() not in written


def test_a_candidate_beside_and_a_backend_behind(tmp_path: Path) -> None:
    """Each call is asked of the candidate too, in conversations of its own that name their pair; what is exported, here back to us by a Collector, is no further call."""
    (port,) = free_ports(1)
    served = Served(tmp_path / "data")
    with Provider() as provider, Provider() as candidate, Relay(served.receive) as collector:
        served.settings |= {
            "PROXY__ADDRESS": f"127.0.0.1:{port}",
            "PROXY__ANTHROPIC": provider.url,
            "PROXY__SHADOW__SHARE": "1",
            "PROXY__SHADOW__PROVIDER": "anthropic",
            "PROXY__SHADOW__MODEL": "claude-next",
            "PROXY__SHADOW__BASE_URL": candidate.url,
            "PROXY__SHADOW__KEY": KEYS[1],
            "PROXY__SHADOW__MAX_CONCURRENT": "64",
            "PROXY__EXPORT__ENDPOINT": collector.url,
        }
        with served:
            for number in range(len(WORDS) + 1):
                provider.script("/v1/messages", plain(msgspec.json.encode(reply(number, 0))))
            candidate.script("/v1/messages", plain(msgspec.json.encode(reply(9, 1))))
            eventually(lambda: takes_calls(port), "the proxy takes calls")
            converse(f"http://127.0.0.1:{port}", 0, stream=False)
            eventually(
                lambda: served.value("spans_received_total", receiver="otlp_http") == 10,
                "what was captured is exported",
            )
            served.settled(6)
            conversations = served.export("conversations")
            written = everything_written(served)
            assert served.value("proxy_shadow_total", result="ok") == 5
            assert served.value("proxy_export_total", result="sent") == 10

    by_variant: dict[str, list[Any]] = {"production": [], "shadow": []}
    for conversation in conversations:
        by_variant[conversation["identity"]["variant"]].append(conversation)
    (production,) = by_variant["production"]
    assert len(production["llm_calls"]) == 5
    shadows = by_variant["shadow"]
    assert len(shadows) == 5
    assert all(shadow["messages"][-1]["text"] == "Answer 9." for shadow in shadows)
    assert {len(shadow["llm_calls"]) for shadow in shadows} == {1}
    pairs = {shadow["identity"]["pair_id"] for shadow in shadows}
    assert len(pairs) == 5
    assert production["identity"]["pair_id"] in pairs
    assert {asked.header("x-api-key") for asked in candidate.asked} == {KEYS[1]}
    for secret in KEYS:
        assert secret.encode() not in written
