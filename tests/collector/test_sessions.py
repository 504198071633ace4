"""Test the sessions of the console."""

from __future__ import annotations

from pathlib import Path

from collector.config import TokenConfig
from collector.sessions import Sessions
from tests.collector.access import sessions, tokens

TOKEN = "a long phrase"  # noqa: S105  # a test's, not a secret


def test_a_session_stands_for_its_token() -> None:
    """A session has the rights and the tenant of the token that it was opened with."""
    known = tokens(anna=TokenConfig(token=TOKEN, tenant="acme"))
    held = sessions(known)
    name = held.open(TOKEN)
    grant = held.grant(name)
    assert grant is not None
    assert (grant.name, grant.tenant) == ("anna", "acme")
    assert len(name) == 43
    assert TOKEN not in name


def test_only_for_who_may_read() -> None:
    """A wrong token opens nothing, and neither does one that may only write."""
    held = sessions(tokens(TOKEN, agents=TokenConfig(token="w", rights=("write",))))  # noqa: S106
    assert held.open("") == held.open("wrong") == held.open("w") == ""
    assert held.grant("") is None
    assert held.grant("AAAA") is None


def test_it_ends_when_told() -> None:
    """After the log-out the name is worth nothing, and the other sessions go on."""
    held = sessions(tokens(TOKEN))
    one, other = held.open(TOKEN), held.open(TOKEN)
    held.close(one)
    held.close("never there")
    assert held.grant(one) is None
    assert held.grant(other) is not None


def test_it_ends_by_itself() -> None:
    """After its time a session is over."""
    now = [0.0]
    names = iter(range(9))
    held = Sessions(
        tokens(TOKEN),
        lifetime_s=60.0,
        random_bytes=lambda size: next(names).to_bytes(size, "big"),
        seconds=lambda: now[0],
    )
    name = held.open(TOKEN)
    now[0] = 59.9
    assert held.grant(name) is not None
    now[0] = 60.0
    assert held.grant(name) is None


def test_the_oldest_ends_when_there_are_too_many() -> None:
    """Sessions are bounded in number."""
    held = sessions(tokens(TOKEN), most=2)
    names = [held.open(TOKEN) for _ in range(3)]
    assert [held.grant(name) is not None for name in names] == [False, True, True]


def test_it_ends_with_its_token(tmp_path: Path) -> None:
    """When a token is taken out of its file, what was opened with it is over."""
    file = tmp_path / "tokens"
    file.write_text("old\nnew\n")
    held = sessions(tokens(anna=TokenConfig(file=str(file))))
    old, new = held.open("old"), held.open("new")
    file.write_text("new\n")
    assert held.grant(old) is None
    assert held.grant(new) is not None
