"""Write a sampling probability into a W3C ``tracestate`` as OpenTelemetry's ``ot=th`` threshold.

Source: OpenTelemetry "TraceState: Probability Sampling"; precision as in the Collector's
``probabilistic_sampler`` (four digits after the leading ``f``).
"""

from __future__ import annotations

import math

_DIGITS = 14
"""Hex digits of the 56 random bits."""
_SPACE = 1 << (4 * _DIGITS)
_PRECISION = 4


def threshold(probability: float) -> str:
    """Return the rejection threshold of a probability in (0, 1]: 0.1 gives ``e666``."""
    if probability >= 1:
        return "0"
    precision = max(
        _PRECISION + -math.frexp(probability)[1] // 4,
        _PRECISION + -math.frexp(1 - probability)[1] // 4,
    )
    shift = 4 * max(0, _DIGITS - precision)
    scaled = round((1 - probability) * _SPACE)
    rounded = ((scaled + (1 << shift >> 1)) >> shift) << shift
    return f"{min(rounded, _SPACE - 1):014x}".rstrip("0") or "0"


def sampled(trace_state: str, probability: float) -> tuple[str, float]:
    """Fold one more sampling stage into a ``tracestate``.

    Returns:
        The new ``tracestate`` and the probability over all stages: an earlier threshold
        multiplies. Other vendors' entries and other ``ot`` fields are kept; the changed
        entry moves to the front as W3C asks.
    """
    others: list[str] = []
    fields: list[str] = []
    for entry in filter(None, (part.strip() for part in trace_state.split(","))):
        if entry.startswith("ot="):
            fields = entry[3:].split(";")
        else:
            others.append(entry)
    for field in fields:
        if field.startswith("th:"):
            probability *= _probability(field[3:])
    kept = [field for field in fields if field and not field.startswith("th:")]
    entry = "ot=" + ";".join([f"th:{threshold(probability)}", *kept])
    return ",".join([entry, *others]), probability


def _probability(digits: str) -> float:
    """Return the probability of a threshold; a malformed one says nothing and counts as 1."""
    if not 1 <= len(digits) <= _DIGITS:
        return 1.0
    try:
        rejected = int(digits.ljust(_DIGITS, "0"), 16)
    except ValueError:
        return 1.0
    return (_SPACE - rejected) / _SPACE
