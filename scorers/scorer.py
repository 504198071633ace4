"""Turn a function into a scorer.

A scorer is one decorated function in one file. Its keyword-only parameters are its
configuration; they are recorded with the score.

Example::

    @scorer(level="conversation", version="1")
    def looping(conversation: Conversation, *, repeats: int = 4) -> ScorerResult:
        '''Flag an agent that makes the same call again and again.'''
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from collector.model import Level


class ScorerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer as it is registered: the function and what is known about it."""

    name: str
    level: Level
    version: str
    """Raised whenever scores stop being comparable with earlier ones."""
    summary: str
    """First line of the docstring."""
    function: Callable[..., Any]
    options: Mapping[str, Any]
    """Configured values of the keyword parameters, defaults included."""
    asynchronous: bool = False

    def configured(self, **options: Any) -> ScorerInfo:
        """Return a copy with some options set.

        Raises:
            TypeError: an option does not exist or has the wrong type; the text names it.
        """
        hints = typing.get_type_hints(self.function)
        merged = dict(self.options)
        for key, value in options.items():
            if key not in merged:
                known = ", ".join(sorted(merged)) or "none"
                msg = f"scorer {self.name} has no option {key!r}; it has: {known}"
                raise TypeError(msg)
            try:
                merged[key] = msgspec.convert(value, hints[key], strict=False)
            except msgspec.ValidationError as error:
                msg = f"scorer {self.name}, option {key!r}: {error}"
                raise TypeError(msg) from error
        return msgspec.structs.replace(self, options=merged)


def scorer(*, level: Level, version: str) -> Callable[[Callable[..., Any]], ScorerInfo]:
    """Register a function's level and version and read its options from its signature.

    A ``conversation`` scorer takes ``(conversation, *, options)``; a ``turn`` scorer
    ``(conversation, turn, *, options)``; a ``tool_call`` scorer ``(conversation, call, *, options)``.
    """

    def decorate(function: Callable[..., Any]) -> ScorerInfo:
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        return ScorerInfo(
            name=function.__name__,
            level=level,
            version=version,
            summary=(inspect.getdoc(function) or "").partition("\n")[0],
            function=function,
            options=options,
            asynchronous=inspect.iscoroutinefunction(function),
        )

    return decorate
