"""Undo the frames and the compression of a copied body; the call itself keeps both."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from collector.errors import MalformedError, OversizedError, UnsupportedError
from collector.proxy.framing import Chunked

_COPIED = 256 * 1024 * 1024
"""Bytes copied for frames that follow others: each costs a copy of all that comes after it."""
_STEP = 1024 * 1024


def body_of(
    pieces: Iterable[bytes], *, chunked: bool, encoding: str, limit: int
) -> tuple[bytes, bool]:
    """Return a body, and whether all of it is there; one that was cut off is read as far as it goes.

    Args:
        pieces: As they came.
        chunked: Whether they are framed in chunks.
        encoding: ``Content-Encoding``, in lower case.
        limit: Largest body in bytes; no more than this is ever made.

    Raises:
        MalformedError: The bytes are not of that encoding.
        OversizedError: The body would be larger than the limit.
        UnsupportedError: Nobody here knows the encoding.
    """
    raw = b"".join(pieces)
    whole = True
    if chunked:
        parts: list[bytes] = []
        framing = Chunked(parts)
        framing.take(raw)
        raw, whole = b"".join(parts), framing.done
    for name in reversed([n for part in encoding.split(",") if (n := part.strip())]):
        if name != "identity":
            raw, ended = _inflated(raw, name, limit)
            whole = whole and ended
    if len(raw) > limit:
        raise OversizedError(f"the body is larger than {limit} bytes")
    return raw, whole


def _inflated(raw: bytes, name: str, limit: int) -> tuple[bytes, bool]:
    if not raw:
        return b"", True
    if name in ("gzip", "x-gzip", "deflate"):
        return _zlib(raw, name, limit)
    if name == "zstd":
        return _zstd(raw, limit)
    if name == "br":
        return _brotli(raw, limit)
    raise UnsupportedError(f"Content-Encoding {name[:20]!r}")


def _zlib(raw: bytes, name: str, limit: int) -> tuple[bytes, bool]:
    bits = 31 if name != "deflate" else 15 if (raw[0] & 15) == 8 else -15
    return _frames(raw, name, limit, lambda: zlib.decompressobj(bits), zlib.error)


def _zstd(raw: bytes, limit: int) -> tuple[bytes, bool]:
    module = _module("compression.zstd", "backports.zstd")
    return _frames(raw, "zstd", limit, module.ZstdDecompressor, module.ZstdError)


def _frames(
    raw: bytes,
    name: str,
    limit: int,
    decompressor: Callable[[], Any],
    broken: type[Exception],
) -> tuple[bytes, bool]:
    """Undo what may be several frames: some servers write one with each piece of a stream."""
    parts: list[bytes] = []
    room, copied, whole = limit, 0, True
    while raw:
        stream = decompressor()
        try:
            parts.append(stream.decompress(raw, room + 1))
        except broken as error:
            if not parts:
                raise MalformedError(f"the body is not {name}: {error}") from None
            break  # noise after the end
        room -= len(parts[-1])
        if room < 0:
            raise OversizedError(f"the body is larger than {limit} bytes")
        whole = bool(stream.eof)
        raw = stream.unused_data if whole else b""
        copied += len(raw)
        if copied > _COPIED:
            raise MalformedError(f"the {name} body has too many parts")
    return b"".join(parts), whole


def _brotli(raw: bytes, limit: int) -> tuple[bytes, bool]:
    module = _module("brotli")
    stream = module.Decompressor()
    parts: list[bytes] = []
    room = limit
    try:
        given = raw
        while True:
            parts.append(stream.process(given, output_buffer_limit=min(_STEP, room + 1)))
            room -= len(parts[-1])
            if room < 0:
                raise OversizedError(f"the body is larger than {limit} bytes")
            given = b""
            if stream.is_finished() or (stream.can_accept_more_data() and not parts[-1]):
                return b"".join(parts), stream.is_finished()
    except module.error as error:
        raise MalformedError(f"the body is not br: {error}") from None


def _module(*names: str) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise UnsupportedError(f"Content-Encoding of {names[-1]}, which is not installed")
