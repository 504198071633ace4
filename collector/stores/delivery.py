"""Bring rows into the store whatever it says, and set aside those it will never take."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from collector.errors import OutriderError, PoisonRowError
from collector.stamps import stamp
from collector.stores.tables import TABLES, Row, Rows

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_PATIENCE_S = 30.0
"""What is not done after this time counts as not working, before the time-out says so."""


class RowSink(Protocol):
    """The part of a store that takes rows."""

    def insert(self, rows: Rows) -> None:
        """Write rows durably; writing the same rows again changes nothing.

        Raises:
            StoreUnavailableError: the same call may succeed later.
            PoisonRowError: one of the rows can never be written.
        """


class Count(Protocol):
    """Raise a counter; called on the writer's thread."""

    def __call__(self, name: str, amount: float, labels: Mapping[str, str], /) -> None:
        """Add ``amount`` to the series ``name{labels}``."""


class Delivery:
    """Insert rows with retries; the state tells ``/readyz`` how it goes."""

    def __init__(
        self,
        store: RowSink,
        *,
        count: Count,
        pause: Callable[[float], bool],
        random: Callable[[], float],
        clock_ns: Callable[[], int],
        seconds: Callable[[], float],
        prepare: Callable[[], object] | None = None,
    ) -> None:
        """Keep what is needed.

        Args:
            store: Where rows go.
            count: Takes ``store_rows_total{table}`` and ``store_errors_total{kind}``.
            pause: Waits that many seconds; false means give up now.
            random: Gives 0..1, to spread retries.
            clock_ns: Time for dead letters.
            seconds: Monotonic clock.
            prepare: Called until it succeeds when the store is opened: the migrations of a
                server that may be down at start.
        """
        self._store = store
        self._count = count
        self._pause = pause
        self._random = random
        self._clock_ns = clock_ns
        self._prepare = prepare
        self._seconds = seconds
        self._error = ""
        self._trying_since: float | None = None

    @property
    def last_error(self) -> str:
        """What is wrong with the store now; empty while it takes everything."""
        since = self._trying_since
        waited = 0.0 if since is None else self._seconds() - since
        if not self._error and waited > _PATIENCE_S:
            return f"no answer for {waited:.0f} s"
        return self._error

    def open(self) -> bool:
        """Prepare the store; false when told to give up first."""
        if self._prepare is not None:
            if not self._until_done(self._prepare):
                return False
            self._prepare = None
        return True

    def deliver(self, rows: Rows) -> bool:
        """Write all rows, the impossible ones as dead letters; open the store if need be.

        Returns:
            False when told to give up first; the same rows may then be delivered again.
        """
        return self.open() and all(
            self._table(table, list(rows.get(table, ()))) for table in TABLES
        )

    def _table(self, table: str, rows: list[Row]) -> bool:
        parts = [rows] if rows else []
        while parts:
            part = parts.pop()
            try:
                if not self._until_done(lambda part=part: self._store.insert({table: part})):  # type: ignore[misc]  # bound now
                    return False
                self._count("store_rows_total", len(part), {"table": table})
            except PoisonRowError as error:
                if len(part) == 1:
                    self._count("store_errors_total", 1, {"kind": "poison"})
                    letter = self._letter(table, part[0], str(error))
                    if not self._table("dead_letters", [letter]):
                        return False
                else:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
        return True

    def _until_done(self, action: Callable[[], object]) -> bool:
        pause_s = _FIRST_PAUSE_S
        while True:
            self._trying_since = self._seconds()
            try:
                action()
            except PoisonRowError:
                self._error = ""
                raise
            except OutriderError as error:
                self._failed("unavailable", str(error) or type(error).__name__)
            except Exception as error:  # noqa: BLE001 - a bug, the client's or ours, must not strand the rows
                self._failed("unexpected", f"{type(error).__name__}: {error}")
            else:
                if self._error:
                    _LOG.info("the store takes rows again")
                self._error = ""
                return True
            finally:
                self._trying_since = None
            if not self._pause(pause_s * (0.5 + 0.5 * self._random())):
                return False
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _failed(self, kind: str, reason: str) -> None:
        if not self._error:
            _LOG.warning("the store does not take rows, they stay in the journal: %s", reason)
        self._error = reason
        self._count("store_errors_total", 1, {"kind": kind})

    def _letter(self, table: str, row: Row, reason: str) -> Row:
        try:
            text = msgspec.json.encode(row).decode()
        except (OverflowError, TypeError, UnicodeEncodeError):
            text = ascii(row)
        # Without the time, so that a second delivery writes the same letter.
        letter_id = hashlib.sha256(f"{table}\x1f{text}".encode()).hexdigest()[:32]
        return (letter_id, stamp(self._clock_ns()), table, ascii(reason), text)
