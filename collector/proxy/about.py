"""Say whose call it is, from the headers of its request; the key itself is not among it."""

from __future__ import annotations

import hashlib
import hmac
import re

import msgspec

from collector.proxy.http_head import RequestHead, first
from collector.proxy.passing import OWN, credential
from collector.proxy.upstream import Api, Route

SESSION_HEADERS = (
    f"{OWN}conversation-id",
    "x-conversation-id",
    "conversation-id",
    "conversation_id",
    "x-session-id",
    "session-id",
    "session_id",
    "x-claude-code-session-id",
    "x-amp-thread-id",
    "helicone-session-id",
)
"""What clients send to name a conversation, surest first."""
LONGEST = 512
"""Characters of a name or an id that are kept."""
_PRODUCT = re.compile(r"([^\s/();]+)/v?([0-9][^\s();]*)")
_PARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}.*")


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the head of a request says about its call."""

    api: Api
    provider: str
    server: str
    """Host of the upstream."""
    encoding: str = ""
    """``Content-Encoding`` of the request."""
    chunked: bool = False
    """Whether its body comes in chunks."""
    conversation_id: str = ""
    ends: bool = False
    """Whether the client says that the conversation is over after this call."""
    agent: str = ""
    agent_said: bool = False
    """Whether somebody gave that name, rather than us reading it off the client's."""
    agent_version: str = ""
    environment: str = ""
    variant: str = ""
    pair_id: str = ""
    trace_id: str = ""
    parent_id: str = ""
    """Of the client's ``traceparent``."""
    credential: str = ""
    """Keyed hash of the provider's key."""
    tenant: str = ""
    """Whose call it is, where the caller's token says so."""


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration says of calls whose headers do not."""

    agent: str = ""
    agent_version: str = ""
    environment: str = ""


def keyed_hash(secret: bytes, text: str) -> str:
    """Name a text by 16 hex digits that nobody without the secret can compute; empty for none."""
    if not text:
        return ""
    return hmac.new(secret, text.encode(errors="replace"), hashlib.sha256).hexdigest()[:16]


def about(
    head: RequestHead, route: Route, *, names: Names, secret: bytes, tenant: str = ""
) -> About | None:
    """Read a request's head; ``None`` when its call is not one that is captured."""
    if route.api is None:
        return None
    fields = head.fields

    def said(name: str) -> str:
        return first(fields, name)[:LONGEST]

    agent, version = said(f"{OWN}agent") or names.agent, said(f"{OWN}agent-version")
    agent_said = bool(agent)
    version = version or names.agent_version
    if not agent:
        agent, spoken = _product(said("user-agent"))
        version = version or spoken
    parent = _PARENT.fullmatch(first(fields, "traceparent"))
    nobody = parent is None or not int(parent[1], 16) or not int(parent[2], 16)
    return About(
        api=route.api,
        provider=route.upstream.name,
        server=route.upstream.host,
        encoding=said("content-encoding").lower(),
        chunked=bool(first(fields, "transfer-encoding")),
        conversation_id=next((found for name in SESSION_HEADERS if (found := said(name))), ""),
        ends=said(f"{OWN}conversation-end").lower() in ("true", "1"),
        agent=agent,
        agent_said=agent_said,
        agent_version=version,
        environment=said(f"{OWN}environment") or names.environment,
        variant=said(f"{OWN}variant"),
        pair_id=said(f"{OWN}pair-id"),
        trace_id="" if nobody or parent is None else parent[1],
        parent_id="" if nobody or parent is None else parent[2],
        credential=keyed_hash(secret, credential(head)),
        tenant=tenant,
    )


def _product(user_agent: str) -> tuple[str, str]:
    """Read name and version off a ``User-Agent``; an SDK's first word names no version."""
    found = _PRODUCT.match(user_agent)
    if found is not None:
        return found[1], found[2]
    return user_agent.partition(" ")[0], ""
