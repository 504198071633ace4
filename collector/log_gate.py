"""Take secrets and personal data out of log lines, whoever writes them."""

from __future__ import annotations

import logging
from collections.abc import Callable


class LogGate(logging.Formatter):
    """Format records as ever, and redact each line as a whole: message, arguments and traceback."""

    def __init__(self, form: str, redact: Callable[[str], str]) -> None:
        """Keep what is needed.

        Args:
            form: The lines, in the style of ``logging``.
            redact: Takes out what must not leave; never raises.
        """
        super().__init__(form)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines with a traceback."""
        return self._redact(super().format(record))
