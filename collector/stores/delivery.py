"""Bring rows into the store whatever it says, and set aside those it will never take."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

import msgspec

from collector.errors import InsertRefusedError, OutriderError, PoisonRowError, StoppedError
from collector.stamps import stamp
from collector.stores.tables import TABLES, Row, Rows

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_PATIENCE_S = 30.0
"""What is not done after this time counts as not working, before the time-out says so."""
_TRIES = 3
"""Inserts of some rows before a refusal whose cause is unclear is looked into."""
_LAST_TRIES = 6
"""Inserts of a single row before it is given up for one, over some five seconds."""
_PROBES = 8
"""Rows tried one by one to learn whether a table takes any."""


class RowSink(Protocol):
    """The part of a store that takes rows."""

    def insert(self, rows: Rows) -> None:
        """Write rows durably; writing the same rows again changes nothing.

        Raises:
            StoreUnavailableError: the same call may succeed later.
            PoisonRowError: one of the rows can never be written.
            InsertRefusedError: a row, the table or the server is at fault.
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
            prepare: Called until it succeeds when the store is opened, and when a table takes
                nothing: the migrations of a server that may be down, or empty again.
        """
        self._store = store
        self._count = count
        self._pause = pause
        self._random = random
        self._clock_ns = clock_ns
        self._prepare = prepare
        self._prepared = prepare is None
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
        try:
            self._open()
        except StoppedError:
            return False
        return True

    def deliver(self, rows: Rows, *, more: Callable[[], Rows] = dict) -> bool:
        """Write all rows, the impossible ones as dead letters; open the store if need be.

        Args:
            rows: By table; those of tables that are not ours are left out.
            more: Gives further rows to deliver with these, called while a table takes none: a row
                is given up only when others go in, and a row that came alone has no others.

        Returns:
            False when told to give up first; the same rows may then be delivered again.
        """
        try:
            self._deliver({table: list(lines) for table, lines in rows.items() if lines}, more)
        except StoppedError:
            return False
        return True

    def _deliver(self, waiting: dict[str, list[Row]], more: Callable[[], Rows]) -> None:
        pause_s = _FIRST_PAUSE_S
        self._open()
        while table := next((table for table in TABLES if table in waiting), ""):
            try:
                self._open()
                self._table(table, waiting[table])
            except InsertRefusedError:
                self._wait(pause_s)
                pause_s = _longer(pause_s)
                self._prepared = self._prepare is None
                for further, lines in more().items():
                    waiting.setdefault(further, []).extend(lines)
            else:
                del waiting[table]
                pause_s = _FIRST_PAUSE_S

    def _open(self) -> None:
        if not self._prepared and self._prepare is not None:
            self._until_done(self._prepare)
            self._prepared = True

    def _table(self, table: str, rows: list[Row]) -> None:
        """Insert rows; halve those that are refused until the rows at fault stand alone.

        Raises:
            InsertRefusedError: The table takes none of them, so it may not be their fault.
        """
        parts = [rows]
        taken = False
        while parts:
            part = parts.pop()
            try:
                self._insert(table, part, tries=1 if taken else _TRIES)
                taken = True
                continue
            except PoisonRowError as error:
                reason = str(error)
            except InsertRefusedError as error:
                reason = str(error)
                if not taken:
                    part = self._without_one_taken(table, part)
                    taken = True
                    parts.append(part)
                    continue
                if len(part) == 1 and self._taken_late(table, part):
                    continue
            if len(part) > 1:
                middle = len(part) // 2
                parts += [part[middle:], part[:middle]]
            else:
                self._set_aside(table, part[0], reason)

    def _without_one_taken(self, table: str, rows: list[Row]) -> list[Row]:
        """Insert one of the rows, whichever is taken, and return the others.

        Raises:
            InsertRefusedError: None of some rows was taken.
        """
        step = max(1, len(rows) // _PROBES)
        for place in range(0, len(rows) if len(rows) > 1 else 0, step):
            with suppress(PoisonRowError, InsertRefusedError):
                self._insert(table, [rows[place]], tries=1)
                return rows[:place] + rows[place + 1 :]
        raise InsertRefusedError(self._error)

    def _taken_late(self, table: str, row: list[Row]) -> bool:
        """Try a row once more, for longer, when others go in and it does not."""
        with suppress(InsertRefusedError):
            self._insert(table, row, tries=_LAST_TRIES)
            return True
        return False

    def _insert(self, table: str, rows: list[Row], *, tries: int) -> None:
        self._until_done(lambda: self._store.insert({table: rows}), tries=tries)
        self._count("store_rows_total", len(rows), {"table": table})

    def _set_aside(self, table: str, row: Row, reason: str) -> None:
        """Write a dead letter, for as long as it takes."""
        self._count("store_errors_total", 1, {"kind": "poison"})
        _LOG.error("a row of %s is set aside in dead_letters: %s", table, reason)
        letter = self._letter(table, row, reason)

        def write() -> None:
            try:
                self._store.insert({"dead_letters": [letter]})
            except PoisonRowError as error:  # for which there is no other place
                raise InsertRefusedError(str(error)) from error

        self._until_done(write)
        self._count("store_rows_total", 1, {"table": "dead_letters"})

    def _until_done(self, action: Callable[[], object], *, tries: int = 0) -> None:
        """Try until it is done, ever more slowly.

        Raises:
            PoisonRowError: a row is at fault.
            InsertRefusedError: that was said ``tries`` times; 0 for however often.
            StoppedError: told to give up.
        """
        pause_s = _FIRST_PAUSE_S
        while True:
            self._trying_since = self._seconds()
            try:
                action()
            except PoisonRowError:
                self._error = ""
                raise
            except InsertRefusedError as error:
                self._failed("refused", str(error))
                tries -= 1
                if tries == 0:
                    raise
            except OutriderError as error:
                self._failed("unavailable", str(error) or type(error).__name__)
            except Exception as error:  # noqa: BLE001 - a bug, the client's or ours, must not strand the rows
                self._failed("unexpected", f"{type(error).__name__}: {error}")
            else:
                if self._error:
                    _LOG.info("the store takes rows again")
                self._error = ""
                return
            finally:
                self._trying_since = None
            self._wait(pause_s)
            pause_s = _longer(pause_s)

    def _wait(self, pause_s: float) -> None:
        """Wait that long, or half of it and more, so that several do not come back at once."""
        if not self._pause(pause_s * (0.5 + 0.5 * self._random())):
            raise StoppedError("the store is given up for now")

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


def _longer(pause_s: float) -> float:
    return min(2 * pause_s, _LONGEST_PAUSE_S)
