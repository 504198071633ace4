"""Read an OTLP/JSON request piece by piece, where something in it cannot be right.

One span with a field of a wrong type, a text that was cut inside a character, or a number that
JSON does not know would make the whole request unreadable. Here only what holds it is left out,
and nothing is where there is no doubt: enums may be names, as protobuf's own JSON writers put them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from collector import otlp_shapes as shapes
from collector.errors import MalformedError
from collector.loose_json import Number, loads

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNKNOWN = "\ufffd"
"""What Unicode has in place of a character that cannot be read."""
_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES = ("UNSET", "OK", "ERROR")
_SEVERITIES = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_ENUM_FIELDS = frozenset(("kind", "code", "severityNumber"))
_ENUMS: dict[str, int] = {
    **{f"SPAN_KIND_{name}": number for number, name in enumerate(_KINDS)},
    **{f"STATUS_CODE_{name}": number for number, name in enumerate(_STATUSES)},
    "SEVERITY_NUMBER_UNSPECIFIED": 0,
    **{
        f"SEVERITY_NUMBER_{name}{step if step > 1 else ''}": 4 * place + step
        for place, name in enumerate(_SEVERITIES)
        for step in (1, 2, 3, 4)
    },
}
Shape = TypeVar("Shape")


class _WrongError(Exception):
    """A piece is not what it should be; the text says why."""


def traces(body: bytes) -> tuple[shapes.TraceRequest, list[str]]:
    """Return the request without the spans that cannot be right, and why each cannot.

    Raises:
        MalformedError: it is no JSON, or no ``ExportTraceServiceRequest``.
    """
    reasons: list[str] = []
    groups = [
        shapes.ResourceSpans(
            resource=resource,
            scope_spans=[shapes.ScopeSpans(scope=scope, spans=spans) for scope, spans in scoped],
        )
        for resource, scoped in _groups(body, TRACES, shapes.Span, reasons)
    ]
    return shapes.TraceRequest(resource_spans=groups), reasons


def logs(body: bytes) -> tuple[shapes.LogsRequest, list[str]]:
    """Return the request without the log records that cannot be right, and why each cannot.

    Raises:
        MalformedError: it is no JSON, or no ``ExportLogsServiceRequest``.
    """
    reasons: list[str] = []
    groups = [
        shapes.ResourceLogs(
            resource=resource,
            scope_logs=[
                shapes.ScopeLogs(scope=scope, log_records=found) for scope, found in scoped
            ],
        )
        for resource, scoped in _groups(body, LOGS, shapes.LogRecord, reasons)
    ]
    return shapes.LogsRequest(resource_logs=groups), reasons


TRACES = ("resourceSpans", "scopeSpans", "spans")
LOGS = ("resourceLogs", "scopeLogs", "logRecords")


def _groups(
    body: bytes, keys: tuple[str, str, str], shape: type[Shape], reasons: list[str]
) -> Iterator[tuple[shapes.Resource | None, list[tuple[shapes.Scope | None, list[Shape]]]]]:
    """Yield each resource with what came under it, by scope; say why of what is left out."""
    outer, middle, inner = keys
    for group in _outermost(body, outer):
        try:
            resource = _shaped(_object(group).get("resource"), shapes.Resource | None)
            found = _listed(group, middle)
        except _WrongError as error:
            reasons += [f"a resource cannot be right: {error}"] * _count(group, middle, inner)
            continue
        scoped: list[tuple[shapes.Scope | None, list[Shape]]] = []
        for below in found:
            try:
                scope = _shaped(_object(below).get("scope"), shapes.Scope | None)
                items = _listed(below, inner)
            except _WrongError as error:
                reasons += [f"a scope cannot be right: {error}"] * _count_below(below, inner)
                continue
            right: list[Shape] = []
            for item in items:
                try:
                    right.append(_shaped(item, shape))
                except _WrongError as error:
                    reasons.append(str(error))
            scoped.append((scope, right))
        yield resource, scoped


def _outermost(body: bytes, key: str) -> list[Any]:
    try:
        return _listed(_sound(loads(body.decode(errors="replace"))), key)
    except (ValueError, _WrongError) as error:
        raise MalformedError(f"the body is not OTLP/JSON: {error}") from error
    except RecursionError as error:
        raise MalformedError("the body nests too deeply to be OTLP/JSON") from error


def _sound(value: Any, key: str = "") -> Any:
    """Return a value in which every text can be written, and enums are numbers."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        text = value if value.isascii() else _SURROGATE.sub(_UNKNOWN, value)
        return _ENUMS.get(text, text) if key in _ENUM_FIELDS else text
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(name): _sound(item, name) for name, item in value.items()}
    return value


def _shaped(value: Any, shape: Any) -> Any:
    try:
        return msgspec.convert(value, type=shape)
    except msgspec.ValidationError as error:
        raise _WrongError(str(error)) from error


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise _WrongError(f"an object was expected, got {str(value)[:64]!r}")


def _listed(value: Any, key: str) -> list[Any]:
    found = _object(value).get(key)
    if found is None:
        return []
    if isinstance(found, list):
        return found
    raise _WrongError(f"`{key}` must be a list, got {str(found)[:64]!r}")


def _count(group: Any, middle: str, inner: str) -> int:
    """Return how many items are under a resource that cannot be right; one where nobody can say."""
    found = group.get(middle) if isinstance(group, dict) else None
    return sum(_count_below(below, inner) for below in found) if isinstance(found, list) else 1


def _count_below(below: Any, inner: str) -> int:
    found = below.get(inner) if isinstance(below, dict) else None
    return len(found) if isinstance(found, list) else 1
