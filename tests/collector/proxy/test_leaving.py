"""Test what happens when one side goes away."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.collector.proxy.provider import STREAM, Provider, chunk, event, plain
from tests.collector.proxy.scripts import MESSAGE, message_events
from tests.collector.proxy.standing import Standing, post

ASK = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
HALF = b"".join(list(message_events(MESSAGE))[:13])
"""Up to somewhere in the text."""


def eventually(true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_closed(at: tuple[str, int]) -> bool:
    """Say whether nobody takes connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(at) != 0


def test_a_client_that_leaves_ends_the_upstreams_call() -> None:
    """What nobody reads any more is not paid for: the upstream's connection closes at once."""
    never = threading.Event()
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", STREAM + chunk(HALF), never)
        client = socket.create_connection(proxy.at, timeout=20)
        client.sendall(post("/v1/messages", ASK))
        got = b""
        while not got.endswith(chunk(HALF)):
            got += client.recv(65536)
        client.close()
        assert provider.gone.wait(20)
        proxy.stop()

    (span,) = proxy.spans
    assert span.attributes["outrider.stream.aborted"] == "client"
    assert span.attributes["error.type"] == "cancelled"
    (answer,) = proxy.said("gen_ai.output.messages")
    assert [part["content"] for part in answer["parts"]] == [
        "Two towns, so two calls.",
        "I look up ",
    ]
    assert answer["finish_reason"] == ""


def test_a_client_that_leaves_before_the_answer() -> None:
    """A call that was cancelled while the model was silent is cancelled behind us too."""
    never = threading.Event()
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", never)
        client = socket.create_connection(proxy.at, timeout=20)
        client.sendall(post("/v1/messages", ASK))
        eventually(lambda: bool(provider.asked))
        client.close()
        assert provider.gone.wait(20)
        proxy.stop()

    assert proxy.spans[0].attributes["outrider.stream.aborted"] == "client"
    assert "gen_ai.output.messages" not in proxy.spans[0].attributes


def test_an_upstream_that_leaves_in_the_middle() -> None:
    """The client gets what came, and an end that it can tell from a real one."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", STREAM + chunk(HALF), close=True)
        got = proxy.raw(post("/v1/messages", ASK))
        proxy.stop()

    assert got == STREAM + chunk(HALF)
    assert proxy.spans[0].attributes["outrider.stream.aborted"] == "upstream"
    assert proxy.spans[0].attributes["error.type"] == "aborted"


def test_an_upstream_that_leaves_without_an_answer() -> None:
    """The client sees what it would have seen without us: a connection that closed."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", b"", close=True)
        assert proxy.raw(post("/v1/messages", ASK)) == b""
        proxy.stop()

    assert proxy.spans[0].attributes["outrider.stream.aborted"] == "upstream"


def test_an_error_in_the_middle_of_a_stream() -> None:
    """An error event passes as it is, and stands in the span."""
    problem = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    stream = STREAM + chunk(HALF) + chunk(event(problem, "error")) + b"0\r\n\r\n"
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", stream, close=True)
        assert proxy.raw(post("/v1/messages", ASK, "Connection: close")).endswith(stream[-200:])
        proxy.stop()

    assert proxy.spans[0].attributes["error.type"] == "overloaded_error"
    assert "outrider.stream.aborted" not in proxy.spans[0].attributes


def test_a_stream_that_ends_too_early() -> None:
    """A stream that closes in good order without its last event was cut off all the same."""
    stream = STREAM + chunk(HALF) + b"0\r\n\r\n"
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", stream)
        proxy.raw(post("/v1/messages", ASK, "Connection: close"))
        proxy.stop()

    assert proxy.spans[0].attributes["outrider.stream.aborted"] == "upstream"


def test_thoughts_of_a_response_that_was_cut() -> None:
    """What the model thought before the stream broke off is kept, part by part."""
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    added: dict[str, Any] = {"type": "response.output_item.added", "output_index": 0, "item": item}
    thoughts = [
        ("response.reasoning_summary_text.delta", "summary_index", 0, "Two "),
        ("response.reasoning_summary_text.delta", "summary_index", 0, "towns."),
        ("response.reasoning_summary_text.delta", "summary_index", 1, "Two calls."),
        ("response.reasoning_text.delta", "content_index", 0, "Ulm fi"),
    ]
    deltas: list[dict[str, Any]] = [
        {"type": kind, "output_index": 0, "item_id": "rs_1", where: place, "delta": said}
        for kind, where, place, said in thoughts
    ]
    stream = b"".join(event(data, data["type"]) for data in (added, *deltas))
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/responses", STREAM + chunk(stream), close=True)
        proxy.raw(post("/v1/responses", b'{"model":"m","stream":true,"input":"hi"}'))
        proxy.stop()

    assert proxy.spans[0].attributes["outrider.stream.aborted"] == "upstream"
    said = str(proxy.said("gen_ai.output.messages"))
    for words in ("Two towns.", "Two calls.", "Ulm fi"):
        assert words in said


def test_an_answer_before_the_request_is_over() -> None:
    """A client whose upload is refused reads the refusal."""
    refusal = plain(b'{"error":"too large"}', "Connection: close", status="413 Too Large")
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", refusal, close=True)
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n")
            client.sendall(b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"x" * 1000))
            # The provider here reads up to a chunk that ends so, though more was to come.
            client.sendall(chunk(b"0\r\n\r\n")[:-2])
            got = b""
            while more := client.recv(65536):
                got += more

    assert got.endswith(b'{"error":"too large"}')


def test_an_idle_upstream_that_closes() -> None:
    """A kept connection whose upstream closes is closed for the client too, not found dead later."""
    with Provider() as provider, Standing(provider.url) as proxy:
        provider.script("/v1/messages", plain(b"{}"), 0.05, close=True)
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.sendall(post("/v1/messages", ASK))
            got = b""
            while more := client.recv(65536):
                got += more

    assert got == plain(b"{}")


def test_a_stop_waits_for_calls_under_way() -> None:
    """Told to stop, the proxy takes no new client, and lets a stream come to its end."""
    on = threading.Event()
    with Provider() as provider, Standing(provider.url, drain_timeout_s=20) as proxy:
        provider.script("/v1/messages", STREAM + chunk(b"one"), on, chunk(b"two") + b"0\r\n\r\n")
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.sendall(post("/v1/messages", ASK))
            got = client.recv(65536)
            proxy.server.stop()
            eventually(lambda: is_closed(proxy.at))
            on.set()
            while more := client.recv(65536):
                got += more

    assert got.endswith(chunk(b"two") + b"0\r\n\r\n")


def test_a_stop_does_not_wait_for_ever() -> None:
    """A stream that outlasts the drain is cut."""
    never = threading.Event()
    with Provider() as provider, Standing(provider.url, drain_timeout_s=0.1) as proxy:
        provider.script("/v1/messages", STREAM + chunk(b"one"), never)
        with socket.create_connection(proxy.at, timeout=20) as client:
            client.sendall(post("/v1/messages", ASK))
            assert client.recv(65536)
            proxy.stop()
            assert provider.gone.wait(20)
