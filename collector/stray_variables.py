"""Find variables that were meant to set a key and set none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from collector.config_file import PREFIX
from collector.settings import settings


def stray_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that miss an underscore, each with the name that was meant.

    ``OUTRIDER_ASSEMBLE_IDLE_TIMEOUT`` is one; variables of other programs and those that a
    file refers to under names of its own are none.
    """
    meant = dict(_names())
    found: dict[str, str] = {}
    for name in sorted(environ):
        if name.startswith("OUTRIDER_") and not name.startswith(PREFIX):
            right = meant.get(re.sub("_+", "_", name.upper()))
            if right is not None:
                found[name] = right
            elif scorer := re.fullmatch("OUTRIDER_+SCORERS_+(.+)__(.+)", name):
                found[name] = f"{PREFIX}SCORERS__{scorer[1].strip('_')}__{scorer[2].strip('_')}"
            elif name.startswith("OUTRIDER_SCORERS_"):
                found[name] = f"{PREFIX}SCORERS__NAME__OPTION"
    return found


def _names() -> Iterable[tuple[str, str]]:
    for setting in settings():
        name = PREFIX + setting.key.replace(".", "__").upper()
        yield re.sub("_+", "_", name), name
