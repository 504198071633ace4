"""Check which misspelt words are mended."""

from __future__ import annotations

import pytest

from scorers.rules.misspelling import mended
from scorers.rules.person_request import person_asked


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("i want to takl to a humna", "i want to talk to a human"),
        ("speek with somone", "speak with someone"),
        ("chatt wiht an aegnt", "chat with an agent"),
        ("get me the maneger", "get me the manager"),
        ("my cat is a person too", "my cat is a person too"),
        ("that task was urgent, wait for it", "that task was urgent, wait for it"),
        ("a tall tale of a taxi", "a tall tale of a taxi"),
    ],
)
def test_mended(written: str, meant: str) -> None:
    """A word one letter off is mended, and a right word stays."""
    assert mended(written) == meant


def test_a_long_message_stays() -> None:
    """A long message is left as it is."""
    assert mended("takl " * 100) == "takl " * 100


@pytest.mark.parametrize(
    "text",
    ["can i spaek to somebdy", "I need help contactng a person", "let me talk to an oprator"],
)
def test_misspelt_requests(text: str) -> None:
    """Somebody who asks for a person in a hurry is heard, and the whole message is quoted."""
    assert person_asked(text) == text


@pytest.mark.parametrize("text", ["my cat with the hat", "the persn from Lund ordered it"])
def test_no_request(text: str) -> None:
    """Mending makes no request of what is none."""
    assert person_asked(text) == ""
