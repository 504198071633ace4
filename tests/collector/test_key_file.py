"""Test where random keys are kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from collector.errors import ConfigError
from collector.key_file import SIZE, key_in


def test_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """A second start finds the key of the first, and nobody else can read it."""
    path = tmp_path / "data" / "some.key"
    made = key_in(path, random_bytes=lambda size: b"k" * size)
    assert made == key_in(path) == path.read_bytes() == b"k" * SIZE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"short", b"x" * (SIZE + 1)])
def test_not_ours(content: bytes, tmp_path: Path) -> None:
    """A file that is cut or holds something else is named, and not used."""
    (tmp_path / "some.key").write_bytes(content)
    with pytest.raises(ConfigError, match=r"some.key: is not a key of 32 bytes"):
        key_in(tmp_path / "some.key")


def test_no_room(tmp_path: Path) -> None:
    """A place that cannot be written is an error that says what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot be used .*; make it readable and writable"):
        key_in(tmp_path / "file" / "some.key")
