"""Turn ``outrider.yaml`` and the environment into a ``Config``.

Precedence, lowest first: the defaults of ``config.py``, the file, the variables
``OUTRIDER__SECTION__KEY``. Every error is a ``ConfigError`` of one line that names the key
(or the variable) it is about.
"""

from __future__ import annotations

import difflib
import math
import re
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from collector.address import is_http_url, is_loopback, parse_address
from collector.auth_checks import check_auth, check_exposure, check_tls
from collector.config import Config
from collector.errors import ConfigError
from collector.loop_checks import check_loops
from collector.proxy_checks import check_proxy
from collector.sensitive import KINDS
from collector.units import parse_duration, parse_size
from collector.yaml_file import FromEnvironment, read_yaml, shown, yaml_value

PREFIX = "OUTRIDER__"
LOG_LEVELS = ("debug", "info", "warning", "error")

_BOUND = re.compile(r"((?:>=|<=|>|<) -?\d+)")
"""The limit in an error of msgspec."""

KeyPath: TypeAlias = tuple[str, ...]


def load(path: Path | None, environ: Mapping[str, str]) -> Config:
    """Read the file (none: defaults only), put the environment over it and check the result.

    Raises:
        ConfigError: the file cannot be read, or a key, type or value is wrong.
    """
    raw = read_yaml(path, environ) if path is not None else {}
    origins = _override(raw, environ)
    source = str(path) if path is not None else "the configuration"
    config: Config = _Reader(source, origins).convert(raw, Config, ())
    validate(config)
    return config


def validate(config: Config) -> None:
    """Check what types cannot: addresses, exposure without a token, regular expressions.

    Raises:
        ConfigError: the first thing that is wrong; the text names the key and the fix.
    """
    _check_addresses(config)
    check_auth(config.auth)
    check_tls(config)
    _check_redaction(config)
    _check_keys(config)
    _check_values(config)
    check_loops(config, addresses(config))


def addresses(config: Config) -> dict[str, str]:
    """Return every address the process binds, by its key."""
    grpc = {"receive.grpc": config.receive.grpc} if config.receive.grpc else {}
    proxy = {"proxy.address": config.proxy.address} if config.proxy.address else {}
    return {
        "receive.http": config.receive.http,
        **grpc,
        **proxy,
        "console.address": config.console.address,
        "telemetry.metrics": config.telemetry.metrics,
    }


def with_addresses(config: Config, bound: Mapping[str, str]) -> Config:
    """Put the addresses that were bound, by their keys, in the place of those that were asked for."""
    for key, address in bound.items():
        name, _, field = key.partition(".")
        section = msgspec.structs.replace(getattr(config, name), **{field: address})
        config = msgspec.structs.replace(config, **{name: section})
    return config


def _check_addresses(config: Config) -> None:
    taken: dict[tuple[str, int], str] = {}
    for key, text in addresses(config).items():
        try:
            address = parse_address(text)
        except ValueError as error:
            raise ConfigError(f"{key}: {error}") from error
        if not is_loopback(address.host):
            check_exposure(config, key, text)
        other = taken.setdefault((address.host, address.port), key)
        if address.port and other != key:
            raise ConfigError(f"{key}: {text} is already taken by {other}; give it another port")


def _check_redaction(config: Config) -> None:
    if config.redact.at_ingest and config.redact.content == "full":
        raise ConfigError(
            "redact.at_ingest: has nothing to do where redact.content is full; choose redacted"
        )
    for kind in config.redact.kinds:
        if kind not in KINDS:
            raise ConfigError(f"redact.kinds: there is no kind {kind!r}{nearest(kind, KINDS)}")
    for name, pattern in config.redact.patterns.items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(
                f"redact.patterns.{name}: not a regular expression: {error}"
            ) from error


def _check_keys(config: Config) -> None:
    if config.journal.encryption_key:
        from collector.journal_keys import cipher_of  # noqa: PLC0415 - only where there is a key

        cipher_of(config.journal.encryption_key)


def _check_values(config: Config) -> None:
    if config.telemetry.log_level not in LOG_LEVELS:
        raise ConfigError(
            f"telemetry.log_level: expected one of {', '.join(LOG_LEVELS)}, "
            f"got {config.telemetry.log_level!r}"
        )
    endpoint = config.telemetry.otlp_endpoint
    if endpoint and not is_http_url(endpoint):
        raise ConfigError(
            f"telemetry.otlp_endpoint: expected http(s)://host:4318, got {without_user(endpoint)!r}; "
            "leave it empty to emit no events"
        )
    for key, url in _upstreams(config).items():
        if not is_http_url(url) or any(mark in url for mark in "?#@"):
            raise ConfigError(
                f"{key}: expected http(s)://host, perhaps with a path, got {without_user(url)!r}"
            )
    check_proxy(config.proxy)
    if config.alerts.webhook and not is_http_url(config.alerts.webhook):
        # Not repeated: such a URL is often a secret as a whole.
        raise ConfigError(
            "alerts.webhook: expected an http(s):// URL; leave it empty to post nothing"
        )
    if config.alerts.console_url and not is_http_url(config.alerts.console_url):
        raise ConfigError(
            "alerts.console_url: expected http(s)://host:8090, got"
            f" {without_user(config.alerts.console_url)!r}; leave it empty for console.address"
        )
    for key, (number, least) in _least(config).items():
        if number < least:
            raise ConfigError(f"{key}: expected a number >= {least}, got {number}")
    if config.store.url and not is_http_url(config.store.url):
        raise ConfigError(
            f"store.url: expected http(s)://host:8123, got {without_user(config.store.url)!r}; "
            "leave it empty for the embedded engine"
        )


def _upstreams(config: Config) -> dict[str, str]:
    """Return where the proxy sends requests on to, by key."""
    return {"proxy.anthropic": config.proxy.anthropic, "proxy.openai": config.proxy.openai}


def without_user(url: str) -> str:
    """Leave out what may be a password."""
    return re.sub(r"[^/]*@", "", url)


def _least(config: Config) -> dict[str, tuple[int, int]]:
    """Return each count that has a smallest sensible value, with it."""
    return {
        "journal.seen_limit": (config.journal.seen_limit, 0),
        "assemble.max_open_episodes": (config.assemble.max_open_episodes, 1),
        "sample.keep_new_version": (config.sample.keep_new_version, 0),
        "store.ttl_days": (config.store.ttl_days, 0),
        "store.batch_episodes": (config.store.batch_episodes, 1),
        "telemetry.label_limit": (config.telemetry.label_limit, 1),
    }


def nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that was probably meant: ``; did you mean x?``, else the choice."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it may be one of {', '.join(names)}"


def _override(raw: dict[str, Any], environ: Mapping[str, str]) -> dict[KeyPath, str]:
    """Put ``OUTRIDER__A__B`` over ``a.b``; return which variable set which key."""
    origins: dict[KeyPath, str] = {}
    for name in sorted(n for n in environ if n.startswith(PREFIX)):
        path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
        if not all(path):
            raise ConfigError(f"{name}: expected {PREFIX}SECTION__KEY")
        section = raw
        for part in path[:-1]:
            inner = section.get(part)
            if not isinstance(inner, dict):
                inner = section[part] = {}
            section = inner
        section[path[-1]] = FromEnvironment(environ[name])
        origins[path] = name
    return origins


class _Reader:
    """Convert raw values to their declared types, and name the key when one does not fit."""

    def __init__(self, source: str, origins: Mapping[KeyPath, str]) -> None:
        self._source = source
        self._origins = origins

    def convert(self, value: Any, hint: Any, at: KeyPath) -> Any:
        """Convert one value; ``at`` is its key path."""
        unit = unit_of(hint)
        plain = typing.get_args(hint)[0] if _is_annotated(hint) else hint
        if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
            return self._struct(value, plain, at)
        if typing.get_origin(plain) is dict:
            return self._dict(value, typing.get_args(plain)[1], at)
        given = value
        if unit and isinstance(value, str):
            value = self._quantity(value, unit, at)
        # Text of a variable is read as the key's type; what YAML typed must fit as it is.
        strict = not isinstance(value, FromEnvironment)
        if isinstance(value, FromEnvironment):
            value = _typed(value, plain)
        value = _without_origin(value)
        try:
            read = msgspec.convert(value, hint, strict=strict)
        except msgspec.ValidationError as error:
            raise self._error(at, _problem(given, plain, unit, error)) from error
        if isinstance(read, float) and not math.isfinite(read):
            raise self._error(at, f"expected {describe(hint)}, got {shown(given)}")
        return read

    def _struct(self, value: Any, struct: type[msgspec.Struct], at: KeyPath) -> msgspec.Struct:
        hints = typing.get_type_hints(struct, include_extras=True)
        given = self._entries(value, at)
        for key in given:
            if key not in hints:
                here = f" in {'.'.join(at)}" if at else ""
                kind = "key" if at else "section"
                raise self._error(
                    (*at, str(key)), f"there is no such {kind}{here}{nearest(str(key), hints)}"
                )
        return struct(**{k: self.convert(v, hints[k], (*at, k)) for k, v in given.items()})

    def _dict(self, value: Any, hint: Any, at: KeyPath) -> dict[str, Any]:
        entries = self._entries(value, at)
        return {str(k): self.convert(v, hint, (*at, str(k))) for k, v in entries.items()}

    def _entries(self, value: Any, at: KeyPath) -> dict[Any, Any]:
        if value is None:  # a section that is written but left empty
            return {}
        if isinstance(value, FromEnvironment):
            value = yaml_value(value)
        if not isinstance(value, dict):
            raise self._error(at, f"expected keys and values under it, got {shown(value)}")
        return value

    def _quantity(self, text: str, unit: str, at: KeyPath) -> float:
        try:
            return parse_duration(text) if unit == "duration" else parse_size(text)
        except ValueError as error:
            raise self._error(at, f"{error}, got {shown(text)}") from error

    def _error(self, at: KeyPath, problem: str) -> ConfigError:
        for length in range(len(at), 0, -1):
            if variable := self._origins.get(at[:length]):
                return ConfigError(f"{variable}: {problem}")
        for path, variable in self._origins.items():
            if path[: len(at)] == at:
                return ConfigError(f"{variable}: {problem}")
        return ConfigError(f"{self._source}: {'.'.join(at) or 'top level'}: {problem}")


def describe(hint: Any) -> str:
    """Say in a few words what a setting of this type expects."""
    unit = unit_of(hint)
    if unit == "duration":
        return "a duration such as 250ms, 3s or 15m"
    if unit == "size":
        return "a size such as 512KiB or 64MiB"
    plain = typing.get_args(hint)[0] if _is_annotated(hint) else hint
    if typing.get_origin(plain) is dict:
        return "keys and values"
    if typing.get_origin(plain) is tuple:
        inner = typing.get_args(plain)[0]
        return f"a list of {_entry(inner)}" if hasattr(inner, "__struct_fields__") else "a list"
    if typing.get_origin(plain) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(plain)))
    known = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return known.get(plain, "a value")


def _entry(struct: Any) -> str:
    """Say what one entry of a list is made of."""
    return "{" + ", ".join(struct.__struct_fields__) + "}"


def unit_of(hint: Any) -> str:
    """Return the unit of an annotated type: ``duration``, ``size`` or empty."""
    for annotation in getattr(hint, "__metadata__", ()):
        if isinstance(annotation, msgspec.Meta) and annotation.extra:
            return str(annotation.extra.get("unit", ""))
    return ""


def _is_annotated(hint: Any) -> bool:
    return hasattr(hint, "__metadata__")


def _typed(text: FromEnvironment, plain: Any) -> Any:
    if typing.get_origin(plain) is tuple:
        if text.lstrip().startswith("["):
            return yaml_value(text)
        return [part.strip() for part in text.split(",") if part.strip()]
    return yaml_value(text) if plain is Any else text


def _without_origin(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_origin(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_origin(item) for key, item in value.items()}
    return str(value) if isinstance(value, FromEnvironment) else value


def _problem(value: Any, plain: Any, unit: str, error: msgspec.ValidationError) -> str:
    kind = f"a {unit}" if unit else "a number"
    if bound := _BOUND.search(str(error)):
        return f"expected {kind} {bound[1]}, got {shown(value)}"
    quote = "; put it in quotes" if plain is str and isinstance(value, (int, float)) else ""
    expected = kind if unit else describe(plain)
    return f"expected {expected}, got {shown(value)}{quote}"
