# SPDX-License-Identifier: BSD-3-Clause
"""What of a message's time is due to links, and how that depends on its size.

A message of m bytes takes o + f L + g m / B, where L is the latency of its links and B
the bandwidth of the narrowest; f and g depend on m, and f is 1 of the shortest: P.
Velho, A. Legrand, Accuracy study and improvement of network simulation in the SimGrid
framework, SIMUTools 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.message_costs import Curve

#: How surely f is that of the sizes below, g is 1 and o is what was guessed: as if that
#: were one more size, this share as exact. It counts where times say nothing.
_PRIOR = 0.05
#: Of g: no link has many times its own bandwidth.
_LEAST = 0.1
#: Steps of alternating least squares, and the change that ends them.
_STEPS, _SETTLED = 300, 1e-7

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Route:
    """What messages take between two ranks, and what their links carry, in B/s.

    Attributes
    ----------
    alone, burst
        Of one message, and from one to the next of several, if that is known. A link
        is not taken for longer than that.
    """

    alone: Curve
    burst: Curve | None
    bandwidth: float


@dataclass(frozen=True)
class Overhead:
    """Seconds that a message takes beside its links: a guess, and its bounds."""

    guess: float
    least: float
    most: float


@dataclass(frozen=True)
class LinkCosts:
    """What is due to links.

    Attributes
    ----------
    overhead
        Seconds of a message beside its links.
    latencies
        Of the links of each route, to the shortest messages.
    factors
        f, 1 / g, and the bytes up to which they hold, None without end; six digits.
    """

    overhead: float
    latencies: list[float]
    factors: list[tuple[float, float, int | None]]

    def latency_factor(self, size: int) -> float:
        """Return f of a size."""
        return next(f for f, _, most in self.factors if most is None or size <= most)


def fit_link_costs(
    routes: Sequence[Route], ends: Sequence[int | None], overhead: Overhead
) -> LinkCosts:
    """Tell what is due to links by how routes and sizes differ.

    Least squares of relative errors over all routes and sizes. Of a single route the
    overhead stays what was guessed.

    Parameters
    ----------
    ends
        Bytes up to which f and g are the same.
    """
    table = _Table(routes, ends)
    if len(routes) == 1:
        overhead = Overhead(overhead.guess, overhead.guess, overhead.guess)
    own, latencies = overhead.guess, table.shortest - overhead.guess
    before = np.zeros(0)
    for _ in range(_STEPS):
        factors = table.factors(own, latencies)
        own, latencies = table.latencies(factors, overhead)
        now = np.array([own, *latencies, *factors.ravel()])
        if len(before) and np.allclose(now, before, rtol=_SETTLED, atol=1e-13):
            break
        before = now
    rounded = [
        (float(f"{longer:.6g}"), float(f"{1 / max(slower, _LEAST):.6g}"), end)
        for (longer, slower), end in zip(factors.tolist(), ends, strict=True)
    ]
    return LinkCosts(own, latencies.tolist(), rounded)


class _Table:
    """All times, with the route and the regime of each."""

    def __init__(self, routes: Sequence[Route], ends: Sequence[int | None]) -> None:
        fits = [route.alone.fit for route in routes]
        counts = [len(fit.sizes) for fit in fits]
        sizes = np.concatenate([fit.sizes for fit in fits])
        rates = np.repeat([route.bandwidth for route in routes], counts)
        self.route = np.repeat(np.arange(len(routes)), counts)
        self.regime = np.searchsorted([e for e in ends if e is not None], sizes)
        self.regimes = len(ends)
        self.times: Values = np.concatenate([fit.measured for fit in fits])
        self.wide: Values = sizes / rates
        self.shortest: Values = np.array([fit.measured[0] for fit in fits])
        self.most = np.concatenate([_most_slower(route) for route in routes])

    def factors(self, overhead: float, latencies: Values) -> Values:
        """Solve for f and g of each regime, of shape ``(regimes, 2)``."""
        found: list[tuple[float, float]] = []
        for regime in range(self.regimes):
            of = self.regime == regime
            times = self.times[of]
            long = latencies[self.route[of]] / times
            wide = self.wide[of] / times
            wanted = 1 - overhead / times
            before = found[-1][0] if found else 1.0
            # The shortest define what a latency is.
            prior = _PRIOR if found else 1e3
            rows = np.column_stack([long, wide])
            rows = np.vstack([rows, [prior, 0], [0, _PRIOR]])
            wanted = np.append(wanted, [prior * before, _PRIOR])
            found.append(
                _bounded(rows, wanted, float(self.most[of].min(initial=np.inf)))
            )
        return np.array(found)

    def latencies(self, factors: Values, overhead: Overhead) -> tuple[float, Values]:
        """Solve for o, and L of each route."""
        long = factors[self.regime, 0] / self.times
        wanted = 1 - factors[self.regime, 1] * self.wide / self.times
        of_route = np.eye(len(self.shortest))[self.route]
        rows = np.column_stack([1 / self.times, of_route * long[:, None]])
        prior = _PRIOR / self.shortest.min()
        first = [prior, *([0.0] * len(self.shortest))]
        both = np.linalg.lstsq(
            np.vstack([rows, first]),
            np.append(wanted, prior * overhead.guess),
            rcond=None,
        )[0]
        own = float(np.clip(both[0], overhead.least, overhead.most))
        rest = wanted - own / self.times
        above = of_route.T @ (long * rest)
        return own, np.maximum(0, above / (of_route.T @ long**2))


def _most_slower(route: Route) -> Values:
    """Return what g is at most at every size of messages alone."""
    sizes = route.alone.fit.sizes
    if route.burst is None:
        return np.full(len(sizes), np.inf)
    burst = route.burst.fit
    gaps = np.interp(sizes, burst.sizes, burst.measured, left=np.inf, right=np.inf)
    return np.asarray(gaps * route.bandwidth / sizes)


def _bounded(rows: Values, wanted: Values, most: float) -> tuple[float, float]:
    """Solve for f and g, which are not below 0, and g not above `most`."""
    longer, slower = np.linalg.lstsq(rows, wanted, rcond=None)[0].tolist()
    if longer < 0:
        longer, slower = 0.0, float(rows[:, 1] @ wanted / (rows[:, 1] @ rows[:, 1]))
    if not 0 <= slower <= most:
        slower = min(max(slower, 0.0), most)
        left = wanted - slower * rows[:, 1]
        longer = max(0.0, float(rows[:, 0] @ left / (rows[:, 0] @ rows[:, 0])))
    return longer, slower
