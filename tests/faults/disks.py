"""Fill the disk that an instance writes to, and make room again."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.served import Served

MIB = 1024 * 1024


class FullFiles:
    """Let a process write no file beyond its beginning: works for anybody, and no file shrinks."""

    def fill(self, served: Served) -> None:
        """Refuse what is written from here on."""
        self._limit(served, 4096)

    def empty(self, served: Served) -> None:
        """Make room."""
        self._limit(served, resource.RLIM_INFINITY)

    def _limit(self, served: Served, size: int) -> None:
        assert served.process is not None
        _, hard = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size, hard))


class FullDisk:
    """Fill a small file system of its own with a file that nobody needs."""

    def __init__(self, directory: Path) -> None:
        self._ballast = directory / "ballast"

    def fill(self, served: Served, *, leave: int = 0) -> None:
        """Take all the space that is left, but for some bytes."""
        with self._ballast.open("ab", buffering=0) as file:
            piece = MIB
            while piece:
                if shutil.disk_usage(self._ballast.parent).free - leave < piece:
                    piece //= 2
                    continue
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, piece)
                except OSError:
                    piece //= 2

    def empty(self, served: Served) -> None:
        """Make room."""
        self._ballast.unlink()


@contextmanager
def small_disk(directory: Path, *, size: int) -> Iterator[FullDisk]:
    """Mount a file system in memory; skips the test where that is not allowed."""
    directory.mkdir()
    mounted = subprocess.run(
        ["/usr/bin/mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        yield FullDisk(directory)
    finally:
        subprocess.run(["/usr/bin/umount", "-l", str(directory)], check=True)
