"""Read the certificates of a port that is spoken to over TLS."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec

from collector.config import TlsConfig
from collector.errors import ConfigError


class Certificates(msgspec.Struct, frozen=True, kw_only=True):
    """What a port shows of itself, and whom it trusts; PEM."""

    key: bytes
    chain: bytes
    client_ca: bytes
    """Empty when callers need no certificate."""


def certificates(tls: TlsConfig, *, section: str) -> Certificates | None:
    """Read the files; ``None`` when no TLS is asked for. ``section`` is the key that holds them.

    Raises:
        ConfigError: a file is missing or not what it should be; the text names its key.
    """
    context = server_context(tls, section=section)
    if context is None:
        return None
    return Certificates(
        key=_read(section, "key_file", tls.key_file),
        chain=_read(section, "cert_file", tls.cert_file),
        client_ca=_read(section, "client_ca_file", tls.client_ca_file)
        if tls.client_ca_file
        else b"",
    )


def server_context(tls: TlsConfig, *, section: str) -> ssl.SSLContext | None:
    """Build the context of a server; ``None`` when no TLS is asked for.

    Raises:
        ConfigError: as ``certificates``.
    """
    if not (tls.cert_file or tls.key_file or tls.client_ca_file):
        return None
    for name in ("cert_file", "key_file"):
        if not getattr(tls, name):
            raise ConfigError(f"{section}.{name}: is missing; TLS needs cert_file and key_file")
    for name in ("cert_file", "key_file", "client_ca_file"):
        if getattr(tls, name):
            _read(section, name, getattr(tls, name))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # A key with a passphrase would ask for it on the terminal.
        context.load_cert_chain(tls.cert_file, tls.key_file, password=_no_passphrase)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"{section}.cert_file: {tls.cert_file} and {tls.key_file} are not a PEM certificate "
            f"and its key without a passphrase ({_reason(error)})"
        ) from error
    if tls.client_ca_file:
        try:
            context.load_verify_locations(tls.client_ca_file)
        except (ssl.SSLError, OSError) as error:
            raise ConfigError(
                f"{section}.client_ca_file: {tls.client_ca_file} has no PEM certificates "
                f"({_reason(error)})"
            ) from error
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _read(section: str, name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{section}.{name}: cannot read {path} ({error.strerror}); correct the path or its "
            "permissions"
        ) from error


def _no_passphrase() -> bytes:
    return b""


def _reason(error: OSError) -> str:
    return getattr(error, "reason", None) or error.strerror or str(error)
