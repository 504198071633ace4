"""Test how request bodies are sealed, and under which keys they open again."""

from __future__ import annotations

import base64
import sqlite3
from pathlib import Path

import pytest

from collector.config_file import load
from collector.errors import ConfigError, PermanentError
from collector.journal import Transaction
from collector.journal_cipher import MAGIC, BodyCipher
from collector.journal_keys import cipher_of
from tests.collector.journals import done, entry, open_journal

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
SECRET = b"the customer is Mia Planted"


def raw(directory: Path) -> bytes:
    """Return every byte of the journal's files."""
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()))


def bodies(directory: Path) -> list[bytes]:
    """Read the column of the bodies as it is stored."""
    connection = sqlite3.connect(directory / "journal.sqlite")
    try:
        return [row[0] for row in connection.execute("SELECT body FROM requests ORDER BY id")]
    finally:
        connection.close()


def test_a_sealed_body_is_nowhere_on_disk(tmp_path: Path) -> None:
    """Neither the file nor its write-ahead log holds the text, and it is read back as it was."""
    journal = open_journal(tmp_path, cipher=BodyCipher([OLD]))
    row = done(journal.append(entry(SECRET * 500)))
    done(journal.append(entry(SECRET)))
    assert b"Planted" not in raw(tmp_path)
    assert journal.read([row])[0].body == SECRET * 500
    assert [item.body for item in journal.after(row, 5)] == [SECRET]
    assert journal.bytes_used == len(SECRET) * 501
    journal.close()
    assert b"Planted" not in raw(tmp_path)
    plain = open_journal(tmp_path / "plain")
    done(plain.append(entry(SECRET)))
    plain.close()
    assert b"Planted" in raw(tmp_path / "plain")


def test_a_key_is_changed_without_losing_anything(tmp_path: Path) -> None:
    """The first key seals, the others open, and one that sealed nothing any more may go."""
    journal = open_journal(tmp_path)
    done(journal.append(entry(b"plain")))
    journal.close()
    journal = open_journal(tmp_path, cipher=BodyCipher([OLD]))
    done(journal.append(entry(b"old")))
    journal.close()
    journal = open_journal(tmp_path, cipher=BodyCipher([NEW, OLD]))
    done(journal.append(entry(b"new")))
    assert [item.body for item in journal.after(0, 9)] == [b"plain", b"old", b"new"]
    done(journal.commit(Transaction(free=[2])))
    journal.close()
    journal = open_journal(tmp_path, cipher=BodyCipher([NEW]))
    assert [item.body for item in journal.after(0, 9)] == [b"plain", b"new"]
    journal.close()


@pytest.mark.parametrize("cipher", [None, BodyCipher([NEW])], ids=["none", "another"])
def test_a_missing_key_is_said_at_the_start_and_loses_nothing(
    tmp_path: Path, cipher: BodyCipher | None
) -> None:
    """The error names the key by its id; with the right key everything is there again."""
    journal = open_journal(tmp_path, cipher=BodyCipher([OLD]))
    done(journal.append(entry(SECRET)))
    journal.close()
    before = bodies(tmp_path)
    with pytest.raises(ConfigError, match=r"1 request is sealed under the key [0-9a-f]{16}, which"):
        open_journal(tmp_path, cipher=cipher)
    assert bodies(tmp_path) == before
    journal = open_journal(tmp_path, cipher=BodyCipher([NEW, OLD]))
    assert [item.body for item in journal.after(0, 9)] == [SECRET]
    journal.close()


def test_a_body_cannot_be_passed_off_as_another_sender_s(tmp_path: Path) -> None:
    """What the row says of its sender is sealed with it; whatever is altered is not opened."""
    journal = open_journal(tmp_path, cipher=BodyCipher([OLD]))
    row = done(journal.append(entry(SECRET, tenant="acme")))
    with sqlite3.connect(tmp_path / "journal.sqlite") as other:
        other.execute("UPDATE requests SET tenant = 'globex'")
    other.close()
    with pytest.raises(PermanentError, match="tampered"):
        journal.read([row])
    journal.close()


def test_no_two_bodies_are_sealed_alike() -> None:
    """A body that comes twice is sealed differently, by one process and by two."""
    first, second = BodyCipher([OLD]), BodyCipher([OLD])
    sealed = [first.seal(SECRET), first.seal(SECRET), second.seal(SECRET)]
    assert len({body[-16:] for body in sealed}) == len({body[:-16] for body in sealed}) == 3
    assert [second.open(body) for body in sealed] == [SECRET] * 3
    assert all(body.startswith(MAGIC) for body in sealed)


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b[:20], lambda b: b + b"\0"])
def test_a_damaged_body_is_not_opened(change: object) -> None:
    """Cut, shortened or lengthened: an error and never other text."""
    assert callable(change)
    with pytest.raises(PermanentError):
        BodyCipher([OLD]).open(change(BodyCipher([OLD]).seal(SECRET)))


def test_only_what_it_sealed_is_opened() -> None:
    """A plain body, however long, comes back as it is; one under a key that is not here is an error."""
    cipher = BodyCipher([NEW])
    assert cipher.open(SECRET * 9) == SECRET * 9
    with pytest.raises(PermanentError, match=r"key [0-9a-f]{16}, which is not here"):
        cipher.open(BodyCipher([OLD]).seal(SECRET))


def test_keys_are_read_from_base64_and_hex() -> None:
    """Several keys stand behind each other; the first one seals."""
    cipher = cipher_of(f"{base64.b64encode(NEW).decode()}, {OLD.hex()}")
    assert cipher is not None
    assert cipher.ids == BodyCipher([NEW, OLD]).ids
    assert cipher_of("") is None


@pytest.mark.parametrize(
    "keys",
    [
        "hunter2",
        f"{OLD.hex()},",
        f"{OLD.hex()},{'zz' * 32}",
        "AAAA",
        f"!{base64.b64encode(OLD).decode()}",
    ],
)
def test_a_key_that_is_none_is_an_error_that_does_not_repeat_it(keys: str) -> None:
    """The configuration says which key is wrong, and how to make a right one."""
    with pytest.raises(
        ConfigError, match=r"journal\.encryption_key: key [12] is not 32 bytes"
    ) as said:
        load(None, {"OUTRIDER__JOURNAL__ENCRYPTION_KEY": keys})
    assert "hunter2" not in str(said.value)
    assert "zz" not in str(said.value)
