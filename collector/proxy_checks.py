"""Check what types cannot of the ``proxy`` section."""

from __future__ import annotations

import re
import ssl

from collector.address import is_http_url
from collector.config import ProxyConfig, ProxyShadowConfig
from collector.errors import ConfigError

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WRITABLE = re.compile(r"[\x21-\x7e]+")


def check_proxy(proxy: ProxyConfig) -> None:
    """Check export and shadow.

    Raises:
        ConfigError: the first thing that is wrong; secrets are not repeated.
    """
    endpoint = proxy.export.endpoint
    if endpoint and (not is_http_url(endpoint) or any(mark in endpoint for mark in "?#@")):
        raise ConfigError(
            "proxy.export.endpoint: expected http(s)://host:4318, perhaps with a path; "
            "leave it empty to export nothing"
        )
    for name, value in proxy.export.headers.items():
        if not _HEADER.fullmatch(name) or any(ord(c) < 32 or ord(c) > 126 for c in value):
            raise ConfigError(
                f"proxy.export.headers: {name!r} or its value cannot be sent as a header"
            )
    if proxy.shadow.share:
        _check_shadow(proxy.shadow)


def check_authorities(proxy: ProxyConfig) -> None:
    """Read the file that the proxy's process will read, where its errors are a start's errors.

    Raises:
        ConfigError: it cannot be read, or is no PEM.
    """
    if proxy.ca_file:
        try:
            ssl.create_default_context(cafile=proxy.ca_file)
        except OSError as error:
            raise ConfigError(
                f"proxy.ca_file: {proxy.ca_file} cannot be used ({error}); name a PEM file"
            ) from error


def _check_shadow(shadow: ProxyShadowConfig) -> None:
    if not shadow.provider:
        raise ConfigError(
            "proxy.shadow.provider: say whose calls are asked again, anthropic or openai; "
            "or set proxy.shadow.share to 0"
        )
    if not shadow.model and not shadow.base_url:
        raise ConfigError("proxy.shadow.model: name the candidate, or give proxy.shadow.base_url")
    url = shadow.base_url
    if url and (not is_http_url(url) or any(mark in url for mark in "?#@")):
        raise ConfigError("proxy.shadow.base_url: expected http(s)://host, perhaps with a path")
    if shadow.key and shadow.caller_key:
        raise ConfigError("proxy.shadow.caller_key: a key of its own is given; remove one of both")
    if not shadow.key and not shadow.caller_key and not url:
        raise ConfigError(
            "proxy.shadow.key: the provider needs one; give it as ${env:NAME}, "
            "or set proxy.shadow.caller_key: true"
        )
    if shadow.key and not _WRITABLE.fullmatch(shadow.key):
        raise ConfigError("proxy.shadow.key: it cannot be sent as a header")
    if not shadow.variant.strip() or shadow.variant == "production":
        raise ConfigError(
            "proxy.shadow.variant: expected a name other than production, such as shadow"
        )
