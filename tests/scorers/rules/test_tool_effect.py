"""Hold how tools that act are told from tools that look."""

from __future__ import annotations

import pytest

from collector.model import ToolDefinition
from scorers.rules.tool_effect import effect_of, words_of


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("get_parcel", "read"),
        ("listInvoices", "read"),
        ("crm.search-contacts", "read"),
        ("order_status", "read"),
        ("booking_details", "read"),
        ("order_pizza", "write"),
        ("book_table", "write"),
        ("CancelSubscription", "write"),
        ("mcp__mail__send_message", "write"),
        ("make_payment", "write"),
        ("frobnicate", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_name_tells_by_its_first_verb(name: str, effect: str) -> None:
    """A tool's effect is its first verb's, unless that verb is a noun before a read noun."""
    assert effect_of(name) == effect


def test_declared_hints_outrank_the_name() -> None:
    """MCP's hints decide where the name would say the opposite."""
    assert effect_of("delete_view", ToolDefinition(name="delete_view", read_only=True)) == "read"
    assert effect_of("get_rid_of", ToolDefinition(name="get_rid_of", destructive=True)) == "write"


@pytest.mark.parametrize(
    ("description", "effect"),
    [
        ("Sends a parcel to the customer.", "write"),
        ("Use this to look up a tariff.", "read"),
        ("Modifies the tariff.", "write"),
        ("", "unknown"),
    ],
)
def test_a_description_tells_where_the_name_does_not(description: str, effect: str) -> None:
    """The first verb of the description decides when the name holds none."""
    assert effect_of("tariff", ToolDefinition(name="tariff", description=description)) == effect


def test_a_tool_declared_not_read_only_writes() -> None:
    """A tool whose name says nothing and that may modify things counts as writing."""
    assert effect_of("tariff", ToolDefinition(name="tariff", read_only=False)) == "write"


def test_names_split_in_every_case() -> None:
    """Snake, camel, kebab and dotted names fall into the same words."""
    assert words_of("get_URLInfo") == ["get", "url", "info"]
    assert words_of("shop.sendMail-now") == ["shop", "send", "mail", "now"]
