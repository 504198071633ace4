"""Decide who may call a port."""

from __future__ import annotations

import ipaddress

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.address import is_loopback
from collector.receivers.bearer import admits, admits_person

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
RESERVED = (".localhost", ".internal")
"""Names under these are nobody's to register, so no stranger can let one point here."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request is turned away."""

    status: int
    message: str
    basic: bool = False
    """Whether HTTP Basic would do as well."""


_ASK = "Log in with any user name and the token (auth.token) as the password.\n"
_FOREIGN = Refusal(status=403, message="pages of other origins may not call")


class Callers:
    """Hold a port to those who have the token, or, without one, to those on this machine.

    Without a token a web page could reach a loopback port through the visitor's browser: by a name
    that it lets point to 127.0.0.1 (DNS rebinding), or by posting across origins. So the ``Host``
    must be a loopback name or the address that is served, and an ``Origin`` must be that host.

    People show the token by HTTP Basic, as its password. Their browser then shows it whoever made
    it call, so for them too an ``Origin`` must be the host.
    """

    def __init__(
        self, *, host: str, token: str, any_name: bool = False, people: bool = False
    ) -> None:
        """Take the address that is served and the token.

        Args:
            host: The address, without its port.
            token: What callers must show; empty for none.
            any_name: Whether any ``Host`` is right.
            people: Whether the token may be shown by HTTP Basic too.
        """
        self._token = token
        self._people = people
        self._host = host
        self._any_name = any_name
        self._any_address = _is_wildcard(host)

    def refusal_of(self, request: Request) -> Refusal | None:
        """Judge a request; ``None`` when it may pass."""
        headers = request.headers
        return self.refusal(
            host=headers.get("host", ""),
            origin=headers.get("origin", ""),
            authorization=headers.get("authorization", ""),
        )

    def refusal(self, *, host: str, origin: str, authorization: str) -> Refusal | None:
        """Judge a request by its headers; ``None`` when it may pass."""
        if self._token:
            if admits(authorization, self._token):
                return None
            if self._people and admits_person(authorization, self._token):
                return None if _same_origin(origin, host) else _FOREIGN
            return Refusal(
                status=401,
                message="show the token: Authorization: Bearer ...",
                basic=self._people,
            )
        if not self._serves(_without_port(host)):
            return Refusal(
                status=403, message="this host name is not served without a token (auth.token)"
            )
        return None if _same_origin(origin, host) else _FOREIGN

    def _serves(self, name: str) -> bool:
        # An address typed as such cannot be a rebound name.
        return (
            self._any_name
            or name in LOOPBACK_NAMES
            or name.endswith(RESERVED)
            or name == self._host
            or (self._any_address and _address(name) is not None)
        )


class Guard:
    """Turn away those who may not call, before anything else is done."""

    def __init__(
        self, app: ASGIApp, callers: Callers, *, open_paths: frozenset[str] = frozenset()
    ) -> None:
        """Stand before an application; ``open_paths`` are answered to anybody."""
        self._app = app
        self._callers = callers
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the start and stop of the application."""
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            refusal = self._callers.refusal_of(Request(scope))
            if refusal is not None:
                await _answer(refusal, browser=_is_browser(scope))(scope, receive, send)
                return
        await self._app(scope, receive, send)


def programs(*, host: str, token: str) -> Callers:
    """Build the callers of a port that programs call rather than people.

    Beyond loopback they find it by whatever name a container or a service has; who binds it there
    without a token has said that anybody on that network may call.
    """
    return Callers(host=host, token=token, any_name=not is_loopback(host))


def _answer(refusal: Refusal, *, browser: bool) -> Response:
    headers = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
    if refusal.status == 401:
        # Only a browser asks its user; programs are told of the one way that is theirs.
        basic = refusal.basic and browser
        headers["www-authenticate"] = 'Basic realm="outrider"' if basic else "Bearer"
        if basic:
            return Response(_ASK, 401, headers, media_type="text/plain")
    return Response(
        msgspec.json.encode({"error": refusal.message}),
        refusal.status,
        headers,
        media_type="application/json",
    )


def _is_browser(scope: Scope) -> bool:
    return "text/html" in Request(scope).headers.get("accept", "")


def _same_origin(origin: str, host: str) -> bool:
    return not origin or origin.partition("://")[2] == host


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_wildcard(host: str) -> bool:
    address = _address(host)
    return address is not None and address.is_unspecified
