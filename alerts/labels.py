"""Keep label values few and printable, so that a metric cannot grow without bound."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable

from collector.totals import SeriesKey

OTHER = "other"
"""What a value is reported as once its label has taken all it may."""

MAX_LENGTH = 128
"""Characters of a label value."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def sanitised(value: str) -> str:
    """Return the value without control characters and not longer than a label may be."""
    return _CONTROL.sub(" ", value[: 4 * MAX_LENGTH]).strip()[:MAX_LENGTH]


class Labels:
    """Admit the first values of each label; later ones become ``other``.

    The list is as persistent as the totals: seeded from the series that exist, a restart
    admits what was admitted before. Safe to use from several threads.

    Args:
        limit: distinct values each label may take, ``other`` and empty aside.
        existing: the series that exist already.
        redact: what takes secrets and personal data out of a value.
    """

    def __init__(
        self,
        limit: int,
        existing: Iterable[SeriesKey] = (),
        *,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._limit = limit
        self._redact = redact
        self._lock = threading.Lock()
        self._admitted: dict[str, set[str]] = {}
        for _, pairs in existing:
            for label, value in pairs:
                if value not in ("", OTHER):
                    self._admitted.setdefault(label, set()).add(value)

    def admit(self, label: str, value: str) -> str:
        """Return the value as it may be exported under this label."""
        values = self._admitted.setdefault(label, set())
        if value in values:
            return value
        clean = sanitised(self._redact(value))
        if clean in values or clean in ("", OTHER):
            return clean
        with self._lock:
            if len(values) >= self._limit:
                return OTHER
            values.add(clean)
        return clean
