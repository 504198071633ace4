"""List every setting with its type, default and meaning, as text for people.

The documentation, ``outrider check`` and its ``--print`` are rendered from this list, so
none of them can miss a key of ``config.py``.
"""

from __future__ import annotations

import ast
import inspect
import typing
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
import yaml

from collector import config as config_module
from collector.config import Config
from collector.config_file import describe, unit_of
from collector.units import format_duration, format_size

SECRETS = frozenset({"store.password", "auth.token"})
"""Keys whose values are never shown."""
MASK = "(hidden)"

_SECRET_WORDS = ("password", "secret", "token", "api_key")


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One key a user can write."""

    section: str
    key: str
    """The dotted path, as errors name it."""
    kind: str
    """What it expects, in words."""
    default: str
    """The default as a user would write it."""
    meaning: str
    """The docstring under the field in ``config.py``."""


def settings() -> list[Setting]:
    """Return every setting in the order of ``config.py``."""
    documented = _docstrings()
    found: list[Setting] = []
    for name, hint in typing.get_type_hints(Config, include_extras=True).items():
        if not _is_section(hint):
            default = written(getattr(Config(), name), hint)
            found.append(
                Setting(
                    section=name,
                    key=name,
                    kind=_kind(hint),
                    default=default,
                    meaning=documented["Config", name],
                )
            )
            continue
        section = hint()
        found.extend(
            Setting(
                section=name,
                key=f"{name}.{key}",
                kind=_kind(inner),
                default=written(getattr(section, key), inner),
                meaning=documented[hint.__name__, key],
            )
            for key, inner in typing.get_type_hints(hint, include_extras=True).items()
        )
    return found


def section_meanings() -> dict[str, str]:
    """Return the one-sentence meaning of each section."""
    hints = typing.get_type_hints(Config, include_extras=True)
    documented = _docstrings()
    return {
        name: (inspect.getdoc(hint) or "") if _is_section(hint) else documented["Config", name]
        for name, hint in hints.items()
    }


def written(value: Any, hint: Any) -> str:
    """Write a value as a user would in YAML, with its unit."""
    unit = unit_of(hint)
    if unit == "duration":
        return format_duration(value)
    if unit == "size":
        return format_size(value)
    text = yaml.safe_dump(
        msgspec.to_builtins(value), default_flow_style=True, width=10_000, sort_keys=False
    )
    return text.removesuffix("...\n").strip()


def effective(config: Config) -> dict[str, Any]:
    """Return the whole configuration as plain values, units written out, secrets hidden."""
    shown: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(Config, include_extras=True).items():
        value = getattr(config, name)
        if not _is_section(hint):
            shown[name] = _masked(msgspec.to_builtins(value))
            continue
        shown[name] = {
            key: _plain(f"{name}.{key}", getattr(value, key), inner)
            for key, inner in typing.get_type_hints(hint, include_extras=True).items()
        }
    return shown


def changed(config: Config) -> dict[str, Any]:
    """Return the values that differ from the defaults, by dotted key, secrets hidden."""
    usual = _flat(effective(Config()))
    return {k: v for k, v in _flat(effective(config)).items() if usual.get(k, ...) != v}


def as_yaml(config: Config) -> str:
    """Write the whole effective configuration as YAML, secrets hidden."""
    return yaml.safe_dump(effective(config), sort_keys=False, width=100)


def _is_section(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _kind(hint: Any) -> str:
    return unit_of(hint) or describe(hint)


def _docstrings() -> dict[tuple[str, str], str]:
    """Read the string under each field of ``config.py``; Python keeps it only in the source."""
    found: dict[tuple[str, str], str] = {}
    for node in ast.parse(inspect.getsource(config_module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, below in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                text = below.value if isinstance(below, ast.Expr) else None
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found[node.name, field.target.id] = " ".join(text.value.split())
    return found


def _plain(key: str, value: Any, hint: Any) -> Any:
    if key in SECRETS:
        return MASK if value else ""
    if unit_of(hint):
        return written(value, hint)
    if isinstance(value, str) and "@" in value:
        return _without_userinfo(value)
    return msgspec.to_builtins(value)


def _without_userinfo(url: str) -> str:
    parts = urlsplit(url)
    if not parts.netloc.rpartition("@")[0]:
        return url
    return urlunsplit(parts._replace(netloc=f"{MASK}@{parts.netloc.rpartition('@')[2]}"))


def _masked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        k: MASK if v and any(w in k.lower() for w in _SECRET_WORDS) else _masked(v)
        for k, v in value.items()
    }


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
