# SPDX-License-Identifier: BSD-3-Clause
"""Determines, for each message size, which share of message times is due to links.

A message of m bytes takes o + f L + g m / B: o is the overhead, L the latency of its
links, and B the lowest bandwidth of its links. f and g depend on m; f is 1 for the
shortest messages: P. Velho, A. Legrand, Accuracy study and improvement of network
simulation in the SimGrid framework, SIMUTools 2009.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.message_costs import TimeCurve

#: Weight of the prior, relative to one more message size. The prior is that g is 1, and
#: f is the same as for smaller sizes; it decides where the times do not.
_PRIOR = 0.02
#: Minimal g, because no link is many times as fast as its bandwidth.
_MIN_FACTOR = 0.1
#: Maximum steps of alternating least squares, and tolerance for convergence.
_STEPS, _CONVERGED = 300, 1e-7
#: The median over this number of longest burst sizes limits g of a regime.
_LONGEST_SIZES = 3

Values = NDArray[np.float64]


@dataclass(frozen=True)
class RouteTimes:
    """Message times between two ranks, and the bandwidth of the links in bytes/s."""

    #: `alone`, `burst`: seconds of a single message, and seconds per message of a burst
    #: if known. The burst time is an upper bound on the time for which a link is busy.
    alone: TimeCurve
    burst: TimeCurve | None
    bandwidth: float


@dataclass(frozen=True)
class LinkCosts:
    """The contribution of links to message costs."""

    latencies: list[float]  # latency of each route, for the shortest messages
    #: For each regime, f, 1 / g, and the maximum bytes (None: no limit); with six
    #: digits.
    factors: list[tuple[float, float, int | None]]

    def latency_factor(self, size: int) -> float:
        """Return f for a message size."""
        return next(f for f, _, most in self.factors if most is None or size <= most)


def fit_link_costs(
    routes: Sequence[RouteTimes], ends: Sequence[int | None], overhead: float
) -> LinkCosts:
    """Fit the costs of links to how times differ between routes and sizes.

    Minimizes relative errors over all routes and sizes by alternating least squares.

    `ends`: upper limits in bytes of the regimes with constant f and g. `overhead`: o,
    in seconds.
    """
    table = _TimeTable(routes, ends, overhead)
    latencies = np.maximum(0, table.shortest - overhead)
    for _ in range(_STEPS):
        factors = table.solve_factors(latencies)
        before, latencies = latencies, table.solve_latencies(factors)
        if np.allclose(before, latencies, rtol=_CONVERGED, atol=1e-13):
            break
    rounded = [
        (float(f"{longer:.6g}"), float(f"{1 / max(slower, _MIN_FACTOR):.6g}"), end)
        for (longer, slower), end in zip(factors.tolist(), ends, strict=True)
    ]
    return LinkCosts(latencies.tolist(), rounded)


class _TimeTable:
    """All times, and the route and the regime of each."""

    def __init__(
        self, routes: Sequence[RouteTimes], ends: Sequence[int | None], overhead: float
    ) -> None:
        fits = [route.alone.fit for route in routes]
        counts = [len(fit.sizes) for fit in fits]
        sizes = np.concatenate([fit.sizes for fit in fits])
        rates = np.repeat([route.bandwidth for route in routes], counts)
        limits = [end for end in ends if end is not None]
        self.route = np.repeat(np.arange(len(routes)), counts)
        self.regime = np.searchsorted(limits, sizes)
        times: Values = np.concatenate([fit.measured for fit in fits])
        self.inverse: Values = 1 / times
        self.wide: Values = sizes / rates / times
        #: The share of each time that is not overhead.
        self.rest: Values = 1 - overhead / times
        self.shortest: Values = np.array([fit.measured[0] for fit in fits])
        self.most = _limit_factors(routes, limits)

    def solve_factors(self, latencies: Values) -> Values:
        """Solve for f and g of each regime; shape ``(regimes, 2)``."""
        found: list[tuple[float, float]] = []
        for regime, most in enumerate(self.most):
            of = self.regime == regime
            long = latencies[self.route[of]] * self.inverse[of]
            before = found[-1][0] if found else 1.0
            # The shortest messages define the latency, so f = 1 there.
            prior = _PRIOR if found else 1e3
            rows = np.column_stack([long, self.wide[of]])
            rows = np.vstack([rows, [prior, 0], [0, _PRIOR]])
            wanted = np.append(self.rest[of], [prior * before, _PRIOR])
            found.append(_solve_bounded(rows, wanted, most))
        return np.array(found)

    def solve_latencies(self, factors: Values) -> Values:
        """Solve for L of each route."""
        long = factors[self.regime, 0] * self.inverse
        rest = self.rest - factors[self.regime, 1] * self.wide
        of_route = np.eye(len(self.shortest))[self.route]
        found: Values = of_route.T @ (long * rest) / (of_route.T @ long**2)
        return np.maximum(0, found)


def _limit_factors(routes: Sequence[RouteTimes], limits: Sequence[int]) -> list[float]:
    """Compute an upper limit of g for each regime from the longest bursts."""
    seen: list[list[float]] = [[] for _ in range(len(limits) + 1)]
    for route in routes:
        if route.burst is None:
            continue
        fit = route.burst.fit
        regime = np.searchsorted(limits, fit.sizes)
        slower = fit.measured * route.bandwidth / fit.sizes
        for number, of in enumerate(seen):
            longest = slower[regime == number][-_LONGEST_SIZES:]
            of += [float(np.median(longest))] if len(longest) else []
    return [float(np.median(of)) if of else math.inf for of in seen]


def _solve_bounded(rows: Values, wanted: Values, most: float) -> tuple[float, float]:
    """Solve for f and g, both at least 0, and g at most `most`."""
    longer, slower = np.linalg.lstsq(rows, wanted, rcond=None)[0].tolist()
    if longer < 0:
        longer, slower = 0.0, float(rows[:, 1] @ wanted / (rows[:, 1] @ rows[:, 1]))
    if not 0 <= slower <= most:
        slower = min(max(slower, 0.0), most)
        left = wanted - slower * rows[:, 1]
        longer = max(0.0, float(rows[:, 0] @ left / (rows[:, 0] @ rows[:, 0])))
    return longer, slower
