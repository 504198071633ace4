"""Make virtual environments for peers outside the tree, and use them again next time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.failure import UnavailableError

_INSTALL_S = 900.0
_SHOWN = 400


class Environments:
    """Environments by package, under one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def installed(self, package: str) -> tuple[Path, str]:
        """Return the ``bin`` directory and the version of a package; installs it when missing.

        The newest version that the registry offers is taken the first time. Remove the
        directory to take a newer one.

        Raises:
            UnavailableError: it cannot be installed.
        """
        binaries = self.made(package, [package])
        asked = f"import importlib.metadata as m; print(m.version({package!r}))"
        return binaries, _run([str(binaries / "python"), "-c", asked]).strip()

    def made(self, name: str, packages: Sequence[str]) -> Path:
        """Return the ``bin`` directory of an environment with some packages; makes it when missing.

        Packages with another version are another environment only under another name.

        Raises:
            UnavailableError: it cannot be installed.
        """
        home = self._directory / name
        binaries = home / "bin"
        done = home / "installed"
        uv = str(Path(sys.executable).with_name("uv"))
        if not done.exists():
            _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)])
            python = str(binaries / "python")
            _run([uv, "pip", "install", "--quiet", "--python", python, *packages])
            done.touch()
        return binaries


def _run(command: Sequence[str]) -> str:
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)[-_SHOWN:]) from error
    if ended.returncode:
        raise UnavailableError(ended.stderr.strip()[-_SHOWN:])
    return ended.stdout
