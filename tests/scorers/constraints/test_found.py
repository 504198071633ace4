"""Check which demands are read from a system prompt, and which are left alone."""

from __future__ import annotations

import pytest

from scorers.constraints.found import constraints_in


@pytest.mark.parametrize(
    ("prompt", "wordings"),
    [
        ("Keep every reply under 80 words.", ["have less than 80 words"]),
        ("Your answers must not exceed three sentences.", ["have at most 3 sentences"]),
        ("Limit your responses to 500 characters!", ["have at most 500 characters"]),
        ("Be brief, answer in a sentence.", ["have at most 1 sentences"]),
        ("Reply with just one sentence.", ["have at most 1 sentences"]),
        ("Respond in five words or less.", ["have at most 5 words"]),
        ("Answer in 2-3 sentences.", ["have at least 2 sentences", "have at most 3 sentences"]),
        ("Responses have to have at least 50 words.", ["have at least 50 words"]),
        ("Always respond only in Spanish.", ["be in Spanish"]),
        ("You are Pia.\nSpeak in plain English.", ["be in English"]),
        ("Never use the word \"guarantee\" or 'promise'.", ['not say "guarantee", "promise"']),
        ("Always include the phrase “terms apply”.", ['say "terms apply"']),
        ('End every message with "Ride safe!"', ['end with "Ride safe!"']),
        ("Begin your replies with 'Hi, Pia here'", ['begin with "Hi, Pia here"']),
        ("Respond only with valid JSON.", ["be JSON"]),
        ("- Do not use emojis.\n- Don't use Markdown formatting.", ["have no emoji", "have no Markdown"]),
        ("Never use exclamation marks.", ['have "!" less than 1 times']),
        ("Write in all lowercase letters.", ["be all small letters"]),
    ],
)  # fmt: skip
def test_found(prompt: str, wordings: list[str]) -> None:
    """A plain demand on every reply is found, once."""
    assert [one.wording for one in constraints_in(prompt)] == wordings
    assert [one.wording for one in constraints_in(f"{prompt}\n{prompt}")] == wordings


@pytest.mark.parametrize(
    "prompt",
    [
        "You are the assistant of a bicycle shop.",
        "If the user asks for data, respond in JSON.",
        "Respond in the user's language.",
        "Write the e-mail in German.",
        "Write a title of at most 8 words.",
        "The tool returns at most 10 sentences of each review.",
        "Customers may cancel up to 3 days before; answer politely.",
        "For example, keep it under 20 words.",
        "Try to answer in 50 words.",
        "Call the function with JSON.",
        "Put the number into the last sentence of your answer.",
        "Answer in your own words.",
        "Answer in English or French.",
        "Never use the customer's name.",
        "The shop has at least 40 bicycles.",
        "",
    ],
)
def test_left_alone(prompt: str) -> None:
    """What holds only at times, is soft, or is about something else than the reply, is no demand."""
    assert constraints_in(prompt) == ()


def test_bounded() -> None:
    """A prompt of a megabyte, or one of demands alone, gives a bounded list."""
    many = "\n".join(f'Never use the word "word{n}".' for n in range(500))
    assert len(constraints_in(many)) == 30
    assert constraints_in("never use the word " * 50_000) == ()
