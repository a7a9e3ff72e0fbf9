# SPDX-License-Identifier: BSD-3-Clause
"""How many times as long, and as wide, links are to messages of other sizes.

A message of m bytes takes o + f L + g m / B where its links have the latency L and the
narrowest of them the bandwidth B: P. Velho, A. Legrand, Accuracy study and improvement
of network simulation in the SimGrid framework, SIMUTools 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topoloom.probe.inference.message_costs import Curve

#: How surely f is that of the sizes below, and g is 1: as if that were measured with a
#: relative error of its reciprocal. It counts where times say nothing.
_PRIOR = 0.05
#: Of g: no link has many times its own bandwidth.
_LEAST = 0.1


@dataclass(frozen=True)
class Route:
    """What a pair of ranks has between it, and what its messages alone take.

    Attributes
    ----------
    overhead
        Seconds of both ranks, beside the links.
    latency, bandwidth
        Of the links: seconds, and bytes per second of the narrowest.
    """

    overhead: float
    latency: float
    bandwidth: float
    alone: Curve


def fit_link_factors(
    routes: Sequence[Route], ends: Sequence[int | None]
) -> list[tuple[float, float, int | None]]:
    """Return f and 1 / g of the messages of up to each of `ends` bytes, and those.

    Least squares of relative errors over all routes and sizes; neither is below 0.
    """
    found, below, before = [], -1.0, 1.0
    for end in ends:
        last = np.inf if end is None else end
        rows, wanted = [[_PRIOR, 0.0], [0.0, _PRIOR]], [_PRIOR * before, _PRIOR]
        for route in routes:
            fit = route.alone.fit
            for size, time in zip(fit.sizes, fit.measured, strict=True):
                if below < size <= last:
                    long, wide = route.latency, size / route.bandwidth
                    rows.append([long / time, wide / time])
                    wanted.append(1 - route.overhead / time)
        before, slower = _not_negative(np.array(rows), np.array(wanted))
        found.append((before, 1 / max(slower, _LEAST), end))
        below = last
    return found


def _not_negative(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    wanted: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> tuple[float, float]:
    """Solve for two numbers that are not below 0."""
    both = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    if both.min() >= 0:
        return float(both[0]), float(both[1])
    single = [max(0.0, float(row @ wanted / (row @ row))) for row in rows.T]
    kept = int(np.argmin(both))  # the other one
    return (0.0, single[1]) if kept == 0 else (single[0], 0.0)
