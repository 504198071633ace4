"""Test the reading of credentials."""

from __future__ import annotations

import base64

import pytest

from collector.receivers.bearer import bearer_token, credential_hash, password


@pytest.mark.parametrize(
    ("shown", "token"),
    [
        ("Bearer s3cret", "s3cret"),
        ("bearer  s3cret ", "s3cret"),
        ("Bearer two words", "two words"),
        ("Basic s3cret", ""),
        ("s3cret", ""),
        ("Bearer", ""),
        ("", ""),
    ],
)
def test_only_a_bearer_token_is_read(shown: str, token: str) -> None:
    """Nothing but what follows the word Bearer is a token."""
    assert bearer_token(shown) == token


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (b"anybody:s3cret", "s3cret"),
        (b":s3cret", "s3cret"),
        (b"anybody:a:b", "a:b"),
        (b"s3cret:", ""),
        (b"s3cret", ""),
        (b"\xff:s3cret", ""),
    ],
)
def test_the_password_is_read_whoever_the_user(pair: bytes, expected: str) -> None:
    """Of HTTP Basic the password counts alone; what is no UTF-8 is none."""
    assert password(f"Basic {base64.b64encode(pair).decode()}") == expected


@pytest.mark.parametrize("shown", ["", "Basic", "Basic !!", "Basic s3cret", "Bearer s3cret"])
def test_what_is_not_basic_has_no_password(shown: str) -> None:
    """Anything that is no credential of HTTP Basic is passed over without an error."""
    assert password(shown) == ""


def test_the_credential_is_named_and_not_told() -> None:
    """A credential becomes a short hash, the same each time; none becomes nothing."""
    name = credential_hash("Bearer s3cret")

    assert name == credential_hash("Bearer s3cret") != credential_hash("Bearer other")
    assert len(name) == 16
    assert "s3cret" not in name
    assert credential_hash("") == ""
