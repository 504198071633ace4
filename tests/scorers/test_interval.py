"""Hold the intervals of measured shares."""

from scorers.interval import wilson


def test_the_wilson_interval() -> None:
    """The interval has Wilson's values and stays inside 0 and 1."""
    half = wilson(5, 10)
    assert half is not None
    assert (round(half.low, 4), round(half.high, 4)) == (0.2366, 0.7634)
    none = wilson(0, 10)
    assert none is not None
    assert (none.low, round(none.high, 4)) == (0.0, 0.2775)
    assert wilson(0, 0) is None
