"""Keep a caller from filling the disk through the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager

INTERVAL_S = 60.0
"""Time between two records of one kind."""
KINDS = 200
"""Kinds that are told apart; then all are forgotten."""


class Seldom(logging.Filter):
    """Let one record of a kind through in a while, with how many it stands for."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        super().__init__()
        self._seconds = seconds
        self._kinds: dict[tuple[int, str], tuple[float, int]] = {}
        """When a kind may be logged again, and how often it was not."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is logged; counts it when it is not."""
        now = self._seconds()
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        kind = record.levelno, f"{str(record.msg).partition(chr(10))[0]}{error}"
        again, held = self._kinds.get(kind, (now, 0))
        if now < again:
            self._kinds[kind] = again, held + 1
            return False
        if len(self._kinds) >= KINDS:
            self._kinds.clear()
        self._kinds[kind] = now + INTERVAL_S, 0
        if held:
            record.msg = f"{record.getMessage()} ({held} more like this since the last)"
            record.args = None
        return True


@contextmanager
def seldom(*loggers: str, seconds: Callable[[], float]) -> Generator[None, None, None]:
    """Thin out what some loggers say for the length of a ``with`` block."""
    few = Seldom(seconds)
    for name in loggers:
        logging.getLogger(name).addFilter(few)
    try:
        yield
    finally:
        for name in loggers:
            logging.getLogger(name).removeFilter(few)
