"""Read and name the credential that a request shows."""

from __future__ import annotations

import base64
import binascii
import hashlib


def bearer_token(authorization: str) -> str:
    """Return the token of ``Authorization: Bearer …``; empty when the header is another."""
    scheme, _, shown = authorization.partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else ""


def password(authorization: str) -> str:
    """Return the password of HTTP Basic, where tools can show a token; empty when there is none.

    The user name is of no account.
    """
    scheme, _, shown = authorization.partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        pair = base64.b64decode(shown.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return pair.partition(":")[2]


def credential_hash(credential: str) -> str:
    """Name a sender by 16 hex digits of a hash; empty when it showed nothing."""
    if not credential:
        return ""
    return hashlib.sha256(credential.encode()).hexdigest()[:16]
