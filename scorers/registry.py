"""List the scorers: the built-in ones, and those that other distributions bring."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from collector.errors import ConfigError
from scorers.rules.faithfulness import faithfulness
from scorers.rules.false_success import false_success
from scorers.rules.ignored_tool_error import ignored_tool_error
from scorers.rules.instructions import instructions
from scorers.rules.invented_arguments import invented_arguments
from scorers.rules.looping import looping
from scorers.rules.missed_escalation import missed_escalation
from scorers.rules.missing_call import missing_call
from scorers.rules.policy import policy
from scorers.rules.tool_calls import tool_calls
from scorers.rules.unnecessary_escalation import unnecessary_escalation
from scorers.rules.unneeded_call import unneeded_call
from scorers.scorer import OptionError, ScorerInfo

GROUP = "outrider.scorers"
"""The entry-point group in which another distribution names its scorers."""


def builtin() -> tuple[ScorerInfo, ...]:
    """Return the scorers that Outrider ships, in the order of the docs."""
    return (
        false_success,
        looping,
        missed_escalation,
        unnecessary_escalation,
        tool_calls,
        unneeded_call,
        missing_call,
        invented_arguments,
        ignored_tool_error,
        faithfulness,
        instructions,
        policy,
    )


def configured(
    options: Mapping[str, Mapping[str, Any]], *, plugins: Iterable[EntryPoint] | None = None
) -> tuple[ScorerInfo, ...]:
    """Return the enabled scorers with the user's options applied.

    ``options`` maps a scorer's name to its options; ``enabled: false`` leaves it out.
    ``plugins`` defaults to the installed entry points of the group ``outrider.scorers``.

    Raises:
        ConfigError: a scorer or an option does not exist, an option's value does not fit,
            or an entry point cannot be loaded or takes a name that is taken.
    """
    known = {info.name: info for info in builtin()}
    for plugin in entry_points(group=GROUP) if plugins is None else plugins:
        info = _loaded(plugin)
        if info.name in known:
            msg = f"entry point {plugin.name} ({plugin.value}): a scorer named {info.name} exists already; rename one"
            raise ConfigError(msg)
        known[info.name] = info
    for name in options:
        if name not in known:
            raise ConfigError(_unknown(name, known))
    chosen = (_applied(info, options.get(name, {})) for name, info in known.items())
    return tuple(info for info in chosen if info is not None)


def _applied(info: ScorerInfo, options: Mapping[str, Any]) -> ScorerInfo | None:
    rest = dict(options)
    enabled = rest.pop("enabled", True)
    if not isinstance(enabled, bool):
        raise ConfigError(f"scorers.{info.name}.enabled: expected true or false, got {enabled!r}")
    if not enabled:
        return None
    if not rest:
        return info
    try:
        return info.configured(**rest)
    except OptionError as error:
        raise ConfigError(f"scorers.{info.name}.{error}") from error


def _loaded(plugin: EntryPoint) -> ScorerInfo:
    try:
        loaded = plugin.load()
    except Exception as error:
        msg = f"entry point {plugin.name} ({plugin.value}) of {GROUP} cannot be loaded: {error}"
        raise ConfigError(msg) from error
    if not isinstance(loaded, ScorerInfo):
        msg = f"entry point {plugin.name} ({plugin.value}) is not a scorer; decorate the function with @scorer"
        raise ConfigError(msg)
    return loaded


def _unknown(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    return f"scorers.{name}: there is no such scorer; {hint}"
