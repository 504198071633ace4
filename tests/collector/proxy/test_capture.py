"""Test that capturing runs beside the calls: within bounds, counted, and never in their way."""

from __future__ import annotations

import gzip
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from collector.errors import JournalFullError
from collector.proxy.about import Names, keyed_hash
from collector.proxy.capture import Span
from collector.proxy.recorder import Recorded
from tests.collector.proxy.provider import LAST, STREAM, Provider, chunk, plain
from tests.collector.proxy.scripts import MESSAGE, message_events
from tests.collector.proxy.standing import KEY, SECRET, Standing, post

ANSWER = msgspec.json.encode(MESSAGE)
ASK = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


def calls(proxy: Standing, number: int) -> None:
    """Make calls on one connection; each must be answered in full."""
    with socket.create_connection(proxy.at, timeout=20) as client:
        for _ in range(number):
            client.sendall(post("/v1/messages", ASK))
            got = b""
            while len(got) < len(plain(ANSWER)):
                got += client.recv(65536)
            assert got == plain(ANSWER)


def crash(_: Recorded) -> Span:
    """End the thread that captures."""
    raise SystemExit


def stumble(_: Recorded) -> Span:
    """Meet a bug."""
    raise LookupError("what was said")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("capture", "max_waiting", "dropped"),
    # A thread that stumbles may be slow to be given the processor: all forty may wait for it.
    [(crash, 10, {"queue_full": 29}), (stumble, 40, {"error": 40})],
)
def test_a_capture_that_dies(
    capture: Callable[[Recorded], Span],
    max_waiting: int,
    dropped: dict[str, int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Calls go on when the capture side is gone, and those that were not captured are counted."""
    with (
        Provider() as provider,
        Standing(provider.url, write=capture, max_waiting=max_waiting) as proxy,
    ):
        provider.script("/v1/messages", plain(ANSWER))
        calls(proxy, 40)
        proxy.stop()

    assert len(provider.asked) == 40
    assert proxy.dropped() == dropped
    assert not proxy.spans
    assert "what was said" not in caplog.text


def test_a_capture_that_hangs_under_load() -> None:
    """Ten clients at once notice nothing of a capture that hangs; what does not fit is counted."""
    on = threading.Event()

    def hang(_: Recorded) -> Span:
        on.wait(60)
        raise JournalFullError("full")

    with Provider() as provider, Standing(provider.url, write=hang, max_waiting=5) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        clients = [threading.Thread(target=calls, args=(proxy, 10)) for _ in range(10)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(60)
        assert proxy.dropped() == {"queue_full": 94}
        on.set()
        proxy.stop()

    assert len(provider.asked) == 100
    assert proxy.dropped() == {"queue_full": 94, "journal_full": 6}


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [({"max_call": 500}, "too_large"), ({"max_held": 500}, "buffer_full")],
)
def test_bounds(bounds: dict[str, Any], reason: str) -> None:
    """A call over the bounds passes and is counted, and leaves its room to the next."""
    with Provider() as provider, Standing(provider.url, **bounds) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        calls(proxy, 3)
        proxy.stop()
        assert proxy.recorder.reserve(bounds.get("max_held", 1 << 24))

    assert proxy.dropped() == {reason: 3}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(ANSWER)),
        ("deflate", zlib.compress(ANSWER)),
        ("gzip", gzip.compress(ANSWER[:40]) + gzip.compress(ANSWER[40:])),
        ("gzip", gzip.compress(ANSWER) + bytes(40)),
        ("zstd", b"".join(zstd.compress(ANSWER[at : at + 9]) for at in range(0, 999, 9))),
        ("identity", ANSWER),
    ],
)
def test_compressed_answers(encoding: str, body: bytes) -> None:
    """The copy is decompressed; what the client gets is not."""
    answer = plain(body, f"Content-Encoding: {encoding}")
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", answer, close=True)
        assert body in proxy.raw(post("/v1/messages", ASK, "Connection: close"))
        proxy.stop()

    assert proxy.spans[0].attributes["gen_ai.response.id"] == "msg_7"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (plain(ANSWER, "Content-Encoding: rot13"), "unknown_encoding"),
        (plain(ANSWER, "Content-Encoding: gzip"), "unreadable"),
        (plain(gzip.compress(bytes(3_000_000)), "Content-Encoding: gzip"), "too_large"),
        (plain(gzip.compress(bytes(600_000)) * 2, "Content-Encoding: gzip"), "too_large"),
        (plain(gzip.compress(b"") * 20_000, "Content-Encoding: gzip"), "unreadable"),
    ],
)
def test_answers_that_cannot_be_read(answer: bytes, reason: str) -> None:
    """What nobody can read, or what grows without bound, is passed on and counted."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", answer)
        got = proxy.raw(post("/v1/messages", ASK, "Connection: close"))
        proxy.stop()

    assert got.endswith(answer.partition(b"\r\n\r\n")[2])
    assert proxy.dropped() == {reason: 1}


def test_a_compressed_stream_that_was_cut() -> None:
    """Of a compressed stream that ends in the middle, what came is read."""
    press = zlib.compressobj(wbits=31)
    half = press.compress(b"".join(list(message_events(MESSAGE))[:13])) + press.flush(
        zlib.Z_SYNC_FLUSH
    )
    head = STREAM.replace(b"Request-Id: req_1", b"Content-Encoding: gzip")
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", head + chunk(half), close=True)
        proxy.raw(post("/v1/messages", ASK))
        proxy.stop()

    (answer,) = proxy.said("gen_ai.output.messages")
    assert answer["parts"][-1] == {"type": "text", "content": "I look up "}


def test_who_speaks() -> None:
    """Headers say who speaks, in which conversation and trace, and when it is over."""
    headers = [
        "X-Outrider-Agent: desk",
        "X-Outrider-Agent-Version: 42",
        "X-Outrider-Environment: staging",
        "X-Outrider-Variant: candidate",
        "X-Outrider-Conversation-Id: c-1",
        "X-Outrider-Conversation-End: true",
        "X-Session-Id: other",
        f"traceparent: 00-{'ab' * 16}-{'cd' * 8}-01",
        f"Authorization: Bearer {KEY}",
    ]
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        proxy.raw(post("/v1/messages", ASK, *headers, "Connection: close"))
        proxy.stop()

    (span,) = proxy.spans
    assert span.attributes["gen_ai.agent.name"] == "desk"
    assert span.attributes["gen_ai.agent.version"] == "42"
    assert span.attributes["gen_ai.conversation.id"] == "c-1"
    assert span.attributes["outrider.conversation.end"] is True
    assert span.attributes["outrider.variant"] == "candidate"
    assert span.resource["deployment.environment.name"] == "staging"
    assert (span.trace_id, span.parent_id) == ("ab" * 16, "cd" * 8)
    assert proxy.entries[0].credential == keyed_hash(SECRET, KEY)
    assert KEY.encode() not in proxy.entries[0].body


@pytest.mark.parametrize(
    ("headers", "names", "agent", "version"),
    [
        ((), Names(agent="desk", agent_version="7"), "desk", "7"),
        (("User-Agent: claude-cli/2.1.0 (external, cli)",), Names(), "claude-cli", "2.1.0"),
        (("User-Agent: AsyncOpenAI/Python 3.57.0",), Names(), "AsyncOpenAI/Python", None),
        ((), Names(), "anthropic", None),
    ],
)
def test_who_speaks_when_nobody_says_it(
    headers: tuple[str, ...], names: Names, agent: str, version: str | None
) -> None:
    """Else the configuration says it, else the client's own name."""
    with Provider() as provider, Standing(provider.url, names=names) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        proxy.raw(post("/v1/messages", ASK, *headers, "Connection: close"))
        proxy.stop()

    resource = proxy.spans[0].resource
    assert (resource["service.name"], resource.get("service.version")) == (agent, version)


@pytest.mark.parametrize(
    "header", ["x-api-key: " + KEY, "Authorization: Bearer " + KEY, "authorization: bearer " + KEY]
)
def test_the_credential_is_the_key_however_it_is_shown(header: str) -> None:
    """Old and new clients show one key in two ways; it is one credential."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        proxy.raw(post("/v1/messages", ASK, header, "Connection: close"))
        proxy.stop()

    assert [entry.credential for entry in proxy.entries] == [keyed_hash(SECRET, KEY)]


@pytest.mark.parametrize(
    ("path", "ask"),
    [
        ("/v1/messages", b"no JSON"),
        ("/v1/messages", b'{"messages": "x", "system": 7, "tools": {"a": 1}}'),
        ("/v1/messages", b'{"messages":[null,7,{"role":[],"content":[7,{"type":7}]}]}'),
        ("/v1/chat/completions", b'{"messages":[{"tool_calls":[7,{"function":[]}]}],"tools":[[]]}'),
        ("/v1/responses", b'{"input":[7,{"type":"x_call","action":7}],"tools":[{}]}'),
        ("/v1/responses", b'["input"]'),
    ],
)
def test_bodies_of_any_shape(path: str, ask: bytes) -> None:
    """Whatever stands in a body is passed on; it is captured as far as it can be read."""
    answers: list[Any] = [plain(b'[{"content": {}}]'), STREAM + chunk(b"data: [1]\n\n") + LAST]
    with Provider() as provider, Standing(provider.url) as proxy:
        for answer in answers:
            provider.script(path, answer)
        for answer in answers:
            got = proxy.raw(post(path, ask, "Connection: close"))
            assert got.endswith(answer[-20:])
        proxy.stop()

    assert "error" not in proxy.dropped()
    assert sum(proxy.dropped().values()) + len(proxy.spans) == 2


def test_a_text_that_was_cut_inside_a_character() -> None:
    """A call whose request or answer holds half a character is captured, whole or streamed."""
    half = rb"cut \ud83d"
    message = MESSAGE | {"content": [{"type": "text", "text": "~"}]}
    answer = plain(msgspec.json.encode(message).replace(b"~", half))
    streamed = b"".join(chunk(event.replace(b"~", half)) for event in message_events(message))
    ask = ASK.replace(b"hi", half)
    with Provider() as provider, Standing(provider.url) as proxy:
        for whole in (answer, STREAM + streamed + LAST):
            provider.script("/v1/messages", whole)
            proxy.raw(post("/v1/messages", ask, "Connection: close"))
        proxy.stop()

    assert (proxy.dropped(), len(proxy.spans)) == ({}, 2)
    for number in (0, 1):
        assert "cut \ufffd" in str(proxy.said("gen_ai.input.messages", number))
        assert "cut \ufffd" in str(proxy.said("gen_ai.output.messages", number))


def test_pictures_become_digests() -> None:
    """Encoded content is replaced before anything is written."""
    picture = "iVBORw0KGgo" * 200
    source = {"type": "base64", "media_type": "image/png", "data": picture}
    ask = {
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": source}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "content": [
                            {"type": "text", "text": "see"},
                            {"type": "image", "source": source},
                        ],
                    }
                ],
            },
        ]
    }
    url = {"image_url": {"url": f"data:image/png;base64,{picture}"}, "type": "image_url"}
    asked_of_openai = {"messages": [{"role": "user", "content": [url]}]}
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        provider.script("/v1/chat/completions", plain(b"{}"))
        proxy.raw(post("/v1/messages", msgspec.json.encode(ask), "Connection: close"))
        body = msgspec.json.encode(asked_of_openai)
        proxy.raw(post("/v1/chat/completions", body, "Connection: close"))
        proxy.stop()

    assert not any(b"iVBORw0KGgo" in entry.body for entry in proxy.entries)
    digests = [proxy.said("gen_ai.input.messages", n)[0]["parts"][0]["digest"] for n in (0, 1)]
    assert digests[0] == digests[1]
    assert digests[0].startswith("sha256:")


def test_waiting_costs_the_call_nothing() -> None:
    """A call is answered while the capture of the one before it is still at work."""
    begun, on = threading.Event(), threading.Event()

    def slow(_: Recorded) -> Span:
        begun.set()
        on.wait(60)
        raise JournalFullError("full")

    with Provider() as provider, Standing(provider.url, write=slow) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        calls(proxy, 1)
        assert begun.wait(20)
        calls(proxy, 5)
        assert not on.is_set()
        on.set()
        time.sleep(0)


@pytest.mark.parametrize("cut", [(), (b"\n",)])
@pytest.mark.parametrize("type_", [b"text/event-stream; charset=utf-8", b"text/plain"])
def test_streams_that_are_a_little_off(cut: tuple[bytes, ...], type_: bytes) -> None:
    """A stream whose last empty line is missing, or whose type is not told, is read all the same."""
    stream = b"".join(message_events(MESSAGE))
    for end in cut:
        stream = stream.removesuffix(end)
    head = STREAM.replace(b"text/event-stream; charset=utf-8", type_)
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", head + chunk(stream) + LAST)
        proxy.raw(post("/v1/messages", ASK, "Connection: close"))
        proxy.stop()

    assert proxy.spans[0].attributes["gen_ai.response.finish_reasons"] == ["tool_use"]
    assert "outrider.stream.aborted" not in proxy.spans[0].attributes


def test_a_call_that_is_marked_as_not_the_agents() -> None:
    """A judge's call passes without its mark, is counted, and makes no span."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(ANSWER))
        mark = "X-Outrider-Own: judge"
        assert ANSWER in proxy.raw(post("/v1/messages", ASK, mark, "Connection: close"))
        proxy.stop()

    (asked,) = provider.asked
    assert asked.header("x-outrider-own") is None
    assert (proxy.spans, proxy.dropped()) == ([], {"own": 1})
