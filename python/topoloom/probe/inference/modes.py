# SPDX-License-Identifier: BSD-3-Clause
"""Finds the valleys between the modes in the density of many hosts' times."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import LEVEL_RATIO

Values = NDArray[np.float64]

#: Minimal width of a kernel in log units, and its width in standard errors.
_MIN_KERNEL, _ERRORS = 0.004, 0.7
#: Number of grid points per kernel width, and extent of a kernel in widths.
_POINTS, _SPAN = 4, 4
#: Minimal difference between the square roots of a peak and its valley, because the
#: square root of a count has the standard deviation 1/2.
_MIN_PROMINENCE = 1.5
_MAX_BINS = 1 << 16


def find_valleys(
    values: Values, error: float, apart: float = LEVEL_RATIO
) -> list[float]:
    """Find the valleys between modes, ascending; [] for a single mode.

    The density is a sum of normal kernels. Each mode must rise significantly above its
    valleys, and be at least `apart` from the next mode.

    Parameters
    ----------
    values
        Logarithms of times in seconds.
    error
        Standard error of values.
    apart
        Minimal ratio of times between modes.
    """
    width = max(_MIN_KERNEL, _ERRORS * error)
    low, high = float(values.min()), float(values.max())
    step = max(width / _POINTS, (high - low) / _MAX_BINS)
    reach = math.ceil(_SPAN * width / step)
    bins = math.ceil((high - low) / step) + 1
    counts = np.bincount(((values - low) / step).astype(np.int64), minlength=bins)
    steps = np.arange(-reach, reach + 1, dtype=np.float64)
    kernel: Values = np.exp(-0.5 * (steps * step / width) ** 2)
    density: Values = np.convolve(np.pad(counts, reach), kernel, mode="same")
    at: Values = np.asarray(low + (np.arange(len(density)) - reach + 0.5) * step)
    return [float(at[valley]) for valley in _find_minima(density, at, apart)]


def _find_minima(density: Values, at: Values, apart: float) -> list[int]:
    """Find the minima between significant modes."""
    rising = np.diff(density, prepend=0) > 0
    peaks = np.flatnonzero(rising & ~np.append(rising[1:], False)).tolist()
    lows = [a + int(np.argmin(density[a:b])) for a, b in pairwise(peaks)]
    root = np.sqrt(density)
    while lows:
        rises = [
            min(root[peaks[n]], root[peaks[n + 1]]) - root[low]
            for n, low in enumerate(lows)
        ]
        near = [
            rise < _MIN_PROMINENCE or at[peaks[n + 1]] - at[peaks[n]] < math.log(apart)
            for n, rise in enumerate(rises)
        ]
        if not any(near):
            break
        # Remove the weakest valley and its lower peak.
        n = min((n for n, is_near in enumerate(near) if is_near), key=rises.__getitem__)
        lows.pop(n)
        peaks.pop(n if density[peaks[n]] < density[peaks[n + 1]] else n + 1)
    return lows
