"""Know the tokens that may be shown, and whose they are and what each is good for."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from collector.config import AuthConfig
from collector.errors import ConfigError

Right: TypeAlias = Literal["read", "write"]
"""``write`` sends traffic and what is known of it; ``read`` looks at what came of it."""

ANYBODY = "anybody"
"""Name of whoever calls a port that asks for nothing."""


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """Who a caller is, and what it may do."""

    name: str = ANYBODY
    """Of the token: safe to log and to count, unlike the token."""
    tenant: str = ""
    """The only one that it speaks for and sees; empty for all."""
    rights: tuple[Right, ...] = ("read", "write")


class Tokens:
    """Tell which token was shown; a file that holds some is read again when it changes."""

    def __init__(self, auth: AuthConfig) -> None:
        """Take the tokens and read their files.

        Raises:
            ConfigError: a file cannot be read or holds none; the text names the key.
        """
        self._fixed: list[tuple[bytes, Grant]] = []
        self._files: list[_TokenFile] = []
        if auth.token:
            self._fixed.append((digest_of(auth.token), Grant(name="token")))
        for name, one in auth.tokens.items():
            grant = Grant(name=name, tenant=one.tenant, rights=one.rights)
            if one.file:
                self._files.append(_TokenFile(f"auth.tokens.{name}.file", Path(one.file), grant))
            else:
                self._fixed.append((digest_of(one.token), grant))

    def __bool__(self) -> bool:
        """Say whether a token must be shown at all."""
        return bool(self._fixed or self._files)

    def grant(self, shown: str) -> Grant | None:
        """Return what a token is good for; ``None`` when it is none of ours."""
        return self.grant_of(digest_of(shown))

    def grant_of(self, digest: bytes) -> Grant | None:
        """Return the same of a token's digest.

        It takes the same time whichever token it is, and wherever it differs from one.
        """
        found = None
        for known, grant in self._known():
            if hmac.compare_digest(digest, known):
                found = grant
        return found

    def _known(self) -> Iterator[tuple[bytes, Grant]]:
        yield from self._fixed
        for file in self._files:
            for digest in file.digests():
                yield digest, file.grant


class _TokenFile:
    """The tokens of one file, one a line."""

    def __init__(self, key: str, path: Path, grant: Grant) -> None:
        self.grant = grant
        self._path = path
        self._stamp = _stamp(path)
        try:
            self._digests = [*map(digest_of, _read(path))]
        except OSError as error:
            raise ConfigError(
                f"{key}: cannot read {path} ({error.strerror}); correct the path or its permissions"
            ) from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{key}: {path} is not text") from error
        if not self._digests:
            raise ConfigError(f"{key}: {path} holds no token; write one a line")

    def digests(self) -> list[bytes]:
        """Return the tokens' digests as the file has them now.

        While there is no file that can be read, what it said last holds: senders drop what is
        refused, and most ways to replace a file take it away for a moment. An empty one revokes.
        """
        stamp = _stamp(self._path)
        if stamp is not None and stamp != self._stamp:
            try:
                self._digests = [*map(digest_of, _read(self._path))]
            except (OSError, UnicodeDecodeError):
                return self._digests
            self._stamp = stamp
        return self._digests


def digest_of(token: str) -> bytes:
    """Return what stands for a token in memory and in comparisons, always of one length."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def first_token(path: Path) -> str:
    """Return the first token of a file, for a command of ours that shows it.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return next(_read(path), "")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error


def _read(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return (line.strip() for line in lines if line.strip())


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of each request, and three times as quick
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
