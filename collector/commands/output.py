"""Write data to standard output or a file, and progress to standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from collector.errors import ConfigError

TERMINAL_SECONDS = 0.25
FILE_SECONDS = 5.0
"""Between two words on how far a command is, on a terminal and in a log."""


@contextmanager
def opened(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output (none or ``-``) or a file for bytes.

    A file appears under its name only when it is complete; until then it is ``NAME.partial``.

    Raises:
        ConfigError: the file cannot be written.
    """
    if path is None or str(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    special = path.exists() and not path.is_file()  # a device or a pipe cannot be renamed over
    partial = path if special else path.with_name(path.name + ".partial")
    try:
        file = partial.open("wb")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    try:
        with file:
            yield file
        if not special:
            partial.replace(path)
    finally:
        if not special:
            partial.unlink(missing_ok=True)


class Progress:
    """Rewrite one status line on a terminal; write one now and then elsewhere, if it is wanted."""

    def __init__(
        self,
        wanted: bool | None,
        *,
        stream: TextIO | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._shown = self._terminal if wanted is None else wanted
        self._seconds = seconds
        self._every = TERMINAL_SECONDS if self._terminal else FILE_SECONDS
        self._next = 0.0
        self._width = 0

    def update(self, text: str) -> None:
        """Show a status, unless the last one is still fresh."""
        now = self._seconds()
        if self._shown and now >= self._next:
            self._next = now + self._every
            self._write(text)

    def finish(self, text: str) -> None:
        """Show the last status and end the line."""
        if self._shown:
            self._write(text)
            if self._terminal:
                self._stream.write("\n")
                self._stream.flush()

    def _write(self, text: str) -> None:
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
