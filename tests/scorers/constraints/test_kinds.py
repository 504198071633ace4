"""Check every kind of constraint on a reply that keeps it and one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from scorers.constraints.kinds import KINDS, broken, constraint

LONG = "One plain sentence about parcels. " * 3
CASES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "keywords:existence",
        {"keywords": ["Parcel", "Monday"]},
        "The parcel comes on monday.",
        "The parcel comes.",
    ),
    (
        "keywords:forbidden_words",
        {"forbidden_words": ["cost"]},
        "It costs nothing.",
        "The cost is nil.",
    ),
    ("keywords:frequency", {"keyword": "parcel", "frequency": 2}, "Parcel by parcel.", "A parcel."),
    (
        "keywords:letter_frequency",
        {"letter": "z", "let_frequency": 1, "let_relation": "less than"},
        "A parcel.",
        "A Zebra.",
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 1, "capital_relation": "at most"},
        "A parcel.",
        "A BIG parcel.",
    ),
    ("change_case:english_capital", {}, "YOUR PARCEL IS HERE.", "YOUR PARCEL is HERE."),
    ("change_case:english_lowercase", {}, "your parcel is here.", "Your parcel is here."),
    ("punctuation:no_comma", {}, "Here it is.", "Well, here it is."),
    ("punctuation:no_emoji", {}, "Here it is :-)", "Here it is \U0001f600"),
    ("regex", {"pattern": r"\bRMA-\d{4}\b"}, "Your number is RMA-1234.", "Your number is 1234."),
    (
        "regex",
        {"pattern": r"(?i)as an AI", "expected": False},
        "I can help.",
        "As an AI I can help.",
    ),
    (
        "length_constraints:number_words",
        {"num_words": 4},
        "It comes on Monday.",
        "It comes on Monday, I think.",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2},
        "It comes at 3.5 p.m. on Monday. Mr. Lund will bring it.",
        LONG,
    ),
    (
        "length_constraints:number_characters",
        {"num_characters": 12},
        "On Monday.",
        "On Monday at noon.",
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        "One.\n***\nTwo.",
        "One.\n\nTwo.",
    ),
    ("length_constraints:number_blocks", {"num_paragraphs": 1}, "One.\nStill one.", "One.\n\nTwo."),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "parcels"},
        'One.\n\n"Parcels, two.',
        "One.\n\nTwo parcels.",
    ),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        "* one\n- two",
        "* one\n**not one**",
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        "[name] of [street]",
        "[name]",
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        "*one* and **two**",
        "*one* and ** **",
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Part", "num_sections": 2},
        "Part 1\nA.\nPart 2\nB.",
        "Part 1\nA. Part B",
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.P.S"},
        "Yours.\np.p.s. Write soon.",
        "Yours.\nP.S. Write soon.",
    ),
    ("detectable_format:title", {}, "<<Parcels>>\nThey come.", "<< >>\nThey come."),
    (
        "detectable_format:json_format",
        {},
        '```json\n{"on": "Monday"}\n```',
        'Here: {"on": "Monday"}',
    ),
    (
        "detectable_format:json_schema",
        {"schema": {"type": "object", "required": ["on"]}},
        '{"on": 1}',
        '{"off": 1}',
    ),
    ("detectable_format:no_markdown", {}, "- a list\n2 * 3 * 4", "# Parcels\nThey come."),
    (
        "detectable_format:constrained_response",
        {"options": ["Approved.", "Refused."]},
        "Approved.",
        "Perhaps.",
    ),
    ("combination:two_responses", {}, "One.\n******\nTwo.", "One.\n******\nOne."),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Where is it?"},
        "Where is it? At home.",
        "At home.",
    ),
    (
        "startend:start_checker",
        {"start_phrase": "Dear customer"},
        "Dear customer, it came.",
        "It came, dear customer.",
    ),
    (
        "startend:end_checker",
        {"end_phrase": "Anything else?"},
        "It came. Anything else?",
        "It came.",
    ),
    ("startend:quotation", {}, '"It came."', '"It" came.'),
    (
        "language:response_language",
        {"language": "German"},
        "Ihr Paket wurde gestern zugestellt.",
        "Your parcel was delivered yesterday.",
    ),
)


@pytest.mark.parametrize(("kind", "arguments", "kept", "not_kept"), CASES)
def test_kind(kind: str, arguments: dict[str, Any], kept: str, not_kept: str) -> None:
    """A reply that keeps the constraint passes, and one that does not is told in a few words."""
    one = constraint(kind, arguments)
    assert one.wording
    assert broken(one, kept) == ""
    assert 0 < len(broken(one, not_kept)) < 200


def test_every_kind_is_tried() -> None:
    """No kind is without a case above, and the 25 of IFEval are among them."""
    assert {kind for kind, *_ in CASES} == set(KINDS)
    ours = {"regex", "punctuation:no_emoji", "length_constraints:number_characters", "length_constraints:number_blocks",
            "detectable_format:json_schema", "detectable_format:no_markdown", "startend:start_checker"}  # fmt: skip
    assert len(set(KINDS) - ours) == 25


@pytest.mark.parametrize(
    ("relation", "holds_for"),
    [
        ("less than", {2}),
        ("at most", {2, 3}),
        ("exactly", {3}),
        ("at least", {3, 4}),
        ("more than", {4}),
    ],
)
def test_relations(relation: str, holds_for: set[int]) -> None:
    """A count is compared as the words say."""
    one = constraint("length_constraints:number_words", {"num_words": 3, "relation": relation})
    assert {n for n in (2, 3, 4) if not broken(one, " ".join(["word"] * n))} == holds_for


@pytest.mark.parametrize(
    ("kind", "arguments", "told"),
    [
        ("keywords:exist", {}, "did you mean keywords:existence?"),
        ("punctuation:no_comma", {"n": 1}, "it takes none"),
        ("length_constraints:number_words", {"words": 3}, "it takes num_words, relation"),
        (
            "length_constraints:number_words",
            {"num_words": 3, "relation": "over"},
            "'over' is none of less than",
        ),
        ("length_constraints:number_words", {}, "num_words"),
        ("regex", {"pattern": "("}, "unterminated"),
        ("language:response_language", {"language": "Klingon"}, "'Klingon' is none of"),
    ],
)
def test_mistakes(kind: str, arguments: dict[str, Any], told: str) -> None:
    """A constraint that cannot be checked is an error that says what is wrong."""
    with pytest.raises(ValueError, match=r".") as error:
        constraint(kind, arguments)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "language", "keeps"),
    [
        ("Bien sûr, je vous l'envoie dès demain matin.", "fr", True),
        ("Bien sûr, je vous l'envoie dès demain matin.", "es", False),
        ("OK", "fr", True),
        ("Voici le code :\n```\nwhile the parcel is not here: wait for it please\n```", "fr", True),
        ("Aapka parcel kal subah tak aa jaayega, kripya intezaar karein.", "hi", False),
        ("आपका पार्सल कल सुबह तक आ जाएगा।", "hindi", True),
        ("Ihr Paket ist da.\n(In English: your parcel is here.)", "de", True),
    ],
)
def test_languages(text: str, language: str, keeps: bool) -> None:
    """A reply in another language or in other letters is told; a word, code or a gloss is not."""
    found = broken(constraint("language:response_language", {"language": language}), text)
    assert (found == "") is keeps
