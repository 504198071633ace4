"""Test that bodies are decompressed, and never beyond their limit."""

from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.errors import MalformedError, OversizedError, UnsupportedError
from collector.receivers.compression import check_encoding, inflate
from tests.collector.receivers.packing import PACKERS, wide_zstd

BODY = b"an agent said this, " * 500
SKIPPED = b"\x50\x2a\x4d\x18\x03\x00\x00\x00any"
"""A zstd frame that holds something else than the body."""


def raw_deflate(body: bytes) -> bytes:
    """Compress without the zlib header, as some senders do."""
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


@pytest.mark.parametrize(
    ("encoding", "sent"),
    [
        ("identity", BODY),
        ("gzip", gzip.compress(BODY)),
        ("gzip", gzip.compress(BODY[:70]) + gzip.compress(BODY[70:])),
        ("deflate", zlib.compress(BODY)),
        ("deflate", raw_deflate(BODY)),
        ("zstd", PACKERS["zstd"](BODY)),
        ("zstd", b"".join([PACKERS["zstd"](BODY[:70]), SKIPPED, PACKERS["zstd"](BODY[70:])])),
    ],
    ids=[
        "identity",
        "gzip",
        "gzip in two members",
        "zlib",
        "raw deflate",
        "zstd",
        "zstd in two frames and one to skip",
    ],
)
def test_known_encodings(encoding: str, sent: bytes) -> None:
    """Each encoding gives back the body, up to exactly the limit."""
    assert inflate(sent, encoding, limit=len(BODY)) == BODY
    with pytest.raises(OversizedError, match="larger than 9999 bytes"):
        inflate(sent, encoding, limit=len(BODY) - 1)


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_bomb_is_not_unpacked(encoding: str) -> None:
    """A small body that would become huge is refused without producing more than the limit."""
    bomb = PACKERS[encoding](bytes(32 * 1024 * 1024))
    tracemalloc.start()
    with pytest.raises(OversizedError):
        inflate(bomb, encoding, limit=1024 * 1024)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_in_many_members_is_not_unpacked(encoding: str) -> None:
    """The limit holds for all members or frames of a body together."""
    member = PACKERS[encoding](bytes(400_000))
    with pytest.raises(OversizedError):
        inflate(member * 3, encoding, limit=1_000_000)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_members_without_end(encoding: str) -> None:
    """A body of very many members is malformed, since each costs a copy of the rest."""
    with pytest.raises(MalformedError, match="more than 64 parts"):
        inflate(PACKERS[encoding](b"x") * 65, encoding, limit=1_000)


def test_a_window_that_takes_much_memory() -> None:
    """A zstd body is refused when its history would need more memory than HTTP allows."""
    body = wide_zstd(BODY)
    with pytest.raises(MalformedError, match="too much memory"):
        inflate(body, "zstd", limit=100_000)


@pytest.mark.parametrize("encoding", PACKERS)
def test_cut_and_foreign_bodies(encoding: str) -> None:
    """A body that ends too early, or is not compressed at all, is malformed."""
    sent = PACKERS[encoding](BODY)
    with pytest.raises(MalformedError, match="ends too early"):
        inflate(sent[:-20], encoding, limit=100_000)
    with pytest.raises(MalformedError):
        inflate(b"plain text", encoding, limit=100_000)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(sorted(PACKERS)))
def test_any_bytes(body: bytes, encoding: str) -> None:
    """Whatever the bytes, the outcome is a body within the limit or one of our errors."""
    with contextlib.suppress(MalformedError, OversizedError):
        assert len(inflate(body, encoding, limit=1_000)) <= 1_000


@pytest.mark.parametrize(
    ("sent", "encoding"),
    [("", "identity"), (" GZIP ", "gzip"), ("Deflate", "deflate"), ("ZSTD", "zstd")],
)
def test_names_of_encodings(sent: str, encoding: str) -> None:
    """Names are taken in any case, and none means none."""
    assert check_encoding(sent) == encoding


def test_unknown_encoding() -> None:
    """An encoding we do not speak is named together with those we do."""
    with pytest.raises(UnsupportedError, match=r"'br'.*identity, gzip, deflate, zstd"):
        check_encoding("br")
