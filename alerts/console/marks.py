"""Cut a text into the pieces that verdicts quote and those between, and shorten it where it is long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

AROUND = 400
"""Characters kept on each side of a quote that lies in a part that is left out."""


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """Words that a verdict rests on."""

    verdict: int
    """Number of the verdict on the page, from 1."""
    text: str


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a text."""

    text: str
    verdicts: tuple[int, ...] = ()
    """The verdicts that quote it; empty for the text between."""
    ends: tuple[int, ...] = ()
    """Those of them whose quote ends here."""
    left_out: int = 0
    """Characters that were here; ``text`` is empty then."""


def pieces_of(text: str, quotes: Iterable[Quote], *, limit: int) -> list[Piece]:
    """Cut a text at the quotes in it, and leave out what is beyond ``limit`` and far from any.

    A quote is marked at its first place. One that does not stand in the text is left to
    ``missing``.
    """
    spans: list[tuple[int, int, int]] = []
    for quote in quotes:
        place = find(text, quote.text)
        if place is not None:
            spans.append((*place, quote.verdict))
    kept = _kept(len(text), spans, limit)
    cuts = sorted(
        {0, len(text)}
        | {edge for start, end, _ in spans for edge in (start, end)}
        | {edge for window in kept for edge in window}
    )
    pieces: list[Piece] = []
    for start, end in pairwise(cuts):
        if not any(a <= start and end <= b for a, b in kept):
            pieces.append(Piece(text="", left_out=end - start))
            continue
        by = tuple(sorted({n for a, b, n in spans if a <= start and end <= b}))
        ends = tuple(sorted({n for _, b, n in spans if b == end and n in by}))
        pieces.append(Piece(text=text[start:end], verdicts=by, ends=ends))
    return pieces


def missing(text: str, quotes: Iterable[Quote]) -> list[Quote]:
    """Return the quotes that do not stand in a text word for word."""
    return [quote for quote in quotes if find(text, quote.text) is None]


def find(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands, also where it stands as JSON writes it."""
    if not quote:
        return None
    for spelling in dict.fromkeys((quote, json.dumps(quote)[1:-1], quote.strip())):
        start = text.find(spelling) if spelling else -1
        if start >= 0:
            return start, start + len(spelling)
    return None


def _kept(length: int, spans: Sequence[tuple[int, int, int]], limit: int) -> list[tuple[int, int]]:
    """Return the stretches of a text that are shown, in order and apart."""
    wanted = sorted(
        [
            (0, min(length, limit)),
            *(
                (max(0, start - AROUND), min(length, min(end, start + limit) + AROUND))
                for start, end, _ in spans
            ),
        ]
    )
    merged: list[tuple[int, int]] = []
    for start, end in wanted:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
