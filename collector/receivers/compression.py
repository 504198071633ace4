"""Undo the compression of a request body without being blown up by it."""

from __future__ import annotations

import sys
import zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from collector.errors import MalformedError, OversizedError, UnsupportedError

ENCODINGS = ("identity", "gzip", "deflate", "zstd")
"""Values of ``Content-Encoding`` that are understood."""

MAX_MEMBERS = 64
"""Gzip members or zstd frames in one body; each costs a copy of what follows it, so many small ones are an attack."""

_GZIP_BITS = 31
_ZLIB_BITS = 15
_RAW_BITS = -15
_ZSTD: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""RFC 9659: 8 MiB of history, which is memory of ours, must do for HTTP."""


def check_encoding(encoding: str) -> str:
    """Return a ``Content-Encoding`` in lower case, ``identity`` when empty.

    Raises:
        UnsupportedError: It is none of ``ENCODINGS``.
    """
    name = encoding.strip().lower() or "identity"
    if name not in ENCODINGS:
        raise UnsupportedError(
            f"Content-Encoding {name[:40]!r} is not supported; send {', '.join(ENCODINGS)}"
        )
    return name


def inflate(body: bytes, encoding: str, *, limit: int) -> bytes:
    """Decompress a body.

    Args:
        body: The body as sent.
        encoding: One of ``ENCODINGS``.
        limit: Largest result in bytes; no more than this is ever produced.

    Raises:
        MalformedError: The bytes are not of that encoding, or end too early.
        OversizedError: The result would be larger than the limit.
    """
    if encoding == "identity":
        if len(body) > limit:
            raise OversizedError(f"the body is larger than {limit} bytes")
        return body
    parts: list[bytes] = []
    try:
        return _inflate(body, encoding, limit, parts)
    except (zlib.error, zstd.ZstdError) as error:
        raise MalformedError(f"the body is not {encoding}: {error}") from None
    finally:
        # An error holds the frames it passed; what they made must not wait for it to be forgotten.
        parts.clear()


def _inflate(body: bytes, encoding: str, limit: int, parts: list[bytes]) -> bytes:
    room = limit
    while body:
        if len(parts) == MAX_MEMBERS:
            raise MalformedError(f"the {encoding} body has more than {MAX_MEMBERS} parts")
        stream = (
            zstd.ZstdDecompressor(options=_ZSTD)
            if encoding == "zstd"
            else zlib.decompressobj(_window_bits(body, encoding))
        )
        parts.append(stream.decompress(body, room + 1))
        room -= len(parts[-1])
        if room < 0:
            raise OversizedError(f"the decompressed body is larger than {limit} bytes")
        if not stream.eof:
            raise MalformedError(f"the {encoding} body ends too early")
        # Gzip members and zstd frames may follow each other; after zlib's end there is only noise.
        body = stream.unused_data if encoding != "deflate" else b""
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _window_bits(body: bytes, encoding: str) -> int:
    if encoding == "gzip":
        return _GZIP_BITS
    # RFC 9110 means zlib by "deflate", yet some senders leave its two-byte header out.
    has_header = (
        len(body) > 1 and body[0] & 0x0F == zlib.DEFLATED and not (body[0] << 8 | body[1]) % 31
    )
    return _ZLIB_BITS if has_header else _RAW_BITS
