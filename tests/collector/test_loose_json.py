"""Test the JSON that strict parsers refuse."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.loose_json import Number, dumps, loads, spelled, strings, whole

DIGITS = "7" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1e400}',
        f'{{"a":{DIGITS}}}',
        '["\\ud800"]',
        '["NaN",NaN]',
        '{"a":[1,2.5,true,null,"é\\n"]}',
    ],
)
def test_what_is_read_is_written_as_it_came(text: str) -> None:
    """Numbers past any range, lone surrogates and ordinary values stay what they are."""
    assert spelled(loads(text)) == text


@pytest.mark.parametrize("text", ["", "[", '{"a"}', "[1] 2", '["\\q"]', "[" * 5_000])
def test_what_is_not_json_is_refused(text: str) -> None:
    """Broken or bottomless texts are told by one of two errors."""
    with pytest.raises((ValueError, RecursionError)):
        loads(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (rb'["cut \ud83d"]', ["cut \ufffd"]),
        (rb'{"\uDE00 cut":1}', {"\ufffd cut": 1}),
        (rb'["\ud83d\ud83d\ude00\ude00"]', ["\ufffd😀\ufffd"]),
        (rb'["\\ud83d\ud83d\\ude00"]', ["\\ud83d\ufffd\\ude00"]),
        (rb'["\ud83d\\ude00"]', ["\ufffd\\ude00"]),
        (rb'["\ud83d\ude00"]', ["😀"]),
    ],
)
def test_a_character_that_was_cut_in_half(text: bytes, meant: object) -> None:
    """Its half is no reason to refuse the text around it."""
    assert whole(text) == meant


@given(st.lists(st.sampled_from([r"\ud83d", r"\ude00", r"\\", "ud83d", r"\n", "x"])))
def test_halves_anywhere(parts: list[str]) -> None:
    """What Python's reader takes is read the same, but for the halves."""
    text = '["' + "".join(parts) + '"]'
    said = json.loads(text)[0]
    assert whole(text.encode()) == [
        "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in said)
    ]


@pytest.mark.parametrize(
    "text", [b"", b"[", rb'["\q \ud83d"]', b'["\xff"]', rb'["\ud83"]', b"[NaN]"]
)
def test_what_has_no_halves_stays_refused(text: bytes) -> None:
    """Only they are mended."""
    with pytest.raises(msgspec.DecodeError):
        whole(text)


def test_anything_can_be_spelled() -> None:
    """Depth, bytes, huge integers and numbers that are none are written without an error."""
    deep: object = "end"
    for _ in range(5_000):
        deep = [deep]
    assert dumps(deep) == b"[" * 5_000 + b'"end"' + b"]" * 5_000
    assert spelled({"b": b"to \xff", "n": float("nan"), "s": "\udfff"}) == (
        '{"b":"to \\udcff","n":NaN,"s":"\\udfff"}'
    )
    assert json.loads(spelled(10**6_000)) == hex(10**6_000)
    assert spelled([Number("1e400")]) == "[1e400]"


def test_a_field_that_stands_twice_is_noticed() -> None:
    """A text with a field that reading drops holds more strings than what is written of it."""
    for text in ('{"a":"b\\\\","a":"\\u005c\\u005c"}', '{"a":1,"a":2}'):
        assert strings(dumps(loads(text))) < strings(text.encode())
    same = '{"a": "\\"", "b": ["\\\\", "\\u0022"]}'
    assert strings(dumps(loads(same))) == strings(same.encode())
