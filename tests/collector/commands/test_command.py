"""Commands that ask an instance find what they need in the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.commands.command import token_for, trust
from collector.config import AuthConfig, Config, TokenConfig
from collector.errors import ConfigError


def configured(token: str = "", **tokens: TokenConfig) -> Config:
    """Build a configuration with tokens."""
    return Config(auth=AuthConfig(token=token, tokens=tokens))


def named(token: str, **fields: Any) -> TokenConfig:
    """Build one of several tokens."""
    return TokenConfig(token=token, **fields)


def test_a_token_has_the_right_that_is_needed() -> None:
    """One that may not do it is not shown; where none may, none is."""
    config = configured(a=named("reads", rights=("read",)), b=named("writes", rights=("write",)))
    assert [token_for(config, right) for right in ("read", "write")] == ["reads", "writes"]
    assert token_for(configured(a=named("reads", rights=("read",))), "write") == ""
    assert token_for(configured("all", a=named("other")), "read") == "all"


def test_a_token_of_all_tenants_goes_first() -> None:
    """What a command is about is not one tenant's unless there is no other token."""
    acme = named("acme", tenant="acme")
    assert token_for(configured(a=acme, b=named("whole")), "read") == "whole"
    assert token_for(configured(a=acme), "read") == "acme"


def test_a_token_is_read_from_its_file(tmp_path: Path) -> None:
    """Its first line is the newest."""
    (tmp_path / "tokens").write_text("new\nold\n")
    config = configured(a=TokenConfig(file=str(tmp_path / "tokens")))
    assert token_for(config, "read") == "new"


def test_a_file_without_certificates_is_told(tmp_path: Path) -> None:
    """The usual authorities are trusted without one."""
    assert trust(None) is True
    (tmp_path / "ca.pem").write_text("none")
    with pytest.raises(ConfigError, match="PEM certificates"):
        trust(tmp_path / "ca.pem")
