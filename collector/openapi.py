"""Describe the HTTP API as OpenAPI 3.1, from the routes themselves and the types that they speak."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

PATH = "/openapi.json"
Schema: TypeAlias = Mapping[str, Any]
JSON = "application/json"
_TEMPLATE = "#/components/schemas/{name}"
_READING = "GET"
_MEANINGS = {
    400: "What was asked makes no sense.",
    401: "A token is missing, or is none of ours.",
    403: "The token has no right to it, or a page of another origin calls.",
    404: "There is nothing of this name.",
    405: "The path is not for this method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The content type or encoding is not one of those named.",
    503: "It cannot be done now; see Retry-After.",
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong."""

    error: str
    """One sentence."""


class Described(Protocol):
    """What the package that serves a path says of it."""

    @property
    def answer(self) -> Any:
        """The type that is answered as JSON."""

    @property
    def parameters(self) -> Mapping[str, Schema]:
        """JSON schema of each parameter of the query, by name."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What cannot be read off a route: the types of what goes in and comes out."""

    answer: Any = None
    """Type of the answer as JSON, or a tuple of several; ``None`` where it is none."""
    status: int = 200
    media: str = JSON
    """Of the answer."""
    also: tuple[int, ...] = ()
    """Other statuses that answer with the same type."""
    parameters: Mapping[str, Schema] = {}
    """JSON schema of each parameter of the query, or of the path, by name."""
    body: Mapping[str, Any] = {}
    """What is taken, by content type: a type, or a JSON schema."""
    errors: tuple[int, ...] = (400, 503)
    problem: Any = Problem
    """Type of the errors' body; ``None`` where it is none that a schema tells."""
    open: bool = False
    """Answered without a token."""
    server: str = ""
    """Where it is served, when it is another port."""
    summary: str = ""
    """The handler's own words, unless given."""


def described(found: Described) -> Operation:
    """Make an operation of what another package says of a path that reads."""
    return Operation(answer=found.answer, parameters=found.parameters, errors=(400, 404, 503))


class OpenApi:
    """Answer with the description."""

    def __init__(self, operations: Mapping[str, Operation], *, version: str, asks: bool) -> None:
        """Keep what is described.

        Args:
            operations: By method and path, as in ``GET /v1``.
            version: Of this program.
            asks: Whether a token must be shown.
        """
        self._operations = {**operations, f"{_READING} {PATH}": Operation(answer=dict[str, Any])}
        self._version = version
        self._asks = asks
        self._routes: Sequence[BaseRoute] = ()

    def route(self) -> Route:
        """Return its own route."""
        return Route(PATH, self.document, methods=[_READING])

    def of(self, routes: Sequence[BaseRoute]) -> None:
        """Take the routes that are described."""
        self._routes = routes

    async def document(self, _request: Request) -> Response:
        """Describe the HTTP API as OpenAPI 3.1."""
        return Response(msgspec.json.encode(self.description()), media_type=JSON)

    def description(self) -> dict[str, Any]:
        """Write the description."""
        known = {
            name: route
            for route in self._routes
            if isinstance(route, Route)
            for name in names(route)
        }
        return document(self._operations, known, version=self._version, asks=self._asks)


def names(route: Route) -> list[str]:
    """Return the names of a route's operations: a method and a path each."""
    return [f"{method} {route.path_format}" for method in sorted(route.methods or ())]


def document(
    operations: Mapping[str, Operation],
    routes: Mapping[str, Route],
    *,
    version: str,
    asks: bool,
) -> dict[str, Any]:
    """Write operations as OpenAPI; ``routes`` have the words of their handlers."""
    schemas, components = _schemas(operations.values())
    paths: dict[str, dict[str, Any]] = {}
    for name, operation in operations.items():
        method, _, path = name.partition(" ")
        route = routes.get(name)
        words = operation.summary or _first_line(inspect.getdoc(route.endpoint) if route else "")
        said = _operation(operation, path, schemas, asks=asks)
        paths.setdefault(path, {})[method.lower()] = {"summary": words, **said}
    scheme = {"type": "http", "scheme": "bearer", "description": "A token of auth.token(s)."}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Outrider", "version": version},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": scheme}},
    }


def _operation(
    operation: Operation, path: str, schemas: Mapping[int, Schema], *, asks: bool
) -> dict[str, Any]:
    content = {operation.media: {"schema": _schema(operation.answer, schemas)}}
    answers = {
        str(status): {"description": "As asked.", "content": content}
        for status in (operation.status, *operation.also)
    }
    refusals = (401, 403) if asks and not operation.open else () if operation.open else (403,)
    problem = (
        {} if operation.problem is None else {JSON: {"schema": _schema(operation.problem, schemas)}}
    )
    for status in sorted({*operation.errors, *refusals} - {operation.status, *operation.also}):
        answers[str(status)] = {"description": _MEANINGS[status], "content": problem}
    said: dict[str, Any] = {
        "parameters": [
            {
                "name": name,
                "in": "path" if f"{{{name}}}" in path else "query",
                "required": f"{{{name}}}" in path,
                "schema": dict(schema),
            }
            for name, schema in operation.parameters.items()
        ],
        "responses": answers,
        "security": [{"token": []}] if asks and not operation.open else [],
    }
    if operation.body:
        said["requestBody"] = {
            "content": {
                media: {"schema": _schema(kind, schemas)} for media, kind in operation.body.items()
            }
        }
    if operation.server:
        said["servers"] = [{"url": operation.server}]
    return said


def _schemas(operations: Iterable[Operation]) -> tuple[dict[int, Schema], dict[str, Any]]:
    """Return the schema of each type by its identity, and what they refer to by name."""
    kinds = {
        id(kind): kind
        for operation in operations
        for said in (operation.answer, operation.problem, *operation.body.values())
        for kind in (said if isinstance(said, tuple) else (said,))
        if kind is not None and not isinstance(kind, Mapping)
    }
    found, components = msgspec.json.schema_components(kinds.values(), ref_template=_TEMPLATE)
    return (
        dict(zip(kinds, map(_portable, found), strict=True)),
        {name: _portable(schema) for name, schema in components.items()},
    )


def _schema(kind: Any, schemas: Mapping[int, Schema]) -> Schema:
    if kind is None:
        return {}
    if isinstance(kind, tuple):
        return {"anyOf": [_schema(one, schemas) for one in kind]}
    return kind if isinstance(kind, Mapping) else schemas[id(kind)]


def _portable(schema: Any) -> Any:
    """Spell patterns as JSON Schema does, which knows no end but ``$``."""
    if isinstance(schema, dict):
        return {
            key: value.replace("\\Z", "$")
            if key == "pattern" and isinstance(value, str)
            else _portable(value)
            for key, value in schema.items()
        }
    return [_portable(item) for item in schema] if isinstance(schema, list) else schema


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0]
