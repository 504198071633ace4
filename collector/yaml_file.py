"""Read a YAML file with references to environment variables.

Plain YAML only; a key written twice is an error, and so is ``${env:NAME}`` when the
variable is not set and no ``:-default`` follows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from collector.errors import ConfigError

_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class _Loader(yaml.SafeLoader):
    """Load plain YAML, and refuse a key that is written twice."""


class FromEnvironment(str):
    """Text of a variable: it has no YAML type, so it is read as whatever its key wants."""

    __slots__ = ()


def read_yaml(path: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the file's top-level mapping, empty for an empty file, references resolved.

    Raises:
        ConfigError: the file cannot be read or parsed, or a variable is missing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"{path}: {reason}") from error
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {_yaml_problem(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected sections such as `receive:`, got {shown(document)}")
    expanded: dict[str, Any] = _expand(document, (), path, environ)
    return expanded


def _yaml_problem(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"line {mark.line + 1}: {problem}" if mark is not None else str(problem)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key.value!r} is written twice", key.start_mark
            )
        if isinstance(key, yaml.ScalarNode):
            seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _expand(value: Any, at: tuple[str, ...], source: Path, environ: Mapping[str, str]) -> Any:
    """Replace ``${env:NAME}`` and ``${env:NAME:-default}`` in every text of the file."""
    if isinstance(value, dict):
        return {k: _expand(v, (*at, str(k)), source, environ) for k, v in value.items()}
    if isinstance(value, list):
        return [_expand(v, at, source, environ) for v in value]
    if not isinstance(value, str) or "${env:" not in value:
        return value

    def replace(match: re.Match[str]) -> str:
        found = environ.get(match[1], match[2])
        if found is None:
            raise ConfigError(
                f"{source}: {'.'.join(at)}: the environment variable {match[1]} is not set; "
                f"set it, or write ${{env:{match[1]}:-default}}"
            )
        return found

    return FromEnvironment(_REFERENCE.sub(replace, value))


def yaml_value(text: str) -> Any:
    """Read a text as YAML would: ``5`` is a number; what is not YAML stays text."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return str(text)


def shown(value: Any) -> str:
    """Write a value into an error message, shortened, in YAML's words."""
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    text = repr(str(value)) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
