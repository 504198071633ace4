"""Compress bodies in each way that receivers undo."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


def wide_zstd(body: bytes) -> bytes:
    """Compress with a history of 128 MiB, more than HTTP allows."""
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    stream = zstd.ZstdCompressor(options=options)
    return stream.compress(body) + stream.flush()
