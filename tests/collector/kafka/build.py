"""Build messages as the client library gives them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Sent(msgspec.Struct, kw_only=True):
    """A message."""

    topic: str = "otlp_spans"
    partition: int = 0
    offset: int = 7
    key: bytes | None = None
    value: bytes | None = b""
    headers: Sequence[tuple[str, bytes]] = ()
