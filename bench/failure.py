"""Name what ends a measurement.

BenchError
    UnavailableError    a system cannot be installed or started; the others go on
"""

from __future__ import annotations


class BenchError(Exception):
    """A measurement cannot be finished."""


class UnavailableError(BenchError):
    """A system cannot be installed or started."""
