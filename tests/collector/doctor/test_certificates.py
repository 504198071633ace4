"""Test what is said of the certificates that our ports show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from collector.doctor.certificates import certificates

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "status", "says"),
    [
        (60, "ok", "is good until 2026-04-30"),
        (13, "warn", "is good until 2026-03-14"),
        (-1, "fail", "ended on 2026-02-28"),
    ],
)
def test_how_long_it_is_good(tmp_path: Path, days: int, status: str, says: str) -> None:
    """A certificate that ends soon is told before senders are turned away, and one that ended is a failure."""
    file = tmp_path / "chain.pem"
    made = trustme.CA().issue_cert("localhost", not_after=NOW + timedelta(days=days))
    file.write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
    (found,) = certificates([("receive.tls.cert_file", str(file))], now=NOW)
    assert (found.check, found.status) == ("receive.tls.cert_file", status)
    assert found.says == f"{file} {says}"


def test_what_is_none(tmp_path: Path) -> None:
    """A missing file and one without a certificate are named by their keys."""
    text = tmp_path / "text.pem"
    text.write_text("nothing of the kind")
    files = [("proxy.tls.cert_file", str(tmp_path / "none")), ("console.tls.cert_file", str(text))]
    found = list(certificates(files, now=NOW))
    assert [one.status for one in found] == ["fail", "fail"]
    assert "No such file" in found[0].says
    assert "no certificate" in found[1].says
