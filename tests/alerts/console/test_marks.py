"""Test how texts are cut at the words that verdicts quote."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alerts.console.marks import Piece, Quote, find, missing, pieces_of


def test_a_quote_is_marked() -> None:
    """The quoted words are a piece of their own that names the verdict."""
    pieces = pieces_of("I have refunded it. Bye.", [Quote(verdict=1, text="refunded it")], limit=99)

    assert [piece.text for piece in pieces] == ["I have ", "refunded it", ". Bye."]
    assert pieces[1] == Piece(text="refunded it", verdicts=(1,), ends=(1,))


def test_quotes_that_overlap() -> None:
    """Words that two verdicts quote name both, and each ends where its quote does."""
    quotes = [Quote(verdict=1, text="b c d"), Quote(verdict=2, text="c")]
    marked = {
        p.text.strip(): (p.verdicts, p.ends) for p in pieces_of("a b c d e", quotes, limit=99)
    }

    assert marked["c"] == ((1, 2), (2,))
    assert marked["d"] == ((1,), (1,))
    assert marked["a"] == ((), ())


def test_a_long_text() -> None:
    """What is beyond the limit is left out and counted, but not around a quote."""
    text = "a" * 5_000 + "NEEDLE" + "b" * 5_000
    pieces = pieces_of(text, [Quote(verdict=3, text="NEEDLE")], limit=100)

    assert sum(len(piece.text) + piece.left_out for piece in pieces) == len(text)
    assert [piece.verdicts for piece in pieces if piece.text == "NEEDLE"] == [(3,)]
    assert sum(len(piece.text) for piece in pieces) < 1_000


def test_words_as_json_writes_them() -> None:
    """A quote is found where JSON escapes it."""
    text = '{"said": "over\\nhere"}'
    place = find(text, "over\nhere")

    assert place is not None
    assert text[slice(*place)] == "over\\nhere"


def test_words_that_are_not_there() -> None:
    """Words that do not stand in a text mark nothing and are told of."""
    quote = Quote(verdict=1, text="elsewhere")

    assert pieces_of("here", [quote], limit=99) == [Piece(text="here")]
    assert missing("here", [quote, Quote(verdict=2, text="here")]) == [quote]
    assert pieces_of("", [quote], limit=99) == []


@given(
    st.text(max_size=200),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 30)), max_size=6),
    st.integers(1, 250),
)
def test_nothing_is_lost(text: str, places: list[tuple[int, int]], limit: int) -> None:
    """The pieces and what was left out between them are the whole text, in order."""
    quotes = [Quote(verdict=n, text=text[a : a + b]) for n, (a, b) in enumerate(places, start=1)]
    position = 0
    for piece in pieces_of(text, quotes, limit=limit):
        assert text[position : position + len(piece.text)] == piece.text
        position += len(piece.text) + piece.left_out
    assert position == len(text)
