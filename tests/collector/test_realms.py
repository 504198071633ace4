"""Test what ids stand for where a token proves whose they are."""

from __future__ import annotations

from collector.realms import scoped

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_without_a_realm() -> None:
    """Where no token proves a tenant an id stands for itself."""
    assert scoped(TRACE, "") == TRACE
    assert scoped("", "") == scoped("", "acme") == ""


def test_within_a_realm() -> None:
    """Each tenant's id is another one, the same each time, and no sender can write another's."""
    acme, brill = scoped(TRACE, "acme"), scoped(TRACE, "brill")
    assert len({acme, brill, TRACE}) == 3
    assert acme == scoped(TRACE, "acme")
    assert len(bytes.fromhex(acme)) == 16
    assert scoped(acme, "brill") != acme
