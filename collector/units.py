"""Read and write durations and sizes with their units."""

from __future__ import annotations

import re
from collections.abc import Mapping

DURATION_UNITS: Mapping[str, float] = {
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
SIZE_UNITS: Mapping[str, int] = {
    "": 1,
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)[ ]?([A-Za-z]*)", re.ASCII)


def parse_duration(text: str) -> float:
    """Read ``250ms``, ``3s``, ``15m``, ``24h``, ``30d`` or bare seconds; return seconds.

    Raises:
        ValueError: no such quantity or unit.
    """
    match = _QUANTITY.fullmatch(text.strip())
    unit = (match[2].lower() or "s") if match else ""
    if match is None or unit not in DURATION_UNITS:
        raise ValueError("expected a duration such as 250ms, 3s, 15m, 24h or 30d")
    return float(match[1]) * DURATION_UNITS[unit]


def parse_size(text: str) -> int:
    """Read ``512KiB``, ``64MiB``, ``10MB`` or bare bytes; return bytes.

    Raises:
        ValueError: no such quantity or unit, or a fraction of a byte.
    """
    match = _QUANTITY.fullmatch(text.strip())
    units = {name.lower(): factor for name, factor in SIZE_UNITS.items()}
    unit = match[2].lower() if match else "?"
    if match is None or unit not in units:
        raise ValueError("expected a size such as 512KiB, 64MiB, 4GiB or 10MB")
    return round(float(match[1]) * units[unit])


def format_duration(seconds: float) -> str:
    """Write seconds in the largest unit that keeps the number whole."""
    milliseconds = round(seconds * 1000)
    if milliseconds == 0:
        return "0s"
    for unit in ("d", "h", "m", "s"):
        step = round(DURATION_UNITS[unit] * 1000)
        if milliseconds % step == 0:
            return f"{milliseconds // step}{unit}"
    return f"{milliseconds}ms"


def format_size(size: int) -> str:
    """Write bytes in the largest binary unit that keeps the number whole."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size and size % SIZE_UNITS[unit] == 0:
            return f"{size // SIZE_UNITS[unit]}{unit}"
    return f"{size}B"


def about_size(size: int) -> str:
    """Write bytes for a reader: ``1.4 GiB``, ``38 MiB``, ``512 B``."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        amount = size / SIZE_UNITS[unit]
        if amount >= 1:
            return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"
    return f"{size} B"


def about_duration(seconds: float) -> str:
    """Write seconds for a reader: ``3.2 d``, ``45 min``, ``0.3 s``."""
    for unit, name in (("d", "d"), ("h", "h"), ("m", "min"), ("s", "s")):
        amount = seconds / DURATION_UNITS[unit]
        if amount >= 1 or unit == "s":
            return f"{amount:.1f} {name}" if amount < 10 else f"{amount:.0f} {name}"
    raise AssertionError
