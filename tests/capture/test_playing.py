"""Test that what real clients say under real instrumentations arrives whole."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.capture.libraries import Library
from tests.capture.own import ANTHROPIC, OPENAI
from tests.capture.playing import DriverError, play
from tests.capture.recordings import Cassette

_HERE = Path(sys.executable)


@pytest.mark.parametrize(
    ("driver", "recorded"),
    [
        (("clients.py", "openllmetry", "anthropic"), ANTHROPIC),
        (("clients.py", "openinference", "openai"), OPENAI),
    ],
)
def test_everything_said_arrives(driver: tuple[str, ...], recorded: tuple[Cassette, ...]) -> None:
    """Messages, tools, calls, results, tokens, reasons and errors, streamed and not."""
    library = Library(name="here", packages=(), driver=driver, apis=("messages",))
    harbour, refused = play(library, recorded, _HERE)
    assert [harbour.complaint, refused.complaint] == ["", ""]
    found = [*harbour.result.findings, *refused.result.findings]
    assert [str(finding) for finding in found if finding.fate != "arrived"] == []
    kinds = Counter(finding.fact.kind for finding in found)
    assert set(kinds) == {
        "system",
        "user",
        "assistant",
        "tool definition",
        "tool call",
        "tool result",
        "tokens",
        "finish reason",
        "error",
    }
    assert (harbour.result.calls, harbour.result.conversations) == (2, 1)


def test_what_a_library_does_not_send_is_told_from_what_we_lose() -> None:
    """The client's own spans hold counts and reasons, and no word that was said."""
    library = Library(
        name="here", packages=(), driver=("clients.py", "none", "anthropic"), apis=("messages",)
    )
    harbour, _ = play(library, ANTHROPIC, _HERE)
    fates = {(finding.fact.kind, finding.fate) for finding in harbour.result.findings}
    assert ("assistant", "omitted") in fates
    assert ("tokens", "arrived") in fates
    assert "lost" not in {fate for _, fate in fates}


def test_a_driver_that_fails_says_so() -> None:
    """An instrumentation that cannot be loaded is no empty result."""
    library = Library(
        name="here", packages=(), driver=("clients.py", "otel", "anthropic"), apis=("messages",)
    )
    with pytest.raises(DriverError, match="opentelemetry"):
        list(play(library, ANTHROPIC, _HERE))
