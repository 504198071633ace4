"""Bound a share that was counted on few cases."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


def wilson(hits: int, total: int, *, z: float = Z_95) -> tuple[float, float]:
    """Return the score interval of a proportion.

    Wilson (1927), Probable inference, the law of succession, and statistical inference,
    JASA 22:209-212. Unlike the normal interval it stays within 0..1 and is right for
    few cases and for shares near the ends.

    Raises:
        ValueError: not 0 <= hits <= total, or nothing was counted.
    """
    if not 0 <= hits <= total or total == 0:
        msg = f"{hits} of {total} is not a share"
        raise ValueError(msg)
    share = hits / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    # At the ends the interval touches 0 or 1 exactly; rounding must not step over it.
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == total else min(1.0, centre + half)
    return low, high
