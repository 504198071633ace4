"""Compile a tool's JSON Schema once and say what is wrong with a call's arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from collector.model import JsonValue

_MAX_SCHEMAS = 2_048
_MAX_DEPTH = 30
_TYPE_NAMES = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "none": "null",
}
"""How Python generators misspell the types; Gemini's upper case is read too."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the arguments."""

    text: str
    """Completes "The call … ": ``lacks the required argument city``."""
    quote: str = ""
    """The offending name or value as JSON; empty when something is missing."""


class ArgumentSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A compiled schema of one tool's arguments."""

    validator: Any
    """A ``jsonschema_rs`` validator."""
    names: frozenset[str] | None
    """The arguments it names; ``None`` when it lets any name pass."""
    required: frozenset[str]

    def problems(self, arguments: dict[str, JsonValue]) -> list[Problem]:
        """Return what is wrong, the plainest first; empty when the tool would take the call.

        A name that no property has is a problem even where the schema does not forbid it:
        the tool would drop it or fail. A null for an optional argument is taken as absent.
        A number or a truth value written as a string is of the wrong type, as the tool would
        see it.

        Raises:
            ValueError: the arguments cannot be checked: nested too deep, or not Unicode.
        """
        given = {
            name: value
            for name, value in arguments.items()
            if value is not None or name in self.required
        }
        unknown = [] if self.names is None else sorted(given.keys() - self.names)
        found = [
            Problem(text=f"gives an argument {name[:80]!r} that the tool does not have", quote=name)
            for name in unknown
        ]
        if not self.validator.is_valid(given):
            found.extend(_problem(error) for error in self.validator.iter_errors(given))
        return sorted(found, key=lambda one: (bool(one.quote), one.text))


@lru_cache(maxsize=_MAX_SCHEMAS)
def _compiled(source: bytes) -> ArgumentSchema | None:
    schema = json.loads(source)
    for candidate in (schema, _respelled(schema, 0)):
        try:
            validator = jsonschema_rs.validator_for(
                candidate,
                offline=True,
                mask="its value",
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except (ValueError, RecursionError):
            continue
        return ArgumentSchema(
            validator=validator,
            names=_names(candidate, candidate, 0),
            required=frozenset(n for n in candidate.get("required", ()) if isinstance(n, str)),
        )
    return None


def compiled(parameters: JsonValue) -> ArgumentSchema | None:
    """Compile a schema, or return ``None`` when it is absent, not valid or refers elsewhere.

    Compiled schemas are kept by their content, so that conversations share them.
    """
    if not isinstance(parameters, dict):
        return None
    try:
        source = msgspec.json.encode(parameters)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None
    return _compiled(source)


def _names(schema: Any, root: dict[str, Any], depth: int) -> frozenset[str] | None:
    """Return every argument that some branch of the schema names; ``None`` when it is open."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH or schema.get("patternProperties"):
        return None
    if schema.get("additionalProperties") not in (None, False):
        return None
    branches = list(_branches(schema, root))
    if "properties" not in schema and not branches:
        return None
    names = frozenset(schema.get("properties", ()))
    for branch in branches:
        more = _names(branch, root, depth + 1)
        # a branch that only says `required` names nothing and opens nothing
        if more is None and not _only_restricts(branch):
            return None
        names |= more or frozenset()
    return names


def _branches(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[Any]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    for keyword in ("if", "then", "else"):
        if keyword in schema:
            yield schema[keyword]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield _pointed(reference, root)


def _pointed(reference: str, root: dict[str, Any]) -> Any:
    """Follow a reference inside the document; anything else is open."""
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        if not isinstance(target, dict):
            return {}
        target = target.get(part, {})
    return target


def _only_restricts(branch: Any) -> bool:
    return isinstance(branch, dict) and bool(branch) and branch.keys() <= {"required", "not"}


def _respelled(schema: Any, depth: int) -> Any:
    """Return the schema with the type names that JSON Schema knows."""
    if depth > _MAX_DEPTH:
        return schema
    if isinstance(schema, list):
        return [_respelled(item, depth + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    fields = {name: _respelled(item, depth + 1) for name, item in schema.items()}
    kind = fields.get("type")
    if isinstance(kind, str):
        fields["type"] = _TYPE_NAMES.get(kind.lower(), kind.lower())
        if fields["type"] == "any":
            del fields["type"]
    return fields


def _problem(error: Any) -> Problem:
    path = ".".join(str(step) for step in error.instance_path)[:80]
    where = f"its argument {path}" if path else "its arguments"
    kind = error.kind.name
    if kind == "required":
        inside = f" in {where}" if path else ""
        return Problem(text=f"lacks the required argument {error.kind.property}{inside}")
    quote = json.dumps(error.instance, ensure_ascii=False)
    if kind == "additionalProperties":
        unexpected = error.kind.unexpected[0]
        return Problem(
            text=f"gives {where} a field {unexpected[:80]!r} that is not known", quote=unexpected
        )
    if kind == "type":
        types = " or ".join(error.kind.types)
        return Problem(text=f"gives {where} the wrong type, not {types}", quote=quote)
    return Problem(text=f"gives {where} a bad value: {error.message[:160]}", quote=quote)
