"""Test what is said of a wrong ``auth`` section, and of ports that others can reach."""

from __future__ import annotations

import pytest

from collector.config import Config
from collector.config_file import load
from collector.errors import ConfigError
from collector.settings import MASK, as_yaml, changed

PORTS = {
    "RECEIVE__HTTP": "RECEIVE",
    "RECEIVE__GRPC": "RECEIVE",
    "PROXY__ADDRESS": "PROXY",
    "CONSOLE__ADDRESS": "CONSOLE",
    "TELEMETRY__METRICS": "TELEMETRY",
}


def read(**settings: str) -> Config:
    """Load a configuration of variables."""
    return load(None, {f"OUTRIDER__{key}": value for key, value in settings.items()})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"AUTH__TOKENS__A__TENANT": "acme"}, r"auth\.tokens\.a: give it either a token"),
        (
            {"AUTH__TOKENS__A__TOKEN": "x", "AUTH__TOKENS__A__FILE": "/f"},
            r"auth\.tokens\.a: give it either a token",
        ),
        (
            {"AUTH__TOKENS__A__TOKEN": "x", "AUTH__TOKENS__A__RIGHTS": ""},
            r"auth\.tokens\.a\.rights: expected read, write or both",
        ),
        (
            {"AUTH__TOKENS__A__TOKEN": "x", "AUTH__TOKENS__A__RIGHTS": "read,rule"},
            "RIGHTS: expected a list",
        ),
        (
            {"AUTH__TOKENS__A__TOKEN": "x", "AUTH__TOKENS__A__TENANT": "a' OR 1"},
            r"auth\.tokens\.a\.tenant: expected a name",
        ),
        (
            {"AUTH__TOKENS__A__TOKEN": "same", "AUTH__TOKENS__B__TOKEN": "same"},
            r"auth\.tokens\.b\.token: is the same as auth\.tokens\.a\.token",
        ),
        ({"AUTH__TOKEN": "geheimniß"}, r"auth\.token: it cannot be shown in a header"),
        ({"AUTH__TOKEN": " x"}, r"auth\.token: it cannot be shown in a header"),
        (
            {"PROXY__TLS__INSTEAD_OF_TOKEN": "true"},
            r"proxy\.tls\.instead_of_token: is true, but no certificate is asked for",
        ),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, str], message: str) -> None:
    """Each error names the key, and repeats no token."""
    with pytest.raises(ConfigError, match=message) as caught:
        read(**settings)
    assert "geheim" not in str(caught.value)


def test_a_name_that_cannot_be_logged() -> None:
    """A token's name stands in answers and logs, so it is a plain one."""
    with pytest.raises(ConfigError, match=r"auth\.tokens\.a b: expected a name"):
        read(AUTH__TOKENS="{'a b': {token: x}}")


@pytest.mark.parametrize("port", PORTS)
def test_a_port_that_asks_nobody(port: str) -> None:
    """Beyond loopback each port wants a token, or callers' certificates, or somebody's word."""
    address = {port: "0.0.0.0:4999"}
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        read(**address)
    read(**address, AUTH__TOKEN="x")  # noqa: S106 - an invented one
    read(**address, AUTH__TOKENS__A__FILE="/run/token")
    read(**address, AUTH__ALLOW_INSECURE="true")
    read(**address, **{f"{PORTS[port]}__TLS__CLIENT_CA_FILE": "/ca.pem"})
    other = "CONSOLE" if PORTS[port] != "CONSOLE" else "PROXY"
    with pytest.raises(ConfigError, match="can be reached from other machines"):
        read(**address, **{f"{other}__TLS__CLIENT_CA_FILE": "/ca.pem"})


def test_tokens_are_never_shown() -> None:
    """Of several tokens the names, rights and files are shown, and no token."""
    config = read(
        AUTH__TOKENS__A__TOKEN="hush-1",  # noqa: S106 - an invented one
        AUTH__TOKENS__A__TENANT="acme",
        AUTH__TOKENS__B__FILE="/f",
    )
    assert "hush" not in as_yaml(config) + str(changed(config))
    assert "${env:OUTRIDER__AUTH__TOKENS__A__TOKEN}" in as_yaml(config)
    assert changed(config)["auth.tokens.a.token"] == MASK
    assert changed(config)["auth.tokens.b.file"] == "/f"
    assert changed(config)["auth.tokens.a.tenant"] == "acme"
