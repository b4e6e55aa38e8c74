"""Output warps: order kept, better half kept, defined for awkward values."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from boring.warping import (
    _ranks_from_best,
    half_rank_warp,
    log_warp,
    moderate,
    restore,
    standardize,
    stretched,
)

values = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 3)), min_size=2, max_size=40
)


@pytest.mark.parametrize("warp", [standardize, half_rank_warp, log_warp])
@settings(max_examples=60, deadline=None)
@given(y=values)
def test_warps_keep_the_order_and_standardise(warp, y: list[float]) -> None:
    given_values = np.array(y)
    warped = warp(given_values)
    assert np.all(np.isfinite(warped))
    order = np.argsort(given_values, kind="stable")
    assert np.all(np.diff(warped[order]) >= -1e-9)
    if np.ptp(given_values) > 0:
        assert warped.mean() == pytest.approx(0, abs=1e-7)
        assert warped.std() == pytest.approx(1, abs=1e-7)
    else:
        np.testing.assert_array_equal(warped, 0)


def test_half_rank_keeps_the_better_half_and_tames_the_worse() -> None:
    y = np.concatenate([np.linspace(0, 1, 11), [-1e9, -5.0, -1e3, -2.0]])
    warped = half_rank_warp(y)
    better = y >= np.median(y)
    slope = np.diff(warped[better]) / np.diff(y[better])
    np.testing.assert_allclose(slope, slope[0], rtol=1e-9)
    assert warped.min() > -4, "an outlier of -1e9 counts as the worst of 15, no more"


@pytest.mark.parametrize("warp", [standardize, half_rank_warp, log_warp])
@pytest.mark.parametrize("exponent", [-1040, -1000, -500, 500, 1000, 1022])
def test_values_of_any_size_are_warped_alike(warp, exponent: int) -> None:
    y = np.random.default_rng(0).integers(-(2**30), 2**30, 21) / 2**30
    np.testing.assert_array_equal(warp(np.ldexp(y, exponent)), warp(y))


@pytest.mark.parametrize("warp", [standardize, half_rank_warp, log_warp])
def test_extremes_within_one_set_of_values(warp) -> None:
    largest = np.finfo(float).max
    for y in (
        [largest, -largest, 0.0],
        [largest, 1.0, 2.0, 3.0],
        [-largest, 1e-300, 2e-300, 3e-300],
        [0.0, -5e-324, -1e-310, -1.0, -2.0],
    ):
        warped = warp(np.array(y))
        assert np.all(np.isfinite(warped))
        assert np.all(np.diff(warped[np.argsort(y)]) >= 0)
        assert warped.std() == pytest.approx(1)


def test_ordinary_values_are_left_as_they_are_and_a_penalty_does_not_crush_them() -> None:
    y = np.array([1e100, -1e-100, 0.0])
    assert moderate(y) == (pytest.approx(y, rel=0, abs=0), 0)
    values, exponent = moderate(np.array([1.0, 2.0, 3.0, 1e300]))
    np.testing.assert_array_equal(restore(values, exponent)[:3], [1.0, 2.0, 3.0])
    assert values.argmax() == 3


def test_half_rank_by_hand() -> None:
    # Larger is better; median 2, rms of {0, 1} above it is sqrt(.5).
    from scipy.stats import norm

    y = np.array([3.0, 2.0, 1.0])
    raw = np.array([3.0, 2.0, 2.0 - np.sqrt(0.5) * norm.ppf((2 + 0.5) / 3)])
    np.testing.assert_allclose(half_rank_warp(y), (raw - raw.mean()) / raw.std())


def test_log_warp_by_hand() -> None:
    y = np.array([0.0, -1.0, -3.0])
    raw = -np.log1p(np.array([0.0, 1.0, 3.0]) / 1.0)
    np.testing.assert_allclose(log_warp(y), (raw - raw.mean()) / raw.std())


def test_half_the_values_equal() -> None:
    y = np.array([1.0, 1.0, 1.0, 0.0, -4.0])
    assert half_rank_warp(y)[0] > half_rank_warp(y)[3] > half_rank_warp(y)[4]
    assert log_warp(y)[0] > log_warp(y)[3] > log_warp(y)[4]


@pytest.mark.parametrize("n_levels", [1, 3, 1000])
def test_ranks_are_those_of_scipy(n_levels):
    y = np.random.default_rng(n_levels).integers(0, n_levels, 80) / 7.0
    np.testing.assert_array_equal(_ranks_from_best(y), scipy.stats.rankdata(-y) - 1.0)


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_the_log_slopes_of_a_stretch_are_those_of_its_values(share):
    # The median of the gaps and their maximum do not move with a value between them.
    y = -np.array([0.0, 0.1, 0.3, 0.35, 0.5, 0.8, 1.7, 3.0, 40.0])
    gap = -y
    scale = np.quantile(gap, share)
    values, log_slopes = stretched(y, share)
    spread = np.log1p(gap / scale).std()
    step = 1e-6
    slopes = (np.log1p((gap + step) / scale) - np.log1p((gap - step) / scale)) / (2 * step * spread)
    assert log_slopes == pytest.approx(np.log(slopes).sum(), abs=1e-6)
    np.testing.assert_allclose(
        values, -(np.log1p(gap / scale) - np.log1p(gap / scale).mean()) / spread
    )


def test_a_stretch_of_one_half_is_the_log_warp_and_a_constant_has_none():
    y = np.random.default_rng(0).standard_normal(30)
    np.testing.assert_array_equal(stretched(y)[0], log_warp(y))
    values, log_slopes = stretched(np.full(5, 3.0), 0.8)
    assert not values.any()
    assert log_slopes == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_comparisons_of_stretches_do_not_depend_on_units(scale):
    y = np.random.default_rng(1).standard_normal(40)
    gains = [stretched(scale * y, share)[1] - stretched(scale * y, 0.5)[1] for share in (0.8, 1.0)]
    plain = [stretched(y, share)[1] - stretched(y, 0.5)[1] for share in (0.8, 1.0)]
    np.testing.assert_allclose(gains, plain, rtol=1e-9)
