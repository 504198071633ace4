"""Read the journal's keys from the configuration, and check them against what the file holds."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from pathlib import Path

from collector.errors import ConfigError
from collector.journal_cipher import HEAD_BYTES, KEY_BYTES, BodyCipher, sealed_with

_META = "body_key:"
"""What the name of a key's row in ``meta`` begins with."""


def cipher_of(keys: str) -> BodyCipher | None:
    """Return what seals bodies under ``journal.encryption_key``; ``None`` where it is empty.

    Raises:
        ConfigError: A key is not 32 bytes in base64 or hex; it is not repeated.
    """
    if not keys.strip():
        return None
    return BodyCipher([_key(text.strip(), place) for place, text in enumerate(keys.split(","), 1)])


def _key(text: str, place: int) -> bytes:
    try:
        if len(text) == 2 * KEY_BYTES:
            key = bytes.fromhex(text)
        else:
            key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(
            f"journal.encryption_key: key {place} is not {KEY_BYTES} bytes in base64 or hex; make one"
            " with `openssl rand -base64 32`"
        )
    return key


def check_keys(connection: sqlite3.Connection, path: Path, cipher: BodyCipher | None) -> None:
    """Note the key that will seal, and refuse to go on without one that sealed what is still there.

    Raises:
        ConfigError: A body is sealed under a key that is not configured. Nothing was changed.
    """
    here = {name.hex() for name in cipher.ids} if cipher else set()
    noted = {
        name.removeprefix(_META)
        for (name,) in connection.execute("SELECT name FROM meta WHERE name LIKE ?", (f"{_META}%",))
    }
    if missing := noted - here:
        needed = _in_use(connection, missing)
        if needed:
            counted = sum(needed.values())
            raise ConfigError(
                f"{path}: {counted} request{'s are' if counted > 1 else ' is'} sealed under the key"
                f" {', '.join(sorted(needed))}, which is not in journal.encryption_key; add it there,"
                " behind the key that is to be used, until they are done"
            )
        connection.executemany(
            "DELETE FROM meta WHERE name = ?", [(f"{_META}{name}",) for name in missing]
        )
    if cipher is not None:
        connection.execute(
            "INSERT OR IGNORE INTO meta (name, value) VALUES (?, 1)",
            (f"{_META}{cipher.ids[0].hex()}",),
        )


def _in_use(connection: sqlite3.Connection, names: set[str]) -> dict[str, int]:
    """Count the bodies sealed under each of these keys; only the first bytes of each are read."""
    found: dict[str, int] = {}
    for (row,) in connection.execute("SELECT id FROM requests").fetchall():
        with connection.blobopen("requests", "body", row, readonly=True) as body:
            name = sealed_with(body.read(HEAD_BYTES)).hex()
        if name in names:
            found[name] = found.get(name, 0) + 1
    return found
