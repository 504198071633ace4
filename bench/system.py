"""Say what a measurement needs of a system that takes traces."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from bench.senders import Endpoint


class Running(Protocol):
    """One instance with data of its own."""

    @property
    def pid(self) -> int:
        """Id of its first process."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it takes OTLP."""

    def durable(self) -> int:
        """Return how many spans are committed to its database and all work on them is done."""

    def stop(self) -> None:
        """Stop it."""


class System(Protocol):
    """Something that takes traces."""

    name: str
    """As people call it."""

    def prepare(self) -> str:
        """Install what it takes and return its version.

        Raises:
            UnavailableError: it cannot be installed.
        """

    def start(self, directory: Path) -> Running:
        """Start an instance that keeps its data in an empty directory.

        Raises:
            UnavailableError: it does not start.
        """

    def stored(self, directory: Path) -> int:
        """Count the spans in a stopped instance's database."""
