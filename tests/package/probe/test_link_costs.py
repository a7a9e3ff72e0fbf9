# SPDX-License-Identifier: BSD-3-Clause
"""The costs of links are inferred from different routes and sizes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from topoloom.model.fit import Fit
from topoloom.model.model_toml import NetworkModel
from topoloom.probe.inference.link_costs import RouteTimes, fit_link_costs
from topoloom.probe.inference.message_costs import TimeCurve

SIZES = np.array([float(2**power) for power in range(23)])
ENDS = [512, 16384, None]
REGIME = np.searchsorted([512, 16384], SIZES)
Values = NDArray[np.float64]


def make_curve(seconds: Values) -> TimeCurve:
    """Create a curve from times."""
    return TimeCurve(Fit(NetworkModel.regimes([(0, 0, None)]), SIZES, seconds), [])


@given(
    overhead=st.floats(2e-7, 6e-7),
    latencies=st.lists(st.floats(1e-6, 3e-6), min_size=2, max_size=3, unique=True),
    longer=st.tuples(st.floats(1.3, 2.5), st.floats(2.6, 6)),
    slower=st.tuples(*[st.floats(0.8, 2)] * 2),
)
def test_planted_overheads_latencies_and_factors_are_found(
    overhead: float,
    latencies: list[float],
    longer: tuple[float, float],
    slower: tuple[float, float],
) -> None:
    latencies = sorted(latencies)
    if any(b < 1.3 * a for a, b in pairwise(latencies)):
        return  # identical routes give no information
    f, g = np.array([1.0, *longer]), np.array([*slower, 1.0])
    wide = g[REGIME] * SIZES / 10e9
    alone = [overhead + f[REGIME] * latency + wide for latency in latencies]
    burst = make_curve(np.maximum(4e-7, wide))
    routes = [RouteTimes(make_curve(seconds), burst, 10e9) for seconds in alone]
    found = fit_link_costs(routes, ENDS, overhead)
    assert found.latencies == pytest.approx(latencies, rel=0.02)
    for n, seconds in enumerate(alone):
        factor, width, _ = np.array(found.factors, float).T
        again = overhead + factor[REGIME] * found.latencies[n]
        again = again + SIZES / (width[REGIME] * 10e9)
        assert again == pytest.approx(seconds, rel=0.03)
    assert found.latency_factor(1) == 1
    assert [most for *_, most in found.factors] == ENDS


def test_one_route_is_sufficient_for_a_fit() -> None:
    alone = 5e-7 + np.array([1.0, 2.0, 4.0])[REGIME] * 2e-6 + SIZES / 10e9
    found = fit_link_costs([RouteTimes(make_curve(alone), None, 10e9)], ENDS, 5e-7)
    assert found.latencies == pytest.approx([2e-6], rel=0.01)
    assert [factor for factor, *_ in found.factors] == pytest.approx(
        [1, 2, 4], rel=0.02
    )


def test_no_message_occupies_a_link_longer_than_in_a_burst() -> None:
    """A jump in latency between two sizes must not look like a narrow link."""
    sizes = np.where(REGIME == 1, np.where(SIZES > 4096, 3.0, 1.0), 1.0 + REGIME)
    alone = 3e-7 + sizes * 2e-6 + SIZES / 10e9
    burst = make_curve(np.maximum(4e-7, SIZES / 10e9))
    routes = [RouteTimes(make_curve(alone), burst, 10e9)]
    found = fit_link_costs(routes, ENDS, 3e-7)
    assert all(width >= 0.99 for _, width, _ in found.factors[1:])
