"""Know the providers behind the proxy, and which of them a request is for."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

import msgspec

from collector.errors import ConfigError
from collector.proxy.http_head import RequestHead, first

Api = Literal["messages", "chat_completions", "responses"]
"""An API whose calls are captured."""
ANTHROPIC = "anthropic"
OPENAI = "openai"
_APIS: tuple[tuple[str, Api], ...] = (
    ("/chat/completions", "chat_completions"),
    ("/responses", "responses"),
    ("/v1/messages", "messages"),
)
"""By the end of the path, since gateways and providers speak each other's; the rest is passed on, no more."""
_ANTHROPIC_HEADERS = ("anthropic-version", "anthropic-beta", "x-api-key")
_ANTHROPIC_PATHS = ("/v1/messages", "/v1/complete")


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """Where one provider's requests go."""

    name: str
    """``anthropic`` or ``openai``."""
    host: str
    port: int
    secure: bool
    prefix: str
    """Put before the path of every request."""

    @property
    def authority(self) -> str:
        """Return what the ``Host`` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.secure else 80)
        return host if usual else f"{host}:{self.port}"


def upstream(name: str, url: str) -> Upstream:
    """Read the base URL of a provider.

    Raises:
        ConfigError: It has a query, or a user, which a base URL has not.
    """
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ConfigError(f"proxy.{name}: expected http(s)://host, or with a path, and no more")
    secure = parts.scheme == "https"
    return Upstream(
        name=name,
        host=parts.hostname or "",
        port=parts.port or (443 if secure else 80),
        secure=secure,
        prefix=parts.path.rstrip("/"),
    )


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one request."""

    upstream: Upstream
    target: str
    """Path and query for the upstream."""
    api: Api | None
    """Whether and how it is captured."""


class Routes:
    """Choose an upstream for each request."""

    def __init__(self, *, anthropic: str, openai: str) -> None:
        """Take the base URLs.

        Raises:
            ConfigError: One of them is none.
        """
        self._upstreams = {
            ANTHROPIC: upstream(ANTHROPIC, anthropic),
            OPENAI: upstream(OPENAI, openai),
        }

    def of(self, head: RequestHead) -> Route:
        """Choose by the prefix ``/anthropic`` or ``/openai``, else by what the request looks like.

        Both providers have ``/v1/models`` and ``/v1/files``; only one of them has a version header.
        """
        path, mark, query = head.target.partition("?")
        name, path = _named(path)
        if not name:
            anthropic = path.startswith(_ANTHROPIC_PATHS) or any(
                first(head.fields, header) for header in _ANTHROPIC_HEADERS
            )
            name = ANTHROPIC if anthropic else OPENAI
        chosen = self._upstreams[name]
        api = None
        if head.method == "POST":
            api = next((a for end, a in _APIS if path.endswith(end)), None)
            if name == ANTHROPIC and path.endswith("/messages"):
                api = "messages"  # OpenAI's threads have messages too
        return Route(upstream=chosen, target=f"{chosen.prefix}{path}{mark}{query}", api=api)


def _named(path: str) -> tuple[str, str]:
    for name in (ANTHROPIC, OPENAI):
        if path == f"/{name}" or path.startswith(f"/{name}/"):
            return name, path.removeprefix(f"/{name}") or "/"
    return "", path
