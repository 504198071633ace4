"""Check and name the credential that a request shows."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac


def admits(authorization: str, token: str) -> bool:
    """Say whether an ``Authorization`` header shows the token; always when there is no token.

    The comparison takes the same time wherever the two differ.
    """
    if not token:
        return True
    scheme, _, shown = authorization.partition(" ")
    return scheme.lower() == "bearer" and _same(shown.strip(), token)


def admits_person(authorization: str, token: str) -> bool:
    """Say whether an ``Authorization`` header shows the token as the password of HTTP Basic.

    That is what browsers can ask a person for; the user name is of no account.
    """
    scheme, _, shown = authorization.partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        pair = base64.b64decode(shown.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return _same(pair.partition(":")[2], token)


def credential_hash(authorization: str) -> str:
    """Name the sender by 16 hex digits of a hash of what it showed; empty when it showed nothing."""
    if not authorization:
        return ""
    return hashlib.sha256(authorization.encode()).hexdigest()[:16]


def _same(shown: str, token: str) -> bool:
    return hmac.compare_digest(shown.encode(), token.encode())
