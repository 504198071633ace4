"""Say in tests who may call a port."""

from __future__ import annotations

from collector.callers import Callers
from collector.config import AuthConfig, TokenConfig
from collector.sessions import Sessions
from collector.tokens import Tokens


def tokens(token: str = "", **named: TokenConfig) -> Tokens:
    """Build tokens: a plain one, and others by name."""
    return Tokens(AuthConfig(token=token, tokens=named))


def callers(token: str = "", **named: TokenConfig) -> Callers:
    """Build the callers of the console's port on this machine."""
    known = tokens(token, **named)
    return Callers(host="127.0.0.1", tokens=known, sessions=sessions(known))


def sessions(known: Tokens, *, lifetime_s: float = 3_600.0, most: int = 10) -> Sessions:
    """Build sessions whose names are counted rather than random, at one moment."""
    names = iter(range(1_000_000))
    return Sessions(
        known,
        lifetime_s=lifetime_s,
        random_bytes=lambda size: next(names).to_bytes(size, "big"),
        seconds=lambda: 0.0,
        most=most,
    )
