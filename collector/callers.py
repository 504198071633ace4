"""Decide who may call a port, and what for."""

from __future__ import annotations

import ipaddress

import msgspec

from collector.address import is_loopback
from collector.receivers.bearer import bearer_token, password
from collector.sessions import Sessions
from collector.tokens import Grant, Right, Tokens

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
RESERVED = (".localhost", ".internal")
"""Names under these are nobody's to register, so no stranger can let one point here."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request is turned away."""

    status: int
    """401 where a token would help, else 403."""
    message: str


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a request shows of its caller: some of its headers."""

    host: str = ""
    origin: str = ""
    authorization: str = ""
    session: str = ""
    """Name of a session of the console, from its cookie."""
    site: str = ""
    """``Sec-Fetch-Site``, by which a browser says whose page makes it call."""


_FOREIGN = Refusal(status=403, message="pages of other origins may not call")
_UNKNOWN = Refusal(status=401, message="show the token: Authorization: Bearer ...")
_OWN_SITES = frozenset({"", "same-origin", "none"})


class Callers:
    """Hold a port to those who have a token, or, without any, to those on this machine.

    Without a token a web page could reach a loopback port through the visitor's browser: by a name
    that it lets point to 127.0.0.1 (DNS rebinding), or by posting across origins. So the ``Host``
    must be a loopback name or the address that is served, and an ``Origin`` must be that host.

    A browser shows by itself what it was once given, whoever makes it call: the cookie of a
    session, HTTP Basic's password, a client's certificate. So for these an ``Origin`` must be the
    host too, and what changes something must come from a page of ours.
    """

    def __init__(
        self,
        *,
        host: str,
        tokens: Tokens,
        any_name: bool = False,
        sessions: Sessions | None = None,
        certified: bool = False,
    ) -> None:
        """Take the address that is served and the tokens.

        Args:
            host: The address, without its port.
            tokens: What callers must show, where there are any.
            any_name: Whether any ``Host`` is right.
            sessions: Of people, on a port that they use; they may show a token by HTTP Basic too.
            certified: Whether callers have shown a certificate that is enough.
        """
        self._tokens = tokens
        self._sessions = sessions
        self._host = host
        self._any_name = any_name or certified
        self._any_address = _is_wildcard(host)
        self.asks = bool(tokens) and not certified
        """Whether a token must be shown."""

    def judge(self, shown: Shown, *, right: Right) -> Grant | Refusal:
        """Say who a caller is, or why it may not do what needs a right."""
        if not self.asks:
            if not self._serves(_without_port(shown.host)):
                return Refusal(
                    status=403, message="this host name is not served without a token (auth.token)"
                )
            return Grant() if _same_origin(shown.origin, shown.host) else _FOREIGN
        grant = self._tokens.grant(bearer_token(shown.authorization))
        if grant is None and self._sessions is not None:
            grant = self._person(shown)
            if grant is not None and not own_page(shown, right):
                return _FOREIGN
        if grant is None:
            return _UNKNOWN
        if right not in grant.rights:
            return Refusal(status=403, message=f"the token {grant.name} has no right to {right}")
        return grant

    def _person(self, shown: Shown) -> Grant | None:
        if self._sessions is None:
            return None
        found = self._sessions.grant(shown.session)
        return found or self._tokens.grant(password(shown.authorization))

    def _serves(self, name: str) -> bool:
        # An address typed as such cannot be a rebound name.
        return (
            self._any_name
            or name in LOOPBACK_NAMES
            or name.endswith(RESERVED)
            or name == self._host
            or (self._any_address and _address(name) is not None)
        )


def programs(*, host: str, tokens: Tokens, certified: bool = False) -> Callers:
    """Build the callers of a port that programs call rather than people.

    Beyond loopback they find it by whatever name a container or a service has; who binds it there
    without a token has said that anybody on that network may call.
    """
    return Callers(host=host, tokens=tokens, any_name=not is_loopback(host), certified=certified)


def own_page(shown: Shown, right: Right) -> bool:
    """Say whether a browser was made to call by a page of ours, or by its user."""
    if not _same_origin(shown.origin, shown.host):
        return False
    return right == "read" or shown.site in _OWN_SITES


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
