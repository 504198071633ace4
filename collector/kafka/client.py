"""Say how brokers are reached: addresses, TLS, SASL, as the client library takes them."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from kafka.net.sasl.oauth import AbstractTokenProvider

from collector.config import KafkaConfig
from collector.errors import ConfigError

CLIENT_ID = "outrider"


class TokenFile(AbstractTokenProvider):  # type: ignore[misc]  # the library has no types
    """Show the token that stands in a file, which others renew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def token(self) -> str:
        """Read the token."""
        return self._path.read_text().strip()


def connection(config: KafkaConfig) -> dict[str, Any]:
    """Return the options that consumers and producers share.

    Raises:
        ConfigError: a file is missing or not what it should be, or user or token is; the text
            names the key.
    """
    options: dict[str, Any] = {
        "bootstrap_servers": _brokers(config.bootstrap),
        "client_id": CLIENT_ID,
        "security_protocol": config.security.upper(),
        "metrics_enabled": False,
        "allow_auto_create_topics": False,
    }
    _refuse_unused(config)
    if config.security.endswith("ssl"):
        options["ssl_context"] = _tls(config)
    if config.security.startswith("sasl"):
        options["sasl_mechanism"] = config.sasl
        if config.sasl == "OAUTHBEARER":
            options["sasl_oauth_token_provider"] = TokenFile(_file("token_file", config.token_file))
        else:
            if not config.user or not config.password:
                raise ConfigError(
                    f"kafka.user, kafka.password: {config.sasl} needs both; write the password as"
                    " ${env:NAME}"
                )
            options["sasl_plain_username"] = config.user
            options["sasl_plain_password"] = config.password
    return options


def _brokers(text: str) -> list[str]:
    brokers = [part.strip() for part in text.split(",")]
    for broker in brokers:
        host, _, port = broker.rpartition(":")
        if not host or not port.isdecimal():
            raise ConfigError(
                f"kafka.bootstrap: expected host:9092, several with commas between, got {broker!r}"
            )
    return brokers


def _refuse_unused(config: KafkaConfig) -> None:
    """Refuse keys that ``security`` leaves without effect: whoever writes them counts on them."""
    without = {
        "SASL": ("user", "password", "token_file") if "sasl" not in config.security else (),
        "TLS": ("ca_file", "cert_file", "key_file") if "ssl" not in config.security else (),
    }
    for what, names in without.items():
        for name in names:
            if getattr(config, name):
                raise ConfigError(
                    f"kafka.{name}: is set, but kafka.security is {config.security}, without {what}"
                )


def _tls(config: KafkaConfig) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if config.ca_file:
        path = _file("ca_file", config.ca_file)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(path)
        except (ssl.SSLError, OSError) as error:
            raise ConfigError(f"kafka.ca_file: {path} has no PEM certificates") from error
    if config.cert_file or config.key_file:
        chain, key = _file("cert_file", config.cert_file), _file("key_file", config.key_file)
        try:
            # A key with a passphrase would ask for it on the terminal.
            context.load_cert_chain(chain, key, password=lambda: b"")
        except (ssl.SSLError, OSError) as error:
            raise ConfigError(
                f"kafka.cert_file: {chain} and {key} are not a PEM certificate and its key without"
                " a passphrase"
            ) from error
    return context


def _file(name: str, text: str) -> Path:
    path = Path(text)
    if not text or not path.is_file():
        raise ConfigError(f"kafka.{name}: {text or 'nothing'} is not a file")
    return path
