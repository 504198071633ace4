"""Say one thing that was looked at."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["ok", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check came to."""

    check: str
    """What was looked at: ``disk``, ``journal``, ``store``, ..."""
    status: Status
    """``fail``: traffic is or will be lost, refused or not scored; ``warn``: look at it soon."""
    says: str
    """What was found, with its figures."""
    fix: str = ""
    """What to do; empty when nothing is to be done."""


def ok(check: str, says: str) -> Finding:
    """All is well."""
    return Finding(check=check, status="ok", says=says)


def warn(check: str, says: str, fix: str) -> Finding:
    """Something should be looked at."""
    return Finding(check=check, status="warn", says=says, fix=fix)


def fail(check: str, says: str, fix: str) -> Finding:
    """Something is broken."""
    return Finding(check=check, status="fail", says=says, fix=fix)
