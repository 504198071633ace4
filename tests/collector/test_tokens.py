"""Test what is known of tokens."""

from __future__ import annotations

import hmac
from pathlib import Path

import pytest

from collector.config import AuthConfig, TokenConfig
from collector.errors import ConfigError
from collector.tokens import Tokens, first_token
from tests.collector.access import tokens


def name_of(known: Tokens, shown: str) -> str:
    """Return whose token it is; empty for nobody's."""
    grant = known.grant(shown)
    return "" if grant is None else grant.name


def test_without_tokens() -> None:
    """Where there are none, none is ours."""
    assert not tokens()
    assert tokens().grant("") is None
    assert tokens("x")
    assert tokens("x").grant("") is None


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    """While a token is changed, old and new are good at once; what is taken out is not."""
    file = tmp_path / "tokens"
    file.write_text("  old  \n\n")
    known = tokens(anna=TokenConfig(file=str(file)))
    assert known
    assert (name_of(known, "old"), name_of(known, "new")) == ("anna", "")
    file.write_text("old\nnew\n")
    assert (name_of(known, "old"), name_of(known, "new")) == ("anna", "anna")
    file.write_text("new\n")
    assert (name_of(known, "old"), name_of(known, "new")) == ("", "anna")
    file.write_text("\n")
    assert name_of(known, "new") == name_of(known, "") == ""
    assert known, "a token must still be shown"


def test_a_file_that_is_gone_for_a_moment(tmp_path: Path) -> None:
    """While a file is replaced, what it said before holds: senders would drop what is refused."""
    file = tmp_path / "tokens"
    file.write_text("old")
    known = tokens(anna=TokenConfig(file=str(file)))
    file.unlink()
    assert name_of(known, "old") == "anna"
    file.write_bytes(b"\xff\xfe")
    assert name_of(known, "old") == "anna"
    file.write_text("new")
    assert (name_of(known, "old"), name_of(known, "new")) == ("", "anna")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"auth\.tokens\.anna\.file: cannot read .*No such file"),
        (b"\n \n", r"auth\.tokens\.anna\.file: .* holds no token"),
        (b"\xff", r"auth\.tokens\.anna\.file: .* is not text"),
    ],
)
def test_a_file_that_says_nothing_at_start(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    """At start a file that is missing, empty or no text is an error that names its key."""
    file = tmp_path / "tokens"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        Tokens(AuthConfig(tokens={"anna": TokenConfig(file=str(file))}))


def test_every_comparison_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token is compared with each, in constant time, whichever it is and even after it was found."""
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def counting(shown: bytes, known: bytes) -> bool:
        compared.append((shown, known))
        return real(shown, known)

    known = tokens("a", b=TokenConfig(token="b"), c=TokenConfig(token="c"))  # noqa: S106
    monkeypatch.setattr(hmac, "compare_digest", counting)
    for shown in ("a", "c", "x", "a much longer one"):
        known.grant(shown)
    assert len(compared) == 12
    assert {len(part) for pair in compared for part in pair} == {32}


def test_the_first_token_of_a_file(tmp_path: Path) -> None:
    """A command shows the first token of a file, and says when it cannot read it."""
    file = tmp_path / "tokens"
    file.write_text("\n one \ntwo\n")
    assert first_token(file) == "one"
    with pytest.raises(ConfigError, match="cannot be read"):
        first_token(tmp_path / "absent")
