"""Keep apart the traces of tenants whose tokens prove who they are.

Trace and span ids are the sender's to choose, so whoever knows another's could join its
conversations, or let its spans pass for resends. Within a realm an id stands for something that
no sender of another can write.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from collector.model import Facts


def trace_of(facts: Facts) -> str:
    """Return the 32 hex digits by which a span's trace is known among all others; empty for none."""
    return scoped(facts.trace_id, facts.realm)


def scoped(trace_id: str, realm: str) -> str:
    """Return what a trace id stands for in a realm: itself where no token proves a tenant."""
    return _hashed(trace_id, realm) if realm and trace_id else trace_id


@lru_cache(maxsize=8192)
def _hashed(trace_id: str, realm: str) -> str:
    said = f"{realm}\x1f{trace_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=16, person=b"outrider.realm").hexdigest()
