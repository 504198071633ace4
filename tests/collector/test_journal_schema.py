"""Test what happens when the journal's file is not what it should be."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from collector.errors import ConfigError
from tests.collector.journals import done, entry, open_journal


def test_a_directory_belongs_to_one_process(tmp_path: Path) -> None:
    """A second journal on the directory is refused with the holder's process id, until the first closes."""
    first = open_journal(tmp_path)
    with pytest.raises(ConfigError, match=rf"in use by process {os.getpid()}.*--data-dir"):
        open_journal(tmp_path)
    first.close()

    open_journal(tmp_path).close()


def test_the_directory_is_made(tmp_path: Path) -> None:
    """A missing data directory is made, with its parents."""
    journal = open_journal(tmp_path / "a" / "b")
    journal.close()

    assert (tmp_path / "a" / "b" / "journal.sqlite").exists()


def test_what_is_made_belongs_to_this_user_alone(tmp_path: Path) -> None:
    """The data directory and the journal's files hold raw traffic: nobody else may read them."""
    before = os.umask(0o022)
    try:
        journal = open_journal(tmp_path / "data")
        journal.append(entry()).result()
        files = list((tmp_path / "data").iterdir())
        modes = {path.name: path.stat().st_mode & 0o777 for path in files}
        journal.close()
    finally:
        os.umask(before)

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert {"journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_unusable_directory(tmp_path: Path) -> None:
    """A data directory that cannot be made is named, with the fix."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"file: is not writable .*--data-dir"):
        open_journal(tmp_path / "file")


def test_not_a_database(tmp_path: Path) -> None:
    """A file that is no database is named and left as it was."""
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"Dear diary, " * 1_000)
    with pytest.raises(ConfigError, match=r"journal\.sqlite: is damaged or not a journal"):
        open_journal(tmp_path)

    assert path.read_bytes().startswith(b"Dear diary")


def test_another_programs_database(tmp_path: Path) -> None:
    """A database of another program is refused before anything in it is changed."""
    path = tmp_path / "journal.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE recipes (name TEXT)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="another program's database"):
        open_journal(tmp_path)

    assert path.read_bytes() == before


def test_a_newer_journal(tmp_path: Path) -> None:
    """A journal of a later version is refused with the advice to upgrade."""
    open_journal(tmp_path).close()
    file = sqlite3.connect(tmp_path / "journal.sqlite")
    file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(ConfigError, match=r"newer version \(format 99.*upgrade"):
        open_journal(tmp_path)


def test_a_damaged_journal(tmp_path: Path) -> None:
    """Overwritten pages are found when the journal is opened, and the directory is free again."""
    journal = open_journal(tmp_path)
    for _ in range(50):
        done(journal.append(entry(bytes(5_000))))
    journal.close()
    path = tmp_path / "journal.sqlite"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(bytes(content))
    for _ in range(2):
        with pytest.raises(ConfigError, match="damaged"):
            open_journal(tmp_path)


def test_a_file_locked_by_something_else(tmp_path: Path) -> None:
    """A file that another program has locked is refused, with what to do."""
    open_journal(tmp_path).close()
    other = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ConfigError, match=r"cannot be used \(.*lock.*\); .*stop whatever"):
        open_journal(tmp_path, lock_wait_s=0.05)
    other.close()
