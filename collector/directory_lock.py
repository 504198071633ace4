"""Keep a data directory to one process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from collector.errors import ConfigError


class DirectoryLock:
    """Hold the lock on a data directory until released or until the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Args:
            path: The lock file; made when missing, with its directory, for this user alone.
                It is never removed, since removing it would let two processes lock two files
                of one name.

        Raises:
            ConfigError: Another process holds it, or the directory is not writable.
        """
        try:
            # Only ours: what lies in it is as private as the traffic.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(
                f"{path.parent}: is not writable ({error.strerror}); make it writable, or choose"
                " another --data-dir"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise ConfigError(
                f"{path.parent}: is in use by process {holder or 'unknown'}; stop it, or choose"
                " another --data-dir"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode("ascii"), 0)

    def release(self) -> None:
        """Give the directory free; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
