"""Write the request that asks a candidate what production was asked: the same but for its model."""

from __future__ import annotations

from typing import Any

import msgspec

from collector.errors import MalformedError
from collector.own_telemetry import HEADER
from collector.proxy.http_head import RequestHead, first
from collector.proxy.upstream import ANTHROPIC, Route, Upstream

_PASSED = (
    "content-type",
    "accept",
    "user-agent",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
)
"""Headers that go along; others may hold secrets of gateways, or say whose call it was."""
_ACCOUNT = ("x-api-key", "authorization", "openai-organization", "openai-project")
"""Headers that say who pays."""
_KEPT_THERE = ("conversation", "previous_response_id", "background", "container", "thread")
"""What refers to something that the provider keeps, which a second call would change or not find."""


class _Tool(msgspec.Struct):
    type: Any = ""


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TOOLS = msgspec.json.Decoder(list[_Tool])


def body_for(body: bytes, model: str) -> tuple[bytes, str]:
    """Return the body with another model's name, and why it must not be sent; all else stays.

    Args:
        body: Of production's request, without frames and compression.
        model: The candidate's; empty for that of the request.

    Raises:
        MalformedError: It is no request of these APIs.
    """
    try:
        fields = _FIELDS.decode(body)
        if "model" not in fields:
            raise MalformedError("a request names its model")
        problem = _problem(fields)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MalformedError("a request is a JSON object") from error
    if model:
        fields["model"] = msgspec.Raw(msgspec.json.encode(model))
    return msgspec.json.encode(fields), problem


def _problem(fields: dict[str, msgspec.Raw]) -> str:
    """Say why nobody may send a request a second time: it would do more than answer."""

    def says(key: str) -> bool:
        return bytes(fields.get(key, b"null")) not in (b"null", b"false", b"[]", b'""')

    if any(map(says, _KEPT_THERE)):
        return "stateful"
    tools = _TOOLS.decode(fields["tools"]) if says("tools") else []
    if says("mcp_servers") or any(str(tool.type).startswith("mcp") for tool in tools):
        return "remote_tools"
    return ""


def head_for(
    head: RequestHead,
    route: Route,
    upstream: Upstream,
    *,
    length: int,
    key: str,
    caller_key: bool,
) -> bytes:
    """Write the head of the request.

    Args:
        head: Of production's request.
        route: Where that went.
        upstream: Where this one goes.
        length: Bytes of its body.
        key: Shown instead of the caller's; empty for none.
        caller_key: Whether the caller's is shown.
    """
    target = upstream.prefix + route.target.removeprefix(route.upstream.prefix)
    passed = (*_PASSED, *(_ACCOUNT if caller_key else ()))
    lines = [
        f"POST {target} HTTP/1.1".encode("latin-1"),
        f"Host: {upstream.authority}".encode(),
        *(field.line for field in head.fields if field.name in passed),
    ]
    if not first(head.fields, "content-type"):
        lines.append(b"content-type: application/json")
    if upstream != route.upstream:
        # It may be a gateway whose calls go through us: no second call, and no shadow of a shadow.
        lines.append(f"{HEADER}: shadow".encode())
    if key:
        shown = (
            f"x-api-key: {key}" if upstream.name == ANTHROPIC else f"authorization: Bearer {key}"
        )
        lines.append(shown.encode())
    lines += [f"content-length: {length}".encode(), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n"
