"""Say what each error means to an OTLP sender."""

from __future__ import annotations

import msgspec
from starlette.requests import ClientDisconnect

from collector.errors import (
    JournalFullError,
    MalformedError,
    OversizedError,
    PermanentError,
    RetryableError,
    SlowError,
    UnsupportedError,
)


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """An answer other than success."""

    status: int
    """HTTP; a sender repeats its request on 429, 502, 503 and 504 only."""
    code: int
    """``google.rpc.Code``."""
    reason: str
    """Label under which it is counted."""
    headers: dict[str, str] = {}


WRONG_METHOD = Refusal(status=405, code=12, reason="method", headers={"allow": "POST"})
WRONG_PATH = Refusal(status=404, code=5, reason="path")
UNAUTHENTICATED = Refusal(
    status=401, code=16, reason="unauthenticated", headers={"www-authenticate": "Bearer"}
)
FORBIDDEN = Refusal(status=403, code=7, reason="forbidden")
INTERNAL = Refusal(status=503, code=14, reason="internal", headers={"retry-after": "2"})
"""A bug of ours: as 500 it would make the sender drop its batch."""

_BY_ERROR: tuple[tuple[type[Exception], Refusal], ...] = (
    (UnsupportedError, Refusal(status=415, code=3, reason="unsupported")),
    (OversizedError, Refusal(status=413, code=8, reason="oversized")),
    (SlowError, Refusal(status=408, code=4, reason="slow", headers={"connection": "close"})),
    (MalformedError, Refusal(status=400, code=3, reason="malformed")),
    (PermanentError, Refusal(status=400, code=3, reason="refused")),
    (JournalFullError, Refusal(status=503, code=14, reason="journal_full")),
    (RetryableError, Refusal(status=503, code=14, reason="unavailable")),
    (ClientDisconnect, Refusal(status=503, code=14, reason="disconnected")),
)
"""The first that fits counts, so a class stands before the one it derives from."""


def refusal_of(error: Exception) -> Refusal | None:
    """Return the answer to an error; ``None`` when nobody foresaw it."""
    return next((refusal for kind, refusal in _BY_ERROR if isinstance(error, kind)), None)
