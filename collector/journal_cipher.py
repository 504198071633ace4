"""Seal request bodies for the journal with AES-256-GCM, under keys that can be changed.

A sealed body is ``MAGIC``, 8 bytes that name the key, 16 of salt, 8 of a counter, and what
AES-GCM makes of the body (NIST SP 800-38D). Each process draws a salt and derives a key of its
own from it (HKDF, RFC 5869), so that a counter is a safe nonce: none ever comes twice under a key.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from collector.errors import PermanentError

MAGIC = b"\0OTRSEAL1"
"""Neither JSON nor a protobuf message begins with a zero byte, so no plain body looks sealed."""
KEY_BYTES = 32
ID_BYTES = 8
SALT_BYTES = 16
HEAD_BYTES = len(MAGIC) + ID_BYTES
_COUNTER_BYTES = 8
_NONCE_PAD = b"\0\0\0\0"
_INFO = b"outrider journal body"
_SALTS = 64
"""Derived keys that are remembered: one for each run of the process whose bodies are still there."""


def key_id(key: bytes) -> bytes:
    """Name a key by a hash that does not give it away."""
    return hashlib.sha256(_INFO + b" key id" + key).digest()[:ID_BYTES]


def sealed_with(head: bytes) -> bytes:
    """Return the id of the key that sealed a body, by its first ``HEAD_BYTES``; empty if none did."""
    return head[len(MAGIC) : HEAD_BYTES] if head.startswith(MAGIC) else b""


class BodyCipher:
    """Seal bodies under the first key and open those sealed under any; safe to share by threads.

    Args:
        keys: Of 32 bytes each; at least one.
        random_bytes: Draws the salt.
    """

    def __init__(
        self, keys: Sequence[bytes], *, random_bytes: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._keys = {key_id(key): key for key in keys}
        self.ids = tuple(self._keys)
        """Of the keys; the first one seals."""
        self._salt = random_bytes(SALT_BYTES)
        self._sealer = _derived(keys[0], self._salt)
        self._head = MAGIC + self.ids[0] + self._salt
        self._count = itertools.count(1)
        self._opener = lru_cache(maxsize=_SALTS)(_derived)

    def seal(self, body: bytes, about: bytes = b"") -> bytes:
        """Encrypt a body; ``about`` is what must be told again to open it."""
        counter = next(self._count).to_bytes(_COUNTER_BYTES, "big")
        return self._head + counter + self._sealer.encrypt(_NONCE_PAD + counter, body, about)

    def open(self, stored: bytes, about: bytes = b"") -> bytes:
        """Decrypt a body; one that was never sealed is returned as it is.

        Raises:
            PermanentError: It was sealed under a key that is not here, or was tampered with.
        """
        name = sealed_with(stored[:HEAD_BYTES])
        if not name:
            return stored
        key = self._keys.get(name)
        if key is None:
            raise PermanentError(f"a body is sealed under the key {name.hex()}, which is not here")
        salt = stored[HEAD_BYTES : HEAD_BYTES + SALT_BYTES]
        place = HEAD_BYTES + SALT_BYTES
        counter = stored[place : place + _COUNTER_BYTES]
        try:
            return self._opener(key, salt).decrypt(
                _NONCE_PAD + counter, stored[place + _COUNTER_BYTES :], about
            )
        except (InvalidTag, ValueError):
            raise PermanentError("a sealed body was damaged or tampered with") from None


def _derived(key: bytes, salt: bytes) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=_INFO).derive(key))
