"""Check what types cannot of the ``auth`` section, and of ports that others can reach."""

from __future__ import annotations

import re
from collections.abc import Mapping

from collector.config import AuthConfig, Config, TlsConfig
from collector.errors import ConfigError

_TOKEN = re.compile(r"[\x20-\x7e]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")


def check_auth(auth: AuthConfig) -> None:
    """Check the tokens.

    Raises:
        ConfigError: the first thing that is wrong; secrets are not repeated.
    """
    known: dict[str, str] = {}
    if auth.token:
        _check_token("auth.token", auth.token, known)
    for name, one in auth.tokens.items():
        key = f"auth.tokens.{name}"
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{key}: expected a name of letters, digits and . _ -, which may be logged"
            )
        if bool(one.token) == bool(one.file):
            raise ConfigError(f"{key}: give it either a token, as ${{env:NAME}}, or a file")
        if one.token:
            _check_token(f"{key}.token", one.token, known)
        if not one.rights:
            raise ConfigError(f"{key}.rights: expected read, write or both")
        if one.tenant and not _TENANT.fullmatch(one.tenant):
            raise ConfigError(
                f"{key}.tenant: expected a name of letters, digits and . _ : / -, "
                "as outrider.tenant has it"
            )


def check_exposure(config: Config, key: str, shown: str) -> None:
    """Check that a port which other machines can reach asks who calls.

    Raises:
        ConfigError: it does not, and nobody said that this is meant.
    """
    auth = config.auth
    asks = auth.token or auth.tokens or tls_of(config)[key].client_ca_file
    if not asks and not auth.allow_insecure:
        raise ConfigError(
            f"{key}: {shown} can be reached from other machines; set auth.token (or auth.tokens, "
            f"or client_ca_file of its tls), or auth.allow_insecure: true if the network keeps "
            "strangers out"
        )


def check_tls(config: Config) -> None:
    """Check that nobody is let in for a certificate that is not asked for.

    Raises:
        ConfigError: somebody would be.
    """
    for key, tls in tls_of(config).items():
        if tls.instead_of_token and not tls.client_ca_file:
            raise ConfigError(
                f"{section_of(key)}.instead_of_token: is true, but no certificate is asked for; "
                f"set {section_of(key)}.client_ca_file"
            )


def tls_of(config: Config) -> Mapping[str, TlsConfig]:
    """Return the TLS of each port, by the key of its address."""
    return {
        "receive.http": config.receive.tls,
        "receive.grpc": config.receive.tls,
        "proxy.address": config.proxy.tls,
        "console.address": config.console.tls,
        "telemetry.metrics": config.telemetry.tls,
    }


def section_of(key: str) -> str:
    """Return the key of a port's TLS."""
    return f"{key.partition('.')[0]}.tls"


def _check_token(key: str, token: str, known: dict[str, str]) -> None:
    if not _TOKEN.fullmatch(token) or token != token.strip():
        raise ConfigError(f"{key}: it cannot be shown in a header; use letters, digits and signs")
    other = known.setdefault(token, key)
    if other != key:
        raise ConfigError(f"{key}: is the same as {other}; nobody could tell whose it is")
