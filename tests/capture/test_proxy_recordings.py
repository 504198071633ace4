"""Test that recorded streams pass the proxy byte by byte, and are captured as if unstreamed.

Each is played to the provider's own client, in pieces that cut its events anywhere. What that client
makes of the stream is then the answer of the same call unstreamed: both captures must say the same.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import msgspec
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from tests.capture.recordings import APIS, Api, Recording, cassettes
from tests.collector.proxy.provider import LAST, STREAM, Provider, chunk, plain
from tests.collector.proxy.standing import KEY, Standing
from tests.e2e.served import eventually

ROOT = Path(os.environ.get("OUTRIDER_CORPORA", "../shared/corpora")) / "recordings"
PIECE = 113
STREAM_ONLY = {"gen_ai.request.stream", "gen_ai.response.time_to_first_chunk"}
JSON = {
    "gen_ai.system_instructions",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.definitions",
}
USAGE = {
    f"gen_ai.usage.{kind}"
    for kind in (
        "input_tokens",
        "output_tokens",
        "cache_read.input_tokens",
        "reasoning.output_tokens",
    )
}
CLIENTS_OWN_WAY = {
    # Arguments that were cut off: the client repairs them, the capture keeps what was said.
    "incomplete_partial_json_response",
}
ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go on."}]}

pytestmark = [
    pytest.mark.capture,
    pytest.mark.skipif(not ROOT.is_dir(), reason=f"there are no recordings in {ROOT}"),
]


class Tap(httpx2.HTTPTransport):
    """Keep what a client was sent, before the client reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        answer = super().handle_request(request)
        stream, pieces = answer.stream, self.pieces
        assert isinstance(stream, httpx2.SyncByteStream)
        inner: httpx2.SyncByteStream = stream

        class Tapped(httpx2.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                for piece in inner:
                    pieces.append(piece)
                    yield piece

            def close(self) -> None:
                inner.close()

        answer.stream = Tapped()
        return answer


def messages(url: str, http: httpx2.Client, request: dict[str, Any]) -> Any:
    """Play a stream to Anthropic's client and return the message that it makes of it."""
    client: Any = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0, http_client=http)
    with client.messages.stream(**usual(request)) as stream:
        return stream.get_final_message().to_dict()


def chat(url: str, http: httpx2.Client, request: dict[str, Any]) -> Any:
    """Play a stream to OpenAI's client and return the completion that it makes of it."""
    client: Any = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, http_client=http)
    state: Any = ChatCompletionStreamState()
    for part in client.chat.completions.create(stream=True, **usual(request)):
        state.handle_chunk(part)
    answer = state.current_completion_snapshot.to_dict()
    for choice in answer["choices"]:
        # It adds the role up as well, where a server repeats it.
        choice["message"]["role"] = "assistant"
    return answer


def responses(url: str, http: httpx2.Client, request: dict[str, Any]) -> Any:
    """Play a stream to OpenAI's client and return the response that its last event holds."""
    client: Any = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, http_client=http)
    given = {"model": "m", "input": "Go on.", "extra_body": request}
    *_, last = client.responses.create(stream=True, **given)
    return last.response.to_dict()


def usual(request: dict[str, Any]) -> dict[str, Any]:
    """Give what the client insists on; what was recorded goes over it."""
    return {"model": "m", "messages": [], "extra_body": request} | (
        {"max_tokens": 9} if "max_tokens" in request else {}
    )


CLIENTS: dict[Api, tuple[str, str, Callable[[str, httpx2.Client, dict[str, Any]], Any]]] = {
    "messages": ("anthropic", "/v1/messages", messages),
    "chat": ("openai", "/v1/chat/completions", chat),
    "responses": ("openai", "/v1/responses", responses),
}


def streams(api: Api) -> Iterator[tuple[str, Recording]]:
    """Yield the recorded streams of an API, each with a name."""
    for cassette in cassettes(ROOT, api):
        for number, recording in enumerate(cassette.recordings):
            if recording.streamed and recording.status < 300:
                yield f"{cassette.name}-{number}", recording
    if api == "messages":
        for file in sorted(ROOT.rglob("streaming/fixtures/*.txt")):
            yield (
                file.stem,
                Recording(
                    api=api,
                    path="/v1/messages",
                    request=ASKED | {"stream": True},
                    status=200,
                    headers={},
                    body=file.read_bytes(),
                ),
            )


@pytest.mark.parametrize("api", [api for api in APIS if api in CLIENTS])
@pytest.mark.timeout(600)
def test_recorded_streams(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    """The client gets every byte, and the capture is that of the unstreamed answer."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    with (
        Provider() as provider,
        Standing(provider.url, max_call=1 << 26, max_held=1 << 28, max_waiting=10_000) as proxy,
    ):
        replay = Replay(api, provider, proxy)
        for name, recording in streams(api):
            got, answer = replay.streamed(recording)
            if got != recording.body:
                wrong.append(f"{name}: {len(got)} bytes of {len(recording.body)}")
            if isinstance(answer, str):
                seen[f"the client raised {answer}"] += 1
                continue
            seen["compared"] += 1
            one, two = replay.unstreamed(answer)
            differing = {k for k in one.keys() | two.keys() if one.get(k) != two.get(k)}
            if differing - lost(answer) and name not in CLIENTS_OWN_WAY:
                wrong.append(f"{name}: {sorted(differing)}")
        proxy.stop()
    with capsys.disabled():
        sys.stdout.write(f"\n{api}: {dict(seen)}\n")
    assert wrong == []
    assert seen["compared"] > 0
    assert not proxy.dropped()


class Replay:
    """Play recordings of one API through a proxy."""

    def __init__(self, api: Api, provider: Provider, proxy: Standing) -> None:
        self._name, self._path, self._play = CLIENTS[api]
        self._provider = provider
        self._proxy = proxy
        self._number = 0

    def streamed(self, recording: Recording) -> tuple[bytes, Any]:
        """Return the bytes that the client got, and its answer or the name of its error."""
        self._number += 1
        body = recording.body
        pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)]
        self._provider.script(self._at, STREAM, *map(chunk, pieces), LAST)
        tap = Tap()
        base = f"{self._proxy.url}/{self._name}/{self._number}"
        with httpx2.Client(transport=tap) as http, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a client says of fields that it does not know
            try:
                answer = self._play(base, http, recording.request)
            except Exception as error:  # noqa: BLE001 - a client cannot read all of them
                answer = type(error).__name__
                tap.pieces.clear()
                # It stopped in the middle; the bytes are the same for whoever reads on.
                http.post(f"{base}{self._path}", json=recording.request)
        self._settle()
        return b"".join(tap.pieces), answer

    def unstreamed(self, answer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give the answer to the same call unstreamed; return what was captured of both."""
        asked = msgspec.json.decode(self._provider.asked[-1].body)
        asked.pop("stream", None)
        first = said(self._proxy)
        self._number += 1
        self._provider.script(self._at, plain(msgspec.json.encode(answer)))
        url = f"{self._proxy.url}/{self._name}/{self._number}{self._path}"
        httpx2.post(url, json=asked).raise_for_status()
        self._settle()
        return first, said(self._proxy)

    @property
    def _at(self) -> str:
        return f"/{self._number}{self._path}"

    def _settle(self) -> None:
        """Wait until every call was captured."""
        asked = len(self._provider.asked)
        eventually(
            lambda: len(self._proxy.spans) + sum(self._proxy.dropped().values()) >= asked,
            "the call is captured",
        )


def said(proxy: Standing) -> dict[str, Any]:
    """Return what was captured last, JSON opened."""
    attributes = proxy.spans[-1].attributes
    return {
        name: msgspec.json.decode(str(value)) if name in JSON else value
        for name, value in attributes.items()
        if name not in STREAM_ONLY
    }


def lost(answer: Any) -> set[str]:
    """Return what the client's answer does not say, though its stream did."""
    found = {f"gen_ai.response.{key}" for key in ("id", "model") if not answer.get(key)}
    if not answer.get("usage"):
        found |= USAGE
    blocks = answer.get("content") or ()
    if any(block["type"] == "mcp_tool_use" and not block["input"] for block in blocks):
        # The client puts the pieces of no arguments together but those of its own tools.
        found.add("gen_ai.output.messages")
    return found
