"""Keep a random key in a file of the data directory, for its owner alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from collector.errors import ConfigError

SIZE = 32
"""Bytes of a key."""


def key_in(path: Path, *, random_bytes: Callable[[int], bytes] = os.urandom) -> bytes:
    """Return the key of a file, made when there is none; it is the same after a restart.

    Raises:
        ConfigError: The directory is not writable, or the file is not ours.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            known = os.read(file, SIZE + 1)
            if not known:
                known = random_bytes(SIZE)
                os.write(file, known)
                os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be used ({error.strerror}); make it readable and writable for this user"
        ) from error
    if len(known) != SIZE:
        raise ConfigError(f"{path}: is not a key of {SIZE} bytes; remove it and a new one is made")
    return known
