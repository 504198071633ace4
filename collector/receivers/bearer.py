"""Check and name the credential that a request shows."""

from __future__ import annotations

import hashlib
import hmac


def admits(authorization: str, token: str) -> bool:
    """Say whether an ``Authorization`` header shows the token; always when there is no token.

    The comparison takes the same time wherever the two differ.
    """
    if not token:
        return True
    scheme, _, shown = authorization.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        shown.strip().encode(), token.encode()
    )


def credential_hash(authorization: str) -> str:
    """Name the sender by 16 hex digits of a hash of what it showed; empty when it showed nothing."""
    if not authorization:
        return ""
    return hashlib.sha256(authorization.encode()).hexdigest()[:16]
