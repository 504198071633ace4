"""Remember which spans were decided and are no longer, because others decide them instead."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class WithdrawnKeys:
    """Hold span keys that stand among the decided ones and do not count; usually none.

    The set of decided spans only grows, so what was taken back is kept beside it until it is
    decided again. The writer's thread changes it, any thread looks up.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._keys = frozenset(
            bytes(key) for (key,) in connection.execute("SELECT key FROM withdrawn")
        )

    def __contains__(self, key: bytes) -> bool:
        """Say whether a decision on this span was taken back."""
        return key in self._keys

    def write(
        self,
        connection: sqlite3.Connection,
        *,
        decided: Iterable[bytes],
        withdrawn: Iterable[bytes],
    ) -> frozenset[bytes]:
        """Write what a transaction changes, and return what ``take_over`` is given after it."""
        again = self._keys.intersection(decided) if self._keys else frozenset()
        connection.executemany("DELETE FROM withdrawn WHERE key = ?", ((key,) for key in again))
        more = frozenset(withdrawn)
        connection.executemany(
            "INSERT OR IGNORE INTO withdrawn (key) VALUES (?)", ((key,) for key in more)
        )
        return (self._keys - again) | more if again or more else self._keys

    def take_over(self, keys: frozenset[bytes]) -> None:
        """Hold these from now on: their transaction is durable."""
        self._keys = keys
