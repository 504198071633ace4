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

BODY = b"an agent said this, " * 500


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
    ],
    ids=["identity", "gzip", "gzip in two members", "zlib", "raw deflate"],
)
def test_known_encodings(encoding: str, sent: bytes) -> None:
    """Each encoding gives back the body, up to exactly the limit."""
    assert inflate(sent, encoding, limit=len(BODY)) == BODY
    with pytest.raises(OversizedError, match="larger than 9999 bytes"):
        inflate(sent, encoding, limit=len(BODY) - 1)


def test_a_bomb_is_not_unpacked() -> None:
    """A small body that would become huge is refused without producing more than the limit."""
    bomb = gzip.compress(bytes(32 * 1024 * 1024))
    tracemalloc.start()
    with pytest.raises(OversizedError):
        inflate(bomb, "gzip", limit=1024 * 1024)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 * 1024 * 1024


def test_a_bomb_in_many_members_is_not_unpacked() -> None:
    """The limit holds for all members of a gzip body together."""
    member = gzip.compress(bytes(400_000))
    with pytest.raises(OversizedError):
        inflate(member * 3, "gzip", limit=1_000_000)


def test_members_without_end() -> None:
    """A gzip body of very many members is malformed, since each costs a copy of the rest."""
    with pytest.raises(MalformedError, match="more than 64 members"):
        inflate(gzip.compress(b"x") * 65, "gzip", limit=1_000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_cut_and_foreign_bodies(encoding: str) -> None:
    """A body that ends too early, or is not compressed at all, is malformed."""
    sent = gzip.compress(BODY) if encoding == "gzip" else zlib.compress(BODY)
    with pytest.raises(MalformedError, match="ends too early"):
        inflate(sent[:-20], encoding, limit=100_000)
    with pytest.raises(MalformedError):
        inflate(b"plain text", encoding, limit=100_000)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["gzip", "deflate"]))
def test_any_bytes(body: bytes, encoding: str) -> None:
    """Whatever the bytes, the outcome is a body within the limit or one of our errors."""
    with contextlib.suppress(MalformedError, OversizedError):
        assert len(inflate(body, encoding, limit=1_000)) <= 1_000


@pytest.mark.parametrize(
    ("sent", "encoding"), [("", "identity"), (" GZIP ", "gzip"), ("Deflate", "deflate")]
)
def test_names_of_encodings(sent: str, encoding: str) -> None:
    """Names are taken in any case, and none means none."""
    assert check_encoding(sent) == encoding


def test_unknown_encoding() -> None:
    """An encoding we do not speak is named together with those we do."""
    with pytest.raises(UnsupportedError, match=r"'br'.*identity, gzip, deflate"):
        check_encoding("br")
