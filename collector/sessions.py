"""Remember who logged in to the console, for as long as that holds."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable

import msgspec

from collector.tokens import Grant, Tokens, digest_of

MOST = 1_000
"""Sessions at a time; over it the oldest ends."""
_BYTES = 32


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    token: bytes
    """Digest of the token that was shown; the session ends with it."""
    until_s: float


class Sessions:
    """Give a browser a name for itself in exchange for a token, and know it again by that.

    In memory alone: a restart ends them all, and a token that is revoked ends its own.
    """

    def __init__(
        self,
        tokens: Tokens,
        *,
        lifetime_s: float,
        random_bytes: Callable[[int], bytes],
        seconds: Callable[[], float],
        most: int = MOST,
    ) -> None:
        """Keep what is needed.

        Args:
            tokens: Says what a token is good for.
            lifetime_s: How long a session lasts, in seconds.
            random_bytes: Gives so many bytes that nobody can guess.
            seconds: A clock that only goes forward.
            most: Sessions at a time.
        """
        self.tokens = tokens
        self.lifetime_s = lifetime_s
        self._random_bytes = random_bytes
        self._seconds = seconds
        self._most = most
        self._sessions: dict[bytes, _Session] = {}
        """By a hash of the name, so that looking one up tells nothing of it."""

    def open(self, token: str) -> str:
        """Return the name of a new session; empty when the token may not read."""
        grant = self.tokens.grant(token)
        if grant is None or "read" not in grant.rights:
            return ""
        now = self._seconds()
        ended = [key for key, session in self._sessions.items() if session.until_s <= now]
        for key in ended:
            del self._sessions[key]
        while len(self._sessions) >= self._most:
            del self._sessions[next(iter(self._sessions))]
        name = base64.urlsafe_b64encode(self._random_bytes(_BYTES)).decode().rstrip("=")
        self._sessions[_key(name)] = _Session(token=digest_of(token), until_s=now + self.lifetime_s)
        return name

    def grant(self, name: str) -> Grant | None:
        """Return what a session may do; ``None`` when there is none of this name any more."""
        session = self._sessions.get(_key(name)) if name else None
        if session is None or session.until_s <= self._seconds():
            return None
        return self.tokens.grant_of(session.token)

    def close(self, name: str) -> None:
        """End a session, if there is one of this name."""
        self._sessions.pop(_key(name), None)


def _key(name: str) -> bytes:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()
