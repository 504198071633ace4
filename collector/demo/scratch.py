"""Give the demonstration a directory of its own, and nobody the wait for its removal."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_REMOVAL = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def scratch(hurried: Callable[[], bool]) -> Iterator[Path]:
    """Make a temporary directory, and remove it in the end.

    The embedded store leaves many thousand small files, whose removal takes ten seconds and more
    on a busy machine. When ``hurried`` says so a process in the background does it.
    """
    path = Path(tempfile.mkdtemp(prefix="outrider-demo-"))
    try:
        yield path
    finally:
        if hurried():
            _leave(path)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _leave(path: Path) -> None:
    """Start the removal, out of reach of the terminal's signals and of whoever reads our output."""
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", _REMOVAL, str(path)],
        {},
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)],
        setpgroup=0,
    )
