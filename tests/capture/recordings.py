"""Read HTTP recordings: what a program asked a model provider, and what it was answered.

The files are cassettes as VCR writes them (YAML): a list of interactions, each a request and a
response. Bodies stand there as text, as bytes, or parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec
import yaml

from collector.errors import PermanentError
from collector.proxy.body import body_of

Api = Literal["messages", "chat", "responses", "gemini"]
APIS: tuple[Api, ...] = get_args(Api)
_LIMIT = 64 * 1024 * 1024
_KEPT = ("content-type", "request-id", "x-request-id")
"""Response headers that a client may look at."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    api: Api
    path: str
    """Of the URL, from the API's own part on."""
    request: dict[str, Any]
    status: int
    headers: dict[str, str]
    body: bytes
    """Of the response, without compression."""

    @property
    def streamed(self) -> bool:
        """Say whether the answer is a stream of events."""
        return self.headers.get("content-type", "").startswith("text/event-stream")


class Cassette(msgspec.Struct, frozen=True, kw_only=True):
    """One file: the calls that one program made, in order."""

    name: str
    """Path below the recordings, without its ending."""
    recordings: tuple[Recording, ...]


def cassettes(root: Path, api: Api) -> Iterator[Cassette]:
    """Yield the files below a directory that hold calls of one API, in order of their names."""
    for file in sorted(root.rglob("*.yaml")):
        if _mentions(file, api):
            found = tuple(r for r in _recordings(file) if r.api == api)
            if found:
                name = str(file.relative_to(root).with_suffix(""))
                yield Cassette(name=name, recordings=found)


def api_of(path: str) -> Api | None:
    """Tell an API by the end of its path; ``None`` for any other call."""
    for ending, api in _ENDINGS.items():
        if path.endswith(ending):
            return api
    return None


_ENDINGS: dict[str, Api] = {
    "/v1/messages": "messages",
    "/chat/completions": "chat",
    "/responses": "responses",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


def _mentions(file: Path, api: Api) -> bool:
    """Look before the slow parser does."""
    text = file.read_bytes()
    return any(ending.encode() in text for ending, named in _ENDINGS.items() if named == api)


def _recordings(file: Path) -> Iterator[Recording]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with file.open("rb") as opened:
        content = yaml.load(opened, loader)  # noqa: S506 - one of the two safe loaders
    for interaction in content.get("interactions") or ():
        made = _recording(interaction)
        if made is not None:
            yield made


def _recording(interaction: dict[str, Any]) -> Recording | None:
    request, response = interaction["request"], interaction["response"]
    path = urlsplit(str(request.get("uri") or "")).path
    api = api_of(path)
    asked = _asked(request)
    if api is None or asked is None:
        return None
    headers = {key.lower(): _first(value) for key, value in (response.get("headers") or {}).items()}
    try:
        body = _body(response, headers)
    except PermanentError:
        return None
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else response.get("status_code")
    return Recording(
        api=api,
        path=path,
        request=asked,
        status=int(code or 200),
        headers={key: value for key, value in headers.items() if key in _KEPT},
        body=body,
    )


def _asked(request: dict[str, Any]) -> dict[str, Any] | None:
    asked = request.get("parsed_body")
    if asked is None:
        try:
            asked = msgspec.json.decode(request.get("body") or b"")
        except msgspec.DecodeError:
            return None
    return asked if isinstance(asked, dict) else None


def _body(response: dict[str, Any], headers: dict[str, str]) -> bytes:
    if response.get("parsed_body") is not None:
        return msgspec.json.encode(response["parsed_body"])
    body = response.get("body")
    held = body.get("string") if isinstance(body, dict) else response.get("content")
    raw = held.encode() if isinstance(held, str) else bytes(held or b"")
    encoding = headers.get("content-encoding", "").lower()
    # Some recorders keep the header and undo the compression.
    if not encoding or raw[:1] in (b"{", b"[") or raw.startswith((b"data:", b"event:")):
        return raw
    return body_of([raw], chunked=False, encoding=encoding, limit=_LIMIT)[0]


def _first(value: Any) -> str:
    return str(value[0] if isinstance(value, list) and value else value or "")
