"""List every setting with its type, default and meaning, as text for people.

The documentation, ``outrider check`` and its ``--print`` are rendered from this list, so
none of them can miss a key of ``config.py``. A secret is never shown: it is hidden, or, in
a file to start from, a reference to the variable that sets it.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
import yaml

from collector import config as config_module
from collector.config import Config
from collector.config_file import PREFIX, describe, unit_of
from collector.units import format_duration, format_size

SECRETS = frozenset(
    {
        "store.password",
        "journal.encryption_key",
        "redact.pseudonym_key",
        "kafka.password",
        "auth.token",
        "alerts.webhook",
        "alerts.webhook_token",
        "proxy.export.headers",
        "proxy.shadow.key",
    }
)
"""Keys whose values are never shown."""
MASK = "(hidden)"

_SECRET_WORDS = ("password", "secret", "token", "api_key")


Hide: typing.TypeAlias = Callable[[str, Any], Any]
"""Give what stands in the place of a secret, of its dotted key and value."""


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
        found.extend(_section(name, name, hint, documented))
    return found


def _section(
    section: str, prefix: str, struct: type[msgspec.Struct], documented: dict[tuple[str, str], str]
) -> Iterator[Setting]:
    """List the keys of a section, those of the parts in it too."""
    usual = struct()
    for name, hint in typing.get_type_hints(struct, include_extras=True).items():
        key = f"{prefix}.{name}"
        if _is_section(hint):
            yield from _section(section, key, hint, documented)
            continue
        yield Setting(
            section=section,
            key=key,
            kind=_kind(hint),
            default=written(getattr(usual, name), hint),
            meaning=documented[struct.__name__, name],
        )


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


def changed(config: Config) -> dict[str, Any]:
    """Return the values that differ from the defaults, by dotted key, secrets hidden."""
    usual = _flat(_effective(Config(), _mask))
    return {k: v for k, v in _flat(_effective(config, _mask)).items() if usual.get(k, ...) != v}


def as_yaml(config: Config) -> str:
    """Write the whole effective configuration as YAML, a file that can be loaded again.

    A secret is written as a reference to the variable that would override its key; without
    that variable the file does not load, and the error names it.
    """
    return yaml.safe_dump(_effective(config, _reference), sort_keys=False, width=100)


def _effective(config: Config, hide: Hide) -> dict[str, Any]:
    """Return the whole configuration as plain values, units written out."""
    shown: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(Config, include_extras=True).items():
        value = getattr(config, name)
        if not _is_section(hint):
            shown[name] = _without_secrets(name, msgspec.to_builtins(value), hide)
            continue
        shown[name] = _shown(name, value, hint, hide)
    return shown


def _shown(name: str, value: Any, hint: Any, hide: Hide) -> dict[str, Any]:
    """Return a section as plain values, those in it as well."""
    return {
        key: (_shown if _is_section(inner) else _plain)(
            f"{name}.{key}", getattr(value, key), inner, hide
        )
        for key, inner in typing.get_type_hints(hint, include_extras=True).items()
    }


def _mask(key: str, value: Any) -> Any:
    """Hide a secret and leave a URL readable."""
    if not _is_secret(key) and isinstance(value, str):
        parts = urlsplit(value)
        return urlunsplit(parts._replace(netloc=f"{MASK}@{parts.netloc.rpartition('@')[2]}"))
    return MASK


def _reference(key: str, value: Any) -> str:
    """Refer to the variable that overrides a key, or to a free name where none could."""
    del value
    name = re.sub(r"[^A-Z0-9_]", "_", key.replace(".", "__").upper())
    overrides = name.lower().replace("__", ".") == key
    return f"${{env:{PREFIX if overrides else 'SECRET_'}{name}}}"


def _is_section(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _kind(hint: Any) -> str:
    return unit_of(hint) or describe(hint)


def _docstrings() -> dict[tuple[str, str], str]:
    """Read the string under each field of a section; Python keeps it only in the source."""
    found: dict[tuple[str, str], str] = {}
    sections = {struct.__module__ for struct in vars(config_module).values() if _is_section(struct)}
    sources = [inspect.getsource(sys.modules[name]) for name in sorted(sections)]
    for node in (n for source in sources for n in ast.parse(source).body):
        if not isinstance(node, ast.ClassDef):
            continue
        for field, below in zip(node.body, node.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                text = below.value if isinstance(below, ast.Expr) else None
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found[node.name, field.target.id] = " ".join(text.value.split())
    return found


def _plain(key: str, value: Any, hint: Any, hide: Hide) -> Any:
    if _is_secret(key):
        if isinstance(value, dict):
            return {name: hide(f"{key}.{name}", inner) for name, inner in value.items()}
        return hide(key, value) if value else ""
    if unit_of(hint):
        return written(value, hint)
    if isinstance(value, str) and "@" in urlsplit(value).netloc:
        return hide(key, value)
    plain = msgspec.to_builtins(value)
    return _without_secrets(key, plain, hide) if isinstance(plain, dict) else plain


def _without_secrets(key: str, value: Any, hide: Hide) -> Any:
    """Hide what is named like a secret, anywhere in the options of scorers."""
    if isinstance(value, dict):
        return {k: _without_secrets(f"{key}.{k}", v, hide) for k, v in value.items()}
    # A number is none: `max_tokens` is no token.
    return (
        hide(key, value) if isinstance(value, str | list) and value and _is_secret(key) else value
    )


def _is_secret(key: str) -> bool:
    parent, _, name = key.lower().rpartition(".")
    return (
        not SECRETS.isdisjoint((key, parent))
        or (key.startswith("scorers.") and any(w in name for w in _SECRET_WORDS))
        or (key.startswith("auth.tokens.") and name == "token")
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
