"""Keep the key of the hashes that stand for credentials, in the data directory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from collector.errors import ConfigError

NAME = "proxy.secret"
SIZE = 32


def load_secret(data_dir: Path, *, random_bytes: Callable[[int], bytes]) -> bytes:
    """Return the key, made when there is none; a hash is the same after a restart.

    Raises:
        ConfigError: The directory is not writable, or the file is not ours.
    """
    path = data_dir / NAME
    try:
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
