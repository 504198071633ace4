"""Test how numbers, times and names are written."""

from __future__ import annotations

import pytest

from alerts.console import words

NS = 1_000_000_000
AT = 1_789_998_400 * NS


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0, "0 %"),
        (0.00004, "<0.01 %"),
        (0.0044, "0.44 %"),
        (0.018, "1.8 %"),
        (0.41, "41 %"),
        (1, "100 %"),
    ],
)
def test_shares(share: float, written: str) -> None:
    """Small shares get two digits, large ones none after the point."""
    assert words.percent(share).replace("\u202f", " ") == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (None, "—"),
        (-1, "—"),
        (0.0012, "1.2 ms"),
        (0.085, "85 ms"),
        (2.34, "2.3 s"),
        (75, "75 s"),
        (600, "10 min"),
        (7_300, "2 h"),
        (400_000, "5 days"),
    ],
)
def test_durations(seconds: float | None, written: str) -> None:
    """Durations come in the unit that fits; what is not known is a dash."""
    assert words.duration(seconds).replace("\u202f", " ") == written


def test_times() -> None:
    """A time is written with its date unless that is the other one's."""
    assert words.moment(AT) == "2026-09-21 13:46:40"
    assert words.moment(0) == "—"
    assert words.clock(AT) == "21 Sep 13:46"
    assert words.clock(AT, AT + 3_600 * NS) == "13:46"
    assert words.clock(AT, AT + 86_400 * NS) == "21 Sep 13:46"
    assert words.between(AT, AT + 600 * NS, AT) == "(13:46\u201313:56)"
    assert words.between(AT, AT + NS, AT) == ""


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0"),
        (1.234, "1.2"),
        (104, "104"),
        (4_377_600, "4.38 M"),
        (43_776_000, "43.8 M"),
        (9e15, "9e+03 T"),
    ],
)
def test_evidence(number: float, written: str) -> None:
    """Evidence, which grows without bounds, keeps three digits."""
    assert words.evidence(number).replace("\u202f", " ") == written


@pytest.mark.parametrize(
    ("number", "written"), [(9.9e3, "9.9 K"), (10_000, "over 10 K (capped)"), (0, "0")]
)
def test_evidence_at_its_cap(number: float, written: str) -> None:
    """Evidence that may not grow any more is not given as a measurement."""
    assert words.measured(number, 1_000.0).replace("\u202f", " ") == written
    assert words.measured(number, 0.0) == words.evidence(number)


def test_sizes() -> None:
    """Bytes come in the unit that fits."""
    found = [words.size(n).replace("\u202f", " ") for n in (12, 4_200, 5_100_000, 2_300_000_000)]
    assert found == ["12 B", "4.2 KB", "5.1 MB", "2.3 GB"]


def test_addresses() -> None:
    """Whatever stands in an id or a name is quoted in an address, and what is empty left out."""
    assert words.href("/x", a="1 & 2", b="", c=None, d="ü") == "/x?a=1+%26+2&d=%C3%BC"
    assert words.href("/x", a="") == "/x"
    found = words.conversation_href('a/b?c#"\n\ud800', **{"from": 200})
    assert found == "/conversations/a%2Fb%3Fc%23%22%0A%3F?from=200"


def test_control_characters() -> None:
    """Characters that HTML cannot carry are shown as signs; line breaks and tabs stay."""
    assert words.readable("a\x00b\x1b\x7f\n\t\ud800") == "a\u2400b\u241b\ufffd\n\t\ufffd"
