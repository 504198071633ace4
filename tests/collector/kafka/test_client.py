"""The settings become what the client library takes, or an error that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config import KafkaConfig
from collector.errors import ConfigError
from collector.kafka.client import TokenFile, connection


def test_plain_brokers_need_nothing_but_their_addresses() -> None:
    """Several are written with commas."""
    options = connection(KafkaConfig(bootstrap="a:1, b:2"))
    assert options["bootstrap_servers"] == ["a:1", "b:2"]
    assert options["security_protocol"] == "PLAINTEXT"
    assert "ssl_context" not in options


def test_scram_over_tls_gets_a_context_and_a_password() -> None:
    """Certificates are checked against the usual authorities."""
    config = KafkaConfig(
        bootstrap="a:1",
        security="sasl_ssl",
        sasl="SCRAM-SHA-512",
        user="u",
        password="p",  # noqa: S106 - not a secret
    )
    options = connection(config)
    assert options["sasl_mechanism"] == "SCRAM-SHA-512"
    assert (options["sasl_plain_username"], options["sasl_plain_password"]) == ("u", "p")
    assert options["ssl_context"].check_hostname


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("kafka.bootstrap", KafkaConfig(bootstrap="a:1,b")),
        ("kafka.bootstrap", KafkaConfig(bootstrap="a:1,")),
        ("kafka.user", KafkaConfig(bootstrap="a:1", security="sasl_ssl", user="u")),
        (
            "kafka.token_file",
            KafkaConfig(bootstrap="a:1", security="sasl_ssl", sasl="OAUTHBEARER"),
        ),
        ("kafka.ca_file", KafkaConfig(bootstrap="a:1", security="ssl", ca_file="/nowhere")),
        ("kafka.ca_file", KafkaConfig(bootstrap="a:1", security="ssl", ca_file=__file__)),
        ("kafka.key_file", KafkaConfig(bootstrap="a:1", security="ssl", cert_file=__file__)),
    ],
)
def test_what_is_missing_is_named(key: str, config: KafkaConfig) -> None:
    """Before anything is asked of a broker."""
    with pytest.raises(ConfigError, match=key):
        connection(config)


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("kafka.user", KafkaConfig(bootstrap="a:1", user="u")),
        ("kafka.password", KafkaConfig(bootstrap="a:1", security="ssl", password="p")),  # noqa: S106
        ("kafka.token_file", KafkaConfig(bootstrap="a:1", sasl="OAUTHBEARER", token_file="/t")),  # noqa: S106
        ("kafka.ca_file", KafkaConfig(bootstrap="a:1", ca_file=__file__)),
    ],
)
def test_what_would_have_no_effect_is_named(key: str, config: KafkaConfig) -> None:
    """Certificates without TLS and passwords without SASL are refused, not passed over."""
    with pytest.raises(ConfigError, match=f"{key}: is set, but kafka.security is"):
        connection(config)


def test_a_token_is_read_for_each_connection(tmp_path: Path) -> None:
    """Whoever renews it writes the file again."""
    path = tmp_path / "token"
    path.write_text("one\n")
    tokens = TokenFile(path)
    assert tokens.token() == "one"
    path.write_text("two\n")
    assert tokens.token() == "two"
