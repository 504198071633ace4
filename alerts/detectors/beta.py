"""Bound a rate from above: the quantile of the Beta distribution."""

from __future__ import annotations

import math

_STEPS = 60
"""Halvings of [0, 1]: more than a double's 53 bits."""
_TERMS = 300
_SMALL = 1e-300


def quantile(probability: float, a: float, b: float) -> float:
    """Return the x at which a Beta(a, b) variable is below x with this probability.

    By bisection on the regularised incomplete beta function; exact to about 1e-12.
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if incomplete(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def incomplete(x: float, a: float, b: float) -> float:
    """Return I_x(a, b), the regularised incomplete beta function (DLMF 8.17)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    # The continued fraction converges fast on the near side of the mean.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete(1.0 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of DLMF 8.17.22 by Lentz's method."""
    c = 1.0
    d = 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away(1.0 + term * d)
            c = _away(1.0 + term / c)
            result *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return result


def _away(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL
