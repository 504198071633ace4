"""Check requests for a person, and hand-overs, in other languages."""

from __future__ import annotations

import pytest

from scorers.rules.missed_escalation import missed_escalation
from scorers.rules.person_request import person_asked
from scorers.rules.person_request_abroad import hands_over_abroad
from tests.build import agent, conversation, user


@pytest.mark.parametrize(
    "text",
    [
        "Ich möchte bitte mit einem Mitarbeiter sprechen.",
        "Verbinden Sie mich mit einem Menschen!",
        "Je voudrais parler à un conseiller.",
        "Passez-moi un responsable, s\u2019il vous plaît.",
        "Quiero hablar con una persona.",
        "¿Puede comunicarme con un agente?",
        "Vorrei parlare con un operatore.",
        "Quero falar com um atendente.",
        "Ik wil een medewerker spreken.",
    ],
)
def test_asked(text: str) -> None:
    """A request is heard, and its words stand in the message."""
    found = person_asked(text)
    assert found
    assert found in text


@pytest.mark.parametrize(
    "text",
    [
        "Ich möchte nicht mit einem Mitarbeiter sprechen.",
        "Ich habe gestern mit einem Mitarbeiter gesprochen.",
        "No quiero hablar con una persona.",
        "Une personne de ma famille a commandé.",
        "La persona que lo pidió es mi madre.",
    ],
)
def test_not_asked(text: str) -> None:
    """A denial and people who are merely mentioned are no request."""
    assert person_asked(text) == ""


@pytest.mark.parametrize(
    "reply",
    [
        "Ich verbinde Sie mit einem Mitarbeiter.",
        "Je vous transfère à un conseiller.",
        "Le paso con un agente.",
        "La trasferisco a un operatore.",
        "Vou transferir você para um atendente.",
        "Ik verbind u door met een collega.",
    ],
)
def test_handed_over(reply: str) -> None:
    """A hand-over in the user's language meets the wish."""
    assert hands_over_abroad(reply)
    talk = conversation(user("Ich möchte mit einem Menschen sprechen."), agent(reply))
    info = missed_escalation
    assert info.function(talk, **info.options).verdict == "pass"


def test_gone_on() -> None:
    """An agent that goes on in the same language has missed it."""
    talk = conversation(user("Quiero hablar con una persona."), agent("¿Cuál es su pedido?"))
    info = missed_escalation
    assert info.function(talk, **info.options).verdict == "fail"
