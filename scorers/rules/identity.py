"""Let a cache know a record by being the very same one."""

from __future__ import annotations

from typing import Generic, TypeVar

Record = TypeVar("Record")


class Same(Generic[Record]):
    """Compare by identity, so that a large record is a key that costs nothing.

    Holds the record, so that its identity is not given to another while the key lives.
    """

    __slots__ = ("record",)

    def __init__(self, record: Record) -> None:
        self.record = record

    def __eq__(self, other: object) -> bool:
        """Say whether the other key holds the very same record."""
        return isinstance(other, Same) and other.record is self.record

    def __hash__(self) -> int:
        """Return the record's address."""
        return id(self.record)
