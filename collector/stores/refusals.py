"""Tell ClickHouse's refusals apart: wait, give the row up, or give the query up."""

from __future__ import annotations

import re
from typing import cast

from clickhouse_connect.driver.exceptions import Error

from collector.errors import (
    InsertRefusedError,
    OutriderError,
    PermanentError,
    PoisonRowError,
    StoreUnavailableError,
)

_ERROR_LENGTH = 300
"""ClickHouse echoes the input and the URL; the beginning says what went wrong."""

_PREFIX = re.compile(r"^.*?(?:Code: \d+\. DB::Exception: )+")

_TRANSPORT = re.compile(r""".*\(Caused by \w+\(["']?(?:\w+\([^()]*\): )?(.*?)["']?\)\)$""")
"""What the HTTP library tells around the reason why nobody could be reached."""

_UNAVAILABLE = frozenset(
    {
        *(159, 160, 201, 202, 203, 209, 210),  # timeouts, quotas, too many queries, network
        *(164, 242, 243, 252, 319),  # read-only, disk full, too many parts, unknown insert status
        *(74, 75, 76, 77, 88, 95, 96, 198),  # files and sockets that cannot be used, DNS
        *(225, 236, 241, 285, 394, 425, 439),  # Keeper, aborted, memory, replicas, system
        *(497, 516, 999),  # access, authentication, Keeper
    }
)
"""Server error codes that pass, or that an operator can end without touching our data."""

_POISON = frozenset(
    {
        *(6, 25, 26, 27, 33, 38, 41, 53, 69, 70, 72),  # cannot parse, type mismatch, range
        *(117, 128, 130, 131, 190, 321, 349, 407, 467, 469),  # incorrect data, sizes, constraint
    }
)
"""Server error codes that a row's own bytes cause."""


def insert_error(error: Exception) -> OutriderError:
    """Name an insert's error; without a server's code it is the way to the server that failed."""
    code = error.code if isinstance(error, Error) else None
    if code is None or code in _UNAVAILABLE:
        return StoreUnavailableError(line(error))
    if code in _POISON:
        return PoisonRowError(line(error))
    return InsertRefusedError(line(error))


def query_error(error: Exception) -> OutriderError:
    """Name a query's error; without a server's code it is the way to the server that failed."""
    code = error.code if isinstance(error, Error) else None
    if code is None or code in _UNAVAILABLE:
        return StoreUnavailableError(line(error))
    return PermanentError(line(error))


def line(error: Exception) -> str:
    """Return what went wrong in one line, without the engine's noise around it."""
    if isinstance(error, Error) and error.code is None and error.__cause__ is not None:
        error = cast("Exception", error.__cause__)
    text = _TRANSPORT.sub(r"\1", _PREFIX.sub("", " ".join(str(error).split())))
    # What follows is the row itself, or the file by which the engine was given it.
    text = text.partition(": (at row")[0].partition(": (in file/uri")[0][:_ERROR_LENGTH]
    name = error.name if isinstance(error, Error) else None
    return f"{name}: {text}" if name else text or type(error).__name__
