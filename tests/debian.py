"""Find the programs of Debian packages that the slow tests drive."""

from __future__ import annotations

import os
import shutil

import pytest


def program(*names: str) -> str:
    """Return the path of the first that is installed; skip where none is, but never in CI."""
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    missing = f"{names[0]} is not installed; `make debian` installs it"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)
