"""JSON text is cut into the values it holds, however it comes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.json_documents import Cutter, values

KEYS = st.sampled_from(["a", "]", "}", '"', "\\"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab"\\{}[]\n,:é', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def cut(text: str, size: int) -> list[tuple[int, Any]]:
    """Return the values and their lines, from pieces of a size."""
    raw = text.encode()
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    cutter = Cutter()  # pieces as they are, which `values` gathers
    found = [value for piece in pieces for value in cutter.take(piece)]
    assert [*found, *cutter.rest()] == list(values(pieces))
    return [(line, json.loads(value)) for line, value in found]


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.dictionaries(KEYS, JSON, max_size=3), min_size=1, max_size=4),
    st.sampled_from([None, 2]),
    st.integers(1, 40),
)
def test_every_object_of_a_list(rows: list[Any], indent: int | None, size: int) -> None:
    """The objects of a list come out as they went in, wherever the text is cut."""
    found = cut(json.dumps(rows, indent=indent), size)
    assert [value for _, value in found] == rows
    assert found[0][0] == (1 if indent is None else 2)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.dictionaries(KEYS, JSON, max_size=3), max_size=4), st.integers(1, 40))
def test_documents_behind_each_other(rows: list[Any], size: int) -> None:
    """So do documents that follow each other, with the lines they begin on."""
    texts = [json.dumps(row, indent=1) for row in rows]
    found = cut("\n".join(texts), size)
    lines = [1 + sum(t.count("\n") + 1 for t in texts[:n]) for n in range(len(texts))]
    assert found == list(zip(lines, rows, strict=True))


def test_what_breaks_off() -> None:
    """A value that does not end is given as far as it goes."""
    assert list(values([b'[{"a": 1}, {"b": "x'])) == [(1, b'{"a": 1}'), (1, b'{"b": "x')]
    assert list(values([b"[", b"]", b" 3 "])) == []


@given(st.binary(max_size=60))
def test_any_bytes(text: bytes) -> None:
    """Bytes that are no JSON are cut somehow, never a crash."""
    list(values([text[:7], text[7:]]))
