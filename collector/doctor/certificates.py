"""Check the certificates that our ports show: whether they can be read, and how long they are good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509

from collector.doctor.finding import Finding, fail, ok, warn

SOON = timedelta(days=14)
"""Time in which a new one should be had."""


def certificates(files: Iterable[tuple[str, str]], *, now: datetime) -> Iterator[Finding]:
    """Read each file; of a chain the first to end counts.

    Args:
        files: Configuration keys, and the PEM files that they name.
        now: The time, with its zone.
    """
    for key, path in files:
        try:
            chain = x509.load_pem_x509_certificates(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else "it holds no certificate"
            yield fail(key, f"{path} cannot be read: {said}", f"correct {key}")
            continue
        ends = min(certificate.not_valid_after_utc for certificate in chain)
        said = f"{path} is good until {ends:%Y-%m-%d}"
        if ends <= now:
            yield fail(key, f"{path} ended on {ends:%Y-%m-%d}", "put a new one there and restart")
        elif ends - now < SOON:
            yield warn(key, said, "put a new one there and restart in time")
        else:
            yield ok(key, said)
