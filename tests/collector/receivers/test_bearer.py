"""Test the check of credentials."""

from __future__ import annotations

import base64

import pytest

from collector.receivers.bearer import admits, admits_person, credential_hash


@pytest.mark.parametrize(
    ("shown", "admitted"),
    [
        ("Bearer s3cret", True),
        ("bearer  s3cret ", True),
        ("Bearer s3cre", False),
        ("Bearer s3cret2", False),
        ("Basic s3cret", False),
        ("s3cret", False),
        ("Bearer geheimniß", False),
        ("", False),
    ],
)
def test_only_the_token_is_admitted(shown: str, *, admitted: bool) -> None:
    """With a token set, nothing but that token as a bearer token is admitted."""
    assert admits(shown, "s3cret") is admitted


@pytest.mark.parametrize(
    ("pair", "admitted"),
    [
        (b"anybody:s3cret", True),
        (b":s3cret", True),
        (b"anybody:s3cret2", False),
        (b"s3cret:", False),
        (b"s3cret", False),
        (b"anybody:a:b", False),
        (b"\xff:s3cret", False),
    ],
)
def test_a_person_shows_the_token_as_password(pair: bytes, *, admitted: bool) -> None:
    """By HTTP Basic the password must be the token, whoever the user."""
    assert admits_person(f"Basic {base64.b64encode(pair).decode()}", "s3cret") is admitted


@pytest.mark.parametrize("shown", ["", "Basic", "Basic !!", "Basic s3cret", "Bearer s3cret"])
def test_what_is_not_basic_admits_no_person(shown: str) -> None:
    """Anything that is no credential of HTTP Basic is refused without an error."""
    assert not admits_person(shown, "s3cret")


def test_everybody_is_admitted_without_a_token() -> None:
    """With no token set, anything is admitted."""
    assert admits("", "")
    assert admits("Bearer whatever", "")


def test_the_credential_is_named_and_not_told() -> None:
    """A credential becomes a short hash, the same each time; none becomes nothing."""
    name = credential_hash("Bearer s3cret")

    assert name == credential_hash("Bearer s3cret") != credential_hash("Bearer other")
    assert len(name) == 16
    assert "s3cret" not in name
    assert credential_hash("") == ""
