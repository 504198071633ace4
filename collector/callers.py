"""Decide who may call the console and API port."""

from __future__ import annotations

import ipaddress

import msgspec

from collector.receivers.bearer import admits

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request is turned away."""

    status: int
    message: str


class Callers:
    """Hold a port to those who have the token, or, without one, to those on this machine.

    Without a token a web page could reach a loopback port through the visitor's browser: by a name
    that it lets point to 127.0.0.1 (DNS rebinding), or by posting across origins. So the ``Host``
    must be a loopback name or the address that is served, and an ``Origin`` must be that host.
    """

    def __init__(self, *, host: str, token: str) -> None:
        self._token = token
        self._host = host
        self._any_address = _is_wildcard(host)

    def refusal(self, *, host: str, origin: str, authorization: str) -> Refusal | None:
        """Judge a request by its headers; ``None`` when it may pass."""
        if self._token:
            if admits(authorization, self._token):
                return None
            return Refusal(status=401, message="show the token: Authorization: Bearer ...")
        if not self._serves(_without_port(host)):
            return Refusal(
                status=403, message="this host name is not served without a token (auth.token)"
            )
        if origin and origin.partition("://")[2] != host:
            return Refusal(status=403, message="other origins are not served without a token")
        return None

    def _serves(self, name: str) -> bool:
        # An address typed as such cannot be a rebound name.
        return (
            name in LOOPBACK_NAMES
            or name == self._host
            or (self._any_address and _address(name) is not None)
        )


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
