"""Test the e-detector's recursion."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.detectors.evidence import BETS, CAP, ODDS, Bets, slope, weighed

RATES = st.floats(0.001, 0.95)
SHORTFALLS = st.floats(0.0, 1.0)


@given(RATES)
def test_a_factor_is_the_likelihood_ratio(null: float) -> None:
    """For failures and passes each bet's factor is that of the two Bernoulli rates."""
    failed, passed = (Bets(null, 1.0).factors(x)[0] for x in (1.0, 0.0))
    for k, ratio in enumerate(ODDS):
        odds = ratio * null / (1 - null)
        alternative = odds / (1 + odds)
        assert failed[k] == pytest.approx(alternative / null)
        assert passed[k] == pytest.approx((1 - alternative) / (1 - null))


@pytest.mark.parametrize("null", [1.0, math.nextafter(1.0, 0.0), 1.0 - 1e-15, 1.0 - 1e-9])
def test_near_certainty_nothing_is_bet(null: float) -> None:
    """Where all may fail there is no evidence, however near to 1 a floor puts the null."""
    bets = Bets(null, 1.0)
    assert [bets.factors(x)[0] for x in (0.0, 1.0)] == [(0.0,) * BETS] * 2


@given(RATES, SHORTFALLS, st.floats(1.0, 20.0))
def test_a_factor_expects_nothing_under_the_null(null: float, x: float, phi: float) -> None:
    """Any two-point distribution with the null's mean has factors of mean at most 1."""
    low, high = min(x, null), max(x, null)
    if low == high:
        return
    share = (null - low) / (high - low)
    bets = Bets(null, phi)
    for up, down in zip(bets.factors(high)[0], bets.factors(low)[0], strict=True):
        assert share * up + (1 - share) * down <= 1 + 1e-9


@given(
    st.floats(0.01, 0.9),
    st.floats(0.05, 0.95),
    st.floats(0.02, 1.0),
    st.floats(0.0, 1.0),
    st.floats(1.0, 5.0),
)
def test_a_weighted_factor_expects_nothing_under_the_null(
    null: float, part: float, chance: float, other: float, phi: float
) -> None:
    """Where the part that is seldom scored fails otherwise, the mean factor of what is scored is at most 1."""
    # The part's rate follows, so that all of the traffic fails at the null.
    rate = (null - (1 - part) * other) / part
    if not 0.0 <= rate <= 1.0:
        return
    bets = Bets(null, phi)
    scored = part * chance + (1 - part)
    for k in range(BETS):
        mean = 0.0
        for size, fails, share in ((part * chance, rate, 1.0), (1 - part, other, chance)):
            failed, passed = (bets.factors(x, share)[0][k] for x in (1.0, 0.0))
            mean += size / scored * (fails * failed + (1 - fails) * passed)
        assert mean <= 1 + 1e-9


@given(st.integers(1, 12), RATES)
def test_the_discount_makes_copies_count_once(copies: int, null: float) -> None:
    """So many copies of a failure under as large an overdispersion are one failure."""
    (once, _), (each, _) = (Bets(null, phi).factors(1.0) for phi in (1.0, float(copies)))
    for one, part in zip(once, each, strict=True):
        assert part**copies == pytest.approx(one)


@given(st.lists(SHORTFALLS, min_size=1, max_size=60), st.data())
def test_a_failure_never_lowers_the_evidence(shortfalls: list[float], data: st.DataObject) -> None:
    """Replacing any shortfall by a full failure leaves every mass as high or higher."""
    place = data.draw(st.integers(0, len(shortfalls) - 1))
    worse = [*shortfalls[:place], 1.0, *shortfalls[place + 1 :]]
    bets = Bets(0.1, 1.0)
    before, after = [0.0] * BETS, [0.0] * BETS
    for a, b in zip(shortfalls, worse, strict=True):
        weighed(before, bets.factors(a)[0], threshold=1e6)
        weighed(after, bets.factors(b)[0], threshold=1e6)
    assert all(x <= y * (1 + 1e-12) for x, y in zip(before, after, strict=True))


def test_the_evidence_is_capped() -> None:
    """A long outage gathers no more evidence than ten thresholds."""
    bets, masses = Bets(0.1, 1.0), [0.0] * BETS
    most = max(weighed(masses, bets.factors(1.0)[0], threshold=500.0) for _ in range(5_000))
    assert most == CAP * 500.0


@pytest.mark.parametrize("shortfall", [-0.001, 1.001, math.nan, math.inf])
def test_what_is_no_shortfall_is_refused(shortfall: float) -> None:
    """A value outside 0..1 is an error, not evidence."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        Bets(0.1, 1.0).factors(shortfall)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.001, math.nan])
def test_what_is_no_share_is_refused(share: float) -> None:
    """Nothing stands for less than nothing, or for more than the heaviest."""
    with pytest.raises(ValueError, match="up to 1"):
        Bets(0.1, 1.0).factors(0.5, share)


def test_the_mean_time_to_a_false_crossing_is_the_threshold() -> None:
    """For one bet the mass at the first crossing is as large as the time it took (martingale)."""
    rng = random.Random(5)  # noqa: S311 - repeatable, not secret
    lam = slope(0.1, 2.5)
    factors = {x: 1 + lam * (x - 0.1) for x in (0.0, 1.0)}
    times = masses = 0.0
    for _ in range(1_500):
        mass, count = 0.0, 0
        while mass < 200.0:
            mass = factors[float(rng.random() < 0.1)] * (mass + 1)
            count += 1
        times += count
        masses += mass
    assert masses / times == pytest.approx(1.0, abs=0.08)
    assert times / 1_500 >= 200.0
