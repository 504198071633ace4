"""Remember which spans are decided, in a bounded, compact table."""

from __future__ import annotations

import hashlib
import sys
import threading
from array import array
from collections.abc import Iterable

GENERATIONS = 3
"""Full tables that together hold the limit; one more is being filled."""

LOAD = 0.5
"""Share of slots in use when a table is full: 16 bytes a key, and 2.5 probes a table for a miss."""


class SeenKeys:
    """Hold 64-bit hashes of span keys; the oldest are forgotten in whole generations.

    Each generation is an open-addressing table of 64-bit slots, so a key costs 16 bytes and a
    look-up is a few array reads a generation. At least ``limit`` keys are remembered, at most a
    third more. Two different keys are taken for one with a chance of about 1e-13 a look-up at two
    million keys; the salt keeps senders from making such pairs on purpose.

    One thread adds; any thread may look up at the same time. The keys of an earlier run are
    loaded beside everything else, and only a look-up waits for them.
    """

    def __init__(self, *, limit: int, salt: bytes, earlier: Iterable[int] = ()) -> None:
        self._salt = salt
        self._per_generation = max(1, -(-limit // GENERATIONS))
        self._slots = int(self._per_generation / LOAD) + 2
        self._tables: tuple[array[int], ...] = (self._empty(),)
        """Newest first; replaced as a whole, so that a reader sees one state."""
        self._newest = 0
        """Keys in the newest table."""
        self._lock = threading.Lock()
        self._early: list[int] | None = []
        """Added before the earlier keys were loaded; ``None`` once they are."""
        self._loaded = threading.Event()
        threading.Thread(target=self._load, args=(earlier,), name="seen-keys", daemon=True).start()

    def __len__(self) -> int:
        """Count the keys held, renewed ones twice; waits until earlier keys are loaded."""
        self._loaded.wait()
        return self._newest + self._per_generation * (len(self._tables) - 1)

    def __contains__(self, key: bytes) -> bool:
        """Say whether a 24-byte span key is decided; waits until earlier keys are loaded."""
        self._loaded.wait()
        return self._holds(self.hashed(key))

    @property
    def capacity(self) -> int:
        """The most keys that are ever remembered."""
        return self._per_generation * (GENERATIONS + 1)

    def hashed(self, key: bytes) -> int:
        """Hash a span key to 64 bits, never 0, which marks a free slot."""
        digest = hashlib.blake2b(key, digest_size=8, key=self._salt).digest()
        return int.from_bytes(digest, "little") or 1

    def add(self, hashes: Iterable[int]) -> None:
        """Remember hashes in the order given; an old one that comes again is renewed. Never waits."""
        with self._lock:
            if self._early is not None:
                self._early.extend(hashes)
                return
        self._insert(hashes)

    def _load(self, earlier: Iterable[int]) -> None:
        self._insert(earlier)
        with self._lock:
            self._insert(self._early or ())
            self._early = None
        self._loaded.set()

    def _insert(self, hashes: Iterable[int]) -> None:
        table = self._tables[0]
        slots = self._slots
        for value in hashes:
            if self._newest >= self._per_generation:
                table = self._empty()
                self._tables = (table, *self._tables[:GENERATIONS])
                self._newest = 0
            slot = value % slots
            while (found := table[slot]) and found != value:
                slot += 1
                if slot == slots:
                    slot = 0
            if not found:
                table[slot] = value
                self._newest += 1

    def _holds(self, value: int) -> bool:
        slots = self._slots
        first = value % slots
        for table in self._tables:
            slot = first
            while found := table[slot]:
                if found == value:
                    return True
                slot += 1
                if slot == slots:
                    slot = 0
        return False

    def _empty(self) -> array[int]:
        return array("Q", [0]) * self._slots


def packed(hashes: Iterable[int]) -> bytes:
    """Write hashes as little-endian 64-bit words."""
    return _little(array("Q", hashes)).tobytes()


def unpacked(words: bytes) -> array[int]:
    """Read what ``packed`` wrote."""
    values = array("Q")
    values.frombytes(words)
    return _little(values)


def _little(values: array[int]) -> array[int]:
    if sys.byteorder == "big":
        values.byteswap()
    return values
