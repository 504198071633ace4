"""Look for something in what an instrumentation sent, wherever and however it stands there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from collector.telemetry import LogRecord, Span
from tests.capture.outrider import Request

LIMITS = ("max", "budget")
"""What keys say of numbers of tokens that are allowed, and were not spent."""
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def words(text: str) -> str:
    """Return a text with its white space and quotation marks evened out."""
    return " ".join(text.translate(_QUOTES).split())


def canonical(value: Any) -> str:
    """Return JSON that is the same for the same value.

    Nothing, and nothing in it, are one; so are a schema as it was sent and as OpenAI tells it
    again in its answer, with ``additionalProperties`` said.
    """
    if value is None or value in ("", {}):
        return "{}"
    return msgspec.json.encode(_bare(value), order="deterministic").decode()


def _bare(value: Any) -> Any:
    """Spell Google's schemas, whose client renames keys and types, as everybody's."""
    if isinstance(value, Mapping):
        bare: dict[str, Any] = {}
        for key, inner in value.items():
            name = re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
            if name == "type" and isinstance(inner, str):
                bare[name] = inner.lower()
            elif not (name == "additionalProperties" and inner is False):
                bare[name] = _bare(inner)
        return bare
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


class Sent:
    """All strings, numbers and JSON values of some requests."""

    def __init__(self, requests: Iterable[Request], *, about: str = "") -> None:
        """Read them all, or only the spans and records that mention an id, if any does."""
        texts: list[str] = []
        self.keys: set[str] = set()
        """Of attributes."""
        self.exact: Counter[str] = Counter()
        """How often each string stands there by itself."""
        self.counts: set[float] = set()
        """Numbers whose key speaks of tokens or usage."""
        self.reasons: set[str] = set()
        """Strings whose key speaks of a finish or a stop."""
        self.values: set[str] = set()
        self.spans = 0
        """Spans and log records."""
        items = [(item, list(_said(item))) for _, batch in requests for item in batch.items()]
        named = [(item, said) for item, said in items if about and about in str(said)]
        for _, said in named or items:
            self.spans += 1
            self.keys.update(*(part for part in said if isinstance(part, Mapping)))
            for key, value in _leaves("", said):
                if isinstance(value, str):
                    texts.append(words(value))
                    self.exact[words(value)] += 1
                    if _speaks(key, ("finish", "stop_reason", "stopreason", "status")):
                        self.reasons.add(value.lower())
                elif isinstance(value, int | float):
                    if _speaks(key, ("token", "usage")) and not _speaks(key, LIMITS):
                        self.counts.add(value)
                else:
                    self.values.add(canonical(value))
        self._text = "\n".join(texts)

    def has_text(self, text: str) -> bool:
        """Say whether a text stands in some string, or in the JSON in one."""
        return words(text) in self._text

    def has_value(self, value: Any) -> bool:
        """Say whether a JSON value stands somewhere, as text or as attributes."""
        if isinstance(value, str):
            return self.has_text(value)
        return canonical(value) == "{}" or canonical(value) in self.values


def _said(item: Span | LogRecord) -> Iterator[Any]:
    yield item.attributes
    if isinstance(item, Span):
        yield item.name
        yield item.status_message
        for event in item.events:
            yield event.name
            if event.name != "exception":  # what Python says of it is nobody's message
                yield event.attributes
    else:
        yield item.body


def _speaks(key: str, words: tuple[str, ...]) -> bool:
    return any(word in key.lower() for word in words)


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value inside, containers too, with the keys above; JSON in strings is opened."""
    if isinstance(value, Mapping):
        yield key, dict(value)
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", inner)
    elif isinstance(value, str):
        yield key, value
        if value[:1] in ("{", "[", '"'):
            try:
                opened = msgspec.json.decode(value)
            except (msgspec.DecodeError, RecursionError):
                return
            yield from _leaves(key, opened)
    elif isinstance(value, list | tuple):
        yield key, list(value)
        for inner in value:
            yield from _leaves(key, inner)
    elif value is not None and not isinstance(value, bool | bytes):
        yield key, value
