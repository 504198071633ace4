"""Turn a function into a scorer.

A scorer is one decorated function in one file. Its keyword-only parameters are its
configuration; they are recorded with the score.

Example::

    @scorer(level="conversation", version="1")
    def looping(
        conversation: Conversation, *, repeats: Annotated[int, msgspec.Meta(ge=2)] = 4
    ) -> ScorerResult:
        '''Flag an agent that makes the same call again and again.'''

An annotation may bound its option, as above; a value outside is an error at the start.
"""

from __future__ import annotations

import difflib
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from collector.model import Level
from scorers.option import read_option


class OptionError(TypeError):
    """An option of a scorer does not exist or its value does not fit."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option


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
            OptionError: an option does not exist or its value does not fit.
        """
        hints = typing.get_type_hints(self.function, include_extras=True)
        merged = dict(self.options)
        for key, value in options.items():
            if key not in merged:
                near = difflib.get_close_matches(key, merged, n=1)
                known = ", ".join(sorted(merged))
                hint = f"did you mean {near[0]}?" if near else f"it has {known or 'none'}"
                raise OptionError(key, f"there is no such option; {hint}")
            try:
                merged[key] = read_option(value, hints[key])
            except ValueError as error:
                raise OptionError(key, str(error)) from error
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
