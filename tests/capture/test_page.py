"""Test the page that says what arrives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.__main__ import PAGE
from tests.capture.comparison import Finding, Result
from tests.capture.facts import Fact
from tests.capture.libraries import LIBRARIES
from tests.capture.page import page
from tests.capture.playing import Played
from tests.capture.tally import Tally


def test_cells_tell_what_arrived_from_what_did_not() -> None:
    """What a library omits and what we lose are different things."""
    fact = Fact(kind="user", text="Hi")
    findings = tuple(
        Finding(fact=fact, fate=fate, streamed=fate == "lost")
        for fate in ("arrived", "arrived", "omitted", "lost")
    )
    tally = Tally()
    tally.add(
        Played(
            cassette="own/harbour",
            exchanges=2,
            recorded=2,
            complaint="",
            result=Result(findings=findings, conversations=2, explicit=1, calls=3, exchanges=2),
            requests=[],
        )
    )
    text = page({LIBRARIES[0].name: tally})
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {LIBRARIES[0].name} | 2 |")]
    assert "| 2/4 (1 not sent, **1 lost**) |" in row
    assert row.endswith("| 0/1 (**1 lost**) | 1/2 | 1 |")
    assert [cassette for cassette, _ in tally.lost] == ["own/harbour"]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_the_page_is_about_the_libraries_and_versions_of_the_table(library: object) -> None:
    """A version that changes is measured again."""
    text = Path(PAGE).read_text()
    (named,) = [known for known in LIBRARIES if known is library]
    assert text.count(f"| {named.name} |") == 2
    assert all(f"`{package}`" in text for package in named.packages)
