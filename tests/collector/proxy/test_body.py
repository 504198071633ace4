"""Test undoing the compression of copied bodies."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from collector.errors import OversizedError
from collector.proxy.body import body_of

MIB = 1024 * 1024


def test_frames_together_make_no_more_than_the_limit() -> None:
    """A body of many small frames, each of which grows to the limit, is given up at once."""
    bomb = gzip.compress(bytes(MIB)) * 64
    tracemalloc.start()
    try:
        with pytest.raises(OversizedError):
            body_of([bomb], chunked=False, encoding="gzip", limit=MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MIB
