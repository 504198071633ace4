"""Hold how a reply is cut and what of it claims nothing."""

from __future__ import annotations

import pytest

from scorers.rules.statements import claims_of, statements_of


def test_sentences_and_lines_are_statements() -> None:
    """A reply is cut after sentences and at line ends, and each piece stands in it."""
    reply = "Dr. Alm paid 4.50 for it.  It was late!\n- a first point\n\n- a second, v1.2"
    found = statements_of(reply)
    assert found == [
        "Dr.",
        "Alm paid 4.50 for it.",
        "It was late!",
        "- a first point",
        "- a second, v1.2",
    ]
    assert all(piece in reply for piece in found)


@pytest.mark.parametrize(
    "talk",
    [
        "Hello Ada!",
        "You\u2019re welcome.",
        "Is there anything else I can do?",
        "Let me know if you need more.",
        "I don't have that information.",
        "Here are the details:",
        "The document does not say.",
    ],
)
def test_talk_claims_nothing(talk: str) -> None:
    """Greetings, offers, questions, announcements and admitted ignorance are left out."""
    assert claims_of(talk) == []


def test_a_claim_beside_talk_is_kept() -> None:
    """Only the statement that can be checked remains."""
    assert claims_of("Thanks! The shop opens at nine. Anything else?") == [
        "The shop opens at nine."
    ]


def test_a_very_long_reply_is_cut() -> None:
    """Of an endless reply the beginning is looked at."""
    assert len(statements_of("It is so. " * 10_000)) == 100


@pytest.mark.parametrize(
    ("reply", "claims"),
    [
        ("Hillary lives here.", ["Hillary lives here."]),
        ("His boat is old.", ["His boat is old."]),
        ("i like tea ! it grows in hills .", ["i like tea !", "it grows in hills ."]),
        ("Do you like tea? It grows in hills.", ["It grows in hills."]),
        ("Did you know that tea grows in hills?", ["Did you know that tea grows in hills?"]),
        ("I'm not sure, but I do know that tea grows in hills.", ["tea grows in hills."]),
        ("I have never been there, but the pier is old.", ["the pier is old."]),
        ("I like tea, but no.", ["I like tea, but no."]),
    ],
)
def test_the_claim_in_talk_is_found(reply: str, claims: list[str]) -> None:
    """Names that begin like a greeting, spaced full stops, told questions and asides are understood."""
    assert claims_of(reply) == claims
