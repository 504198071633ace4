"""Hold how actions are sorted into kinds."""

from __future__ import annotations

import pytest

from collector.model import ToolDefinition
from scorers.rules.acts import PARTICIPLES, acts_of, participles_of


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("send", ("sent",)),
        ("update", ("updated",)),
        ("notify", ("notified",)),
        ("cancel", ("cancelled", "canceled")),
        ("submit", ("submitted",)),
        ("deploy", ("deployed",)),
        ("refund", ("refunded",)),
    ],
)
def test_participles(verb: str, forms: tuple[str, ...]) -> None:
    """Participles are spelled as English spells them, in both spellings where there are two."""
    assert participles_of(verb) == forms
    assert all(form in PARTICIPLES for form in forms)


def test_a_tools_kinds_come_from_its_name_and_description() -> None:
    """Each word that says what a tool can do counts; a tool without any may do anything."""
    assert acts_of("send_money") == {"tell", "pay"}
    assert acts_of("cancelParcel") == {"remove"}
    assert acts_of("parcel", ToolDefinition(name="parcel", description="Update it.")) == {"edit"}
    assert acts_of("frobnicate") == frozenset()
