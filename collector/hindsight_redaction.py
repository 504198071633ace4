"""Redact what is learned of a conversation later: outcomes and people's labels."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec.structs import replace

from collector.hindsight import About, Label, Outcome


class Gate(Protocol):
    """What is needed of a redactor."""

    def text(self, text: str) -> str:
        """Return a text without anything sensitive."""

    def value(self, value: Any, name: str = "") -> Any:
        """Return the value of a field of this name without anything sensitive."""

    def id(self, id: str) -> str:
        """Return an id that says nothing about anybody."""


def redacted_outcome(outcome: Outcome, gate: Gate) -> Outcome:
    """Return the outcome with its text redacted; the name counts as its value's field."""
    text = gate.text
    value: bool | float | str = gate.value(outcome.value, outcome.name)
    return replace(
        outcome,
        about=_about(outcome.about, gate),
        name=text(outcome.name),
        value=value,
        source=text(outcome.source),
        tool=text(outcome.tool),
        call_id=gate.id(outcome.call_id),
        id=gate.id(outcome.id),
    )


def redacted_label(label: Label, gate: Gate) -> Label:
    """Return the label with its text redacted; its author stays one person, under an alias."""
    text = gate.text
    return replace(
        label,
        about=_about(label.about, gate),
        scorer=text(label.scorer),
        category=text(label.category),
        target=gate.id(label.target),
        author=gate.id(label.author),
        source=text(label.source),
        comment=text(label.comment),
        id=gate.id(label.id),
    )


def _about(about: About, gate: Gate) -> About:
    text = gate.text
    return replace(
        about,
        conversation_id=gate.id(about.conversation_id),
        tenant=text(about.tenant),
        environment=text(about.environment),
        variant=text(about.variant),
    )
