"""Test the candidate that is asked again: kept under its variant, and never in a call's way."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from collector.proxy.shadow import ShadowOrders
from tests.collector.proxy.provider import STREAM, Provider, chunk, plain
from tests.collector.proxy.scripts import (
    COMPLETION,
    MESSAGE,
    completion_events,
    message_events,
    streamed,
)
from tests.collector.proxy.standing import KEY, Standing, post
from tests.e2e.served import eventually

ANSWER = plain(msgspec.json.encode(MESSAGE))
OTHER = {**MESSAGE, "id": "msg_c", "content": [{"type": "text", "text": "Candidate."}]}
ASK = b'{"model": "m",  "messages":[{"role":"user","content":"hi \\u00fc"}],"max_tokens":1e2}'
PATH = "/v1/messages"
OWN_KEY = "sk-of-the-candidate"


@pytest.fixture
def orders(tmp_path: Path) -> Callable[..., ShadowOrders]:
    """Make what a shadow is told."""

    def made(url: str, **changed: Any) -> ShadowOrders:
        usual = ShadowOrders(
            share=1.0,
            provider="anthropic",
            model="candidate-2",
            base_url=url,
            key=OWN_KEY,
            caller_key=False,
            variant="shadow",
            timeout_s=60.0,
            most_at_once=4,
            most_a_day=100,
            ledger=str(tmp_path / "ledger"),
        )
        return msgspec.structs.replace(usual, **changed)

    return made


Orders = Callable[..., ShadowOrders]


def call(proxy: Standing, *headers: str, ask: bytes = ASK, path: str = PATH) -> bytes:
    """Make a call."""
    return proxy.raw(post(path, ask, *headers, "Connection: close"))


def settled(proxy: Standing, number: int = 1) -> dict[str, int]:
    """Wait until so many shadows are over, and return what became of them."""
    eventually(lambda: sum(proxy.shadows().values()) >= number, "the shadow is over")
    return proxy.shadows()


def test_a_pair(orders: Orders) -> None:
    """The candidate gets the same request but for the model; both calls are kept as one pair."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(f"{candidate.url}/there/")) as proxy,
    ):
        provider.script(PATH, ANSWER)
        candidate.script(f"/there{PATH}", plain(msgspec.json.encode(OTHER)))
        assert call(
            proxy,
            "X-Api-Key: " + KEY,
            "Anthropic-Version: 2023-06-01",
            "X-Gateway-Auth: secret",
            "X-Outrider-Agent: desk",
            "X-Outrider-Conversation-Id: c-1",
            f"traceparent: 00-{'ab' * 16}-{'cd' * 8}-01",
        ).endswith(ANSWER[-50:])
        assert settled(proxy) == {"ok": 1}
        proxy.stop()

    (asked,) = candidate.asked
    same = b'"messages":[{"role":"user","content":"hi \\u00fc"}],"max_tokens":1e2}'
    assert asked.body == b'{"model":"candidate-2",' + same
    assert asked.header("x-api-key") == OWN_KEY
    assert asked.header("anthropic-version") == "2023-06-01"
    assert asked.header("x-gateway-auth") is None
    assert KEY.encode() not in asked.head
    production, second = proxy.spans
    pair = production.attributes["outrider.pair.id"]
    assert pair == second.attributes["outrider.pair.id"]
    assert "outrider.variant" not in production.attributes
    assert second.attributes["outrider.variant"] == "shadow"
    assert second.attributes["gen_ai.agent.name"] == "desk"
    assert second.attributes["outrider.conversation.end"] is True
    assert second.attributes["gen_ai.conversation.id"] == f"shadow-{pair!s}"
    assert second.attributes["gen_ai.request.model"] == "candidate-2"
    assert second.trace_id != production.trace_id
    assert proxy.said("gen_ai.output.messages")[0]["parts"][0]["content"] == "Candidate."
    assert proxy.said("gen_ai.input.messages", 0) == proxy.said("gen_ai.input.messages", 1)
    assert proxy.entries[0].credential == proxy.entries[1].credential
    assert not any(OWN_KEY.encode() in entry.body for entry in proxy.entries)


def test_a_stream_stays_one(orders: Orders) -> None:
    """A streamed call is a streamed shadow, read by the same reader; so are OpenAI's."""
    path, ask = "/v1/chat/completions", b'{"model":"m","stream":true,"messages":[]}'
    with Provider() as provider, Provider() as candidate:
        told = orders(candidate.url, provider="openai")
        with Standing(provider.url, shadow=told) as proxy:
            for side in (provider, candidate):
                side.script(path, *streamed(completion_events(COMPLETION)))
            call(proxy, f"Authorization: Bearer {KEY}", ask=ask, path=path)
            assert settled(proxy) == {"ok": 1}
            proxy.stop()

    (asked,) = candidate.asked
    assert msgspec.json.decode(asked.body)["stream"] is True
    assert asked.header("authorization") == f"Bearer {OWN_KEY}"
    first, second = (proxy.said("gen_ai.output.messages", n) for n in (0, 1))
    assert first == second
    assert len(first[0]["parts"]) == 3


def test_the_callers_key(orders: Orders) -> None:
    """The caller's key is shown to the candidate where the user says so; without base URL it goes where the call went."""
    with Provider() as provider:
        told = orders("", key="", caller_key=True)
        with Standing(provider.url, shadow=told) as proxy:
            provider.script(PATH, ANSWER)
            call(proxy, f"X-Api-Key: {KEY}")
            assert settled(proxy) == {"ok": 1}
            proxy.stop()

    assert [asked.header("x-api-key") for asked in provider.asked] == [KEY, KEY]
    assert b"candidate-2" in provider.asked[1].body


def test_a_compressed_request(orders: Orders) -> None:
    """What the client compressed is sent plain."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(candidate.url, model="")) as proxy,
    ):
        provider.script(PATH, ANSWER)
        candidate.script(PATH, ANSWER)
        call(proxy, "Content-Encoding: gzip", ask=gzip.compress(ASK))
        settled(proxy)

    assert msgspec.json.decode(candidate.asked[0].body) == msgspec.json.decode(ASK)
    assert candidate.asked[0].header("content-encoding") is None


@pytest.mark.parametrize(
    ("answer", "close", "result"),
    [
        ((plain(b"{}", status="529 Overloaded"),), False, "refused"),
        ((b"no HTTP\r\n\r\n",), True, "broken"),
        ((), True, "broken"),
        ((STREAM + chunk(b"".join(message_events(MESSAGE))[:300]),), True, "broken"),
        ((plain(b"x" * (5 << 20)),), False, "too_large"),
    ],
    ids=["refuses", "speaks another language", "hangs up", "cut off", "too much"],
)
def test_a_candidate_that_fails(
    orders: Orders, answer: tuple[bytes, ...], close: bool, result: str
) -> None:
    """Whatever a candidate does, the call is what it was, and the result is counted."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(candidate.url)) as proxy,
    ):
        provider.script(PATH, ANSWER)
        candidate.script(PATH, *answer, close=close)
        for number in (1, 2):
            assert call(proxy).endswith(ANSWER[-50:])
            assert settled(proxy, number) == {result: number}
        proxy.stop()

    assert proxy.spans[0].attributes["gen_ai.response.id"] == "msg_7"


def test_nobody_listens(orders: Orders) -> None:
    """A candidate that is down costs nothing but its count."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    with Provider() as provider, Standing(provider.url, shadow=orders(url)) as proxy:
        provider.script(PATH, ANSWER)
        assert call(proxy).endswith(ANSWER[-50:])
        assert settled(proxy) == {"unreachable": 1}


def test_a_candidate_that_hangs(orders: Orders) -> None:
    """Calls go on while a candidate hangs; those beyond the bound are left out, and it is given up."""
    never = threading.Event()
    with Provider() as provider, Provider() as candidate:
        told = orders(candidate.url, most_at_once=2)
        with Standing(provider.url, shadow=told) as proxy:
            provider.script(PATH, ANSWER)
            candidate.script(PATH, STREAM, never)
            for _ in range(6):
                assert call(proxy).endswith(ANSWER[-50:])
            assert settled(proxy, 4) == {"busy": 4}
            eventually(lambda: len(candidate.asked) == 2, "both were asked")
            proxy.stop()
            assert proxy.shadows() == {"busy": 4, "stopped": 2}
        assert candidate.gone.wait(20)

    pairs = ["outrider.pair.id" in span.attributes for span in proxy.spans]
    assert sorted(pairs) == [False] * 4 + [True] * 2


def test_a_candidate_that_takes_too_long(orders: Orders) -> None:
    """An answer that does not end in time is given up and its connection closed."""
    with Provider() as provider, Provider() as candidate:
        told = orders(candidate.url, timeout_s=0.2)
        with Standing(provider.url, shadow=told) as proxy:
            provider.script(PATH, ANSWER)
            candidate.script(PATH, STREAM, threading.Event())
            call(proxy)
            assert settled(proxy) == {"timeout": 1}
        assert candidate.gone.wait(20)


def test_the_budget(orders: Orders) -> None:
    """So many calls are asked again in a day, a start of the process in between included."""
    with Provider() as provider, Provider() as candidate:
        told = orders(candidate.url, most_a_day=3)
        results = {}
        for _ in range(2):
            with Standing(provider.url, shadow=told) as proxy:
                provider.script(PATH, ANSWER)
                candidate.script(PATH, ANSWER)
                for number in (1, 2):
                    call(proxy)
                    results = settled(proxy, number)

    assert results == {"ok": 1, "budget": 1}
    assert len(candidate.asked) == 3


@pytest.mark.parametrize(
    ("ask", "result"),
    [
        ({"model": "m", "conversation": "conv_1"}, "stateful"),
        ({"model": "m", "previous_response_id": "resp_1"}, "stateful"),
        ({"model": "m", "container": "c_1"}, "stateful"),
        ({"model": "m", "mcp_servers": [{"url": "https://x.example"}]}, "remote_tools"),
        ({"model": "m", "tools": [{"type": "function"}, {"type": "mcp"}]}, "remote_tools"),
        ({"model": "m", "tools": {}}, "unreadable"),
        ({"prompt": "x"}, "unreadable"),
        (["m"], "unreadable"),
        ({"model": "m", "input": "x" * (3 << 20)}, "too_large"),
    ],
)
def test_what_is_not_asked_again(orders: Orders, ask: Any, result: str) -> None:
    """A second call must do nothing but answer: what the provider keeps, or runs elsewhere, is left alone."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(candidate.url), max_call=1 << 23) as proxy,
    ):
        provider.script(PATH, ANSWER)
        assert call(proxy, ask=msgspec.json.encode(ask)).endswith(ANSWER[-50:])
        assert settled(proxy) == {result: 1}

    assert not candidate.asked


@pytest.mark.parametrize(
    ("share", "headers", "answer"),
    [
        (1.0, ("X-Outrider-Variant: canary",), ANSWER),
        (1.0, (), plain(b"{}", status="429 Too Many Requests")),
        (0.5, (), ANSWER),  # the dice of these tests show 0.5
    ],
    ids=["an experiment already", "a failed call", "outside the share"],
)
def test_whose_calls_are_not_chosen(
    orders: Orders, share: float, headers: tuple[str, ...], answer: bytes
) -> None:
    """Calls of other variants, failed ones and those outside the share are left alone, uncounted."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(candidate.url, share=share)) as proxy,
    ):
        provider.script(PATH, answer)
        candidate.script(PATH, ANSWER)
        call(proxy, *headers)
        proxy.stop()

    assert proxy.shadows() == {}
    assert not candidate.asked


def test_a_conversation_is_chosen_as_a_whole(orders: Orders) -> None:
    """Of a named conversation all calls are asked again or none; of the names, about the share."""
    names = [f"c-{number}" for number in range(40)]
    with Provider() as provider, Provider() as candidate:
        told = orders(candidate.url, share=0.5, most_at_once=64)
        with Standing(provider.url, shadow=told, max_waiting=1000) as proxy:
            provider.script(PATH, ANSWER)
            candidate.script(PATH, ANSWER)
            for _ in range(2):
                for name in names:
                    call(proxy, f"X-Session-Id: {name}")
            eventually(lambda: len(proxy.spans) >= 80 + len(candidate.asked), "all was captured")
            proxy.stop()

    paired = [
        span.attributes["gen_ai.conversation.id"]
        for span in proxy.spans
        if "outrider.variant" not in span.attributes and "outrider.pair.id" in span.attributes
    ]
    assert 8 < len(set(paired)) < 32
    assert all(paired.count(name) == 2 for name in paired)
    assert len({s.attributes.get("outrider.pair.id") for s in proxy.spans}) == len(paired) + 1


def test_a_pair_id_that_the_client_gave(orders: Orders) -> None:
    """It is kept, and the shadow shares it."""
    with (
        Provider() as provider,
        Provider() as candidate,
        Standing(provider.url, shadow=orders(candidate.url)) as proxy,
    ):
        provider.script(PATH, ANSWER)
        candidate.script(PATH, ANSWER)
        call(proxy, "X-Outrider-Pair-Id: p-1")
        settled(proxy)
        proxy.stop()

    assert [span.attributes["outrider.pair.id"] for span in proxy.spans] == ["p-1", "p-1"]


def test_a_shadow_of_a_shadow(orders: Orders) -> None:
    """A candidate behind a gateway that calls through a proxy of ours again is asked once, and captured once."""
    with (
        Provider() as provider,
        Standing(provider.url, shadow=orders(provider.url)) as gateway,
        Standing(provider.url, shadow=orders(gateway.url)) as proxy,
    ):
        provider.script(PATH, ANSWER)
        call(proxy)
        assert settled(proxy) == {"ok": 1}
        proxy.stop()
        gateway.stop()

    assert len(provider.asked) == 2
    assert len(proxy.spans) == 2
    assert (gateway.spans, gateway.shadows(), gateway.dropped()) == ([], {}, {"own": 1})
