# SPDX-License-Identifier: BSD-3-Clause
"""Splits groups that are too small for a t-test, using the errors of each pair.

The variance of a pair is known from the samples of the pair and of comparable pairs.
The most likely cut of an average-linkage tree is accepted if its log likelihood ratio
exceeds the log number of possible cuts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Maximum number of items; number of cuts that are improved by moving items; maximum
#: number of such iterations.
MAX_ITEMS = 512
_MAX_CUTS, _MAX_MOVES = 8, 10
#: One in this number of items may be far for other reasons.
_OUTLIERS = 4
#: Safety factor on the expected log likelihood ratio.
_MARGIN = 1.6
#: Minimal deviation, in standard errors, at which a member is an outsider.
_OUTSIDER_ERRORS = 4.0


class WeightedTimes(NamedTuple):
    """Log times of pairs, and their weights, which are 1 / error^2.

    Both matrices are symmetric, of shape ``(members, members)``; the diagonal has
    weight 0.
    """

    times: Values
    weights: Values


class Cut(NamedTuple):
    """A partition of items into groups."""

    parts: list[list[int]]  # item numbers of each group
    gained: float  # log likelihood ratio minus the log number of possible cuts
    sure: bool  # whether the cut is significant despite noise


def find_outsider(
    members: Sequence[int], others: Sequence[int], known: WeightedTimes, apart: float
) -> int | None:
    """Find a member that is as far from its group as from other ranks; None if none is.

    A true member, even a slow one, is nearer to its group than to others by the same
    amount as the other members.
    """
    if len(members) < 3:
        return None
    near, error = _compute_means(known, members, members)
    far, more_error = _compute_means(known, members, others)
    nearer = far - near
    chosen = int(nearer.argmin())
    rest = [member for member in members if member != members[chosen]]
    pairs = np.triu_indices(len(rest), 1)
    # Use a low quantile, because most pairs with other outsiders may be far.
    inside = float(np.quantile(known.times[np.ix_(rest, rest)][pairs], 0.25))
    gap = float(np.median(known.times[np.ix_(rest, others)])) - inside
    lacks = gap - float(nearer[chosen])
    doubt = _OUTSIDER_ERRORS * math.sqrt(error[chosen] + more_error[chosen])
    return members[chosen] if gap > apart and lacks > max(gap / 2, doubt) else None


def _compute_means(
    known: WeightedTimes, members: Sequence[int], ends: Sequence[int]
) -> tuple[Values, Values]:
    """Compute weighted means of each member's times, and their squared errors."""
    block = np.ix_(members, ends)
    weights = known.weights[block]
    total = weights.sum(1)
    return (weights * known.times[block]).sum(1) / total, 1 / total


def find_best_cut(
    known: WeightedTimes, things: Numbers, least: float, p: float
) -> Cut | None:
    """Find the most likely groups of items; None if a single group is more likely.

    Parameters
    ----------
    things
        Item number of each member, from 0. If each item is a single member, a group has
        at least two items.
    least
        Minimal difference between log times across groups and inside groups.
    p
        Maximum probability of splitting equal items.
    """
    count = int(things.max()) + 1
    single = count == len(things)
    if not (4 if single else 3) <= count <= MAX_ITEMS:
        return None
    blocks = _Blocks(known, things, count)
    best, of = 0.0, None
    for cut in _find_linkage_cuts(blocks):
        parts = _move_items(blocks, cut) if single else cut
        gained = _compute_gain(blocks, parts, least, single)
        if gained > best:
            best, of = gained, parts
    if of is None:
        return None
    parts_of_all = [np.flatnonzero(of == part).tolist() for part in np.unique(of)]
    sure = best >= -math.log(p) and _is_significant(blocks, of, p)
    return Cut(parts_of_all, best, sure)


def compute_gain(known: WeightedTimes, of: Numbers, least: float) -> float:
    """Compute `Cut.gained` for specified groups.

    `of`: group of each member.
    """
    blocks = _Blocks(known, np.arange(len(of)), len(of))
    return _compute_gain(blocks, of, least, single=True)


def compute_required_error(things: int, apart: float, p: float) -> float:
    """Compute which error of times suffices to find groups of two items.

    Groups of two have the fewest pairs inside.

    `apart`: minimal difference between log times across groups and inside groups. `p`:
    maximum probability of splitting equal items.
    """
    pairs = things // 2
    across = things * (things - 1) / 2 - pairs
    if not across:
        return math.inf
    sizes = np.array([2] * pairs + [1] * (things % 2))
    needed = _MARGIN * (_count_log_ways(sizes) - math.log(p))
    return apart * math.sqrt(pairs * across / (pairs + across) / (2 * needed))


class _Blocks:
    """Weighted mean times between items; the longest times are capped as outliers.

    One in `_OUTLIERS` items may be an outlier.
    """

    def __init__(self, known: WeightedTimes, things: Numbers, count: int) -> None:
        member = np.zeros((len(things), count))
        member[np.arange(len(things)), things] = 1
        self.count = count
        self.weights = member.T @ known.weights @ member
        sums = member.T @ (known.weights * known.times) @ member
        np.fill_diagonal(self.weights, 1)
        means = sums / self.weights
        above = np.sort(means[np.triu_indices(count, 1)])
        self.means = np.minimum(means, above[-1 - max(1, count // _OUTLIERS)])
        np.fill_diagonal(self.weights, 0)


def _find_linkage_cuts(blocks: _Blocks) -> list[Numbers]:
    """Find the most likely cuts of the average-linkage tree, as groups of items."""
    far = blocks.means.copy()
    np.fill_diagonal(far, np.inf)
    weights = blocks.weights.copy()
    total = weights.sum() / 2
    mean = float((weights * blocks.means).sum() / 2 / total)
    sizes = np.ones(blocks.count)
    of = np.arange(blocks.count)
    inside = inside_sum = 0.0
    cuts: list[tuple[float, int, Numbers]] = []
    for step in range(blocks.count - 2):
        a, b = map(int, np.unravel_index(int(far.argmin()), far.shape))
        inside += weights[a, b]
        inside_sum += weights[a, b] * far[a, b]
        joined = (sizes[a] * far[a] + sizes[b] * far[b]) / (sizes[a] + sizes[b])
        far[a], far[:, a] = joined, joined
        weights[a] += weights[b]
        weights[:, a] += weights[:, b]
        far[a, a] = np.inf
        far[b], far[:, b] = np.inf, np.inf
        sizes[a] += sizes[b]
        of = np.where(of == b, a, of)
        apart = mean - inside_sum / inside
        squares = apart**2 / (1 / inside - 1 / total)
        ways = _count_log_ways(np.bincount(of)[np.unique(of)])
        cuts.append((ways - squares / 2, step, of))
    cuts.sort(key=lambda cut: cut[:2])
    return [of for *_, of in cuts[:_MAX_CUTS]]


def _move_items(blocks: _Blocks, of: Numbers) -> Numbers:
    """Move each item to the nearest group, repeatedly."""
    for _ in range(_MAX_MOVES):
        numbers = np.unique(of, return_inverse=True)[1]
        member = np.zeros((blocks.count, int(numbers.max()) + 1))
        member[np.arange(blocks.count), numbers] = 1
        weights = blocks.weights @ member
        sums = (blocks.weights * blocks.means) @ member
        means = np.where(weights > 0, sums / np.where(weights > 0, weights, 1), np.inf)
        moved = means.argmin(axis=1)
        if (moved == numbers).all():
            break
        of = moved
    return of


def _compute_gain(blocks: _Blocks, of: Numbers, least: float, single: bool) -> float:
    """Compute the log likelihood ratio minus the logarithm of the number of cuts."""
    sizes = np.unique(of, return_counts=True)[1]
    if len(sizes) < 2 or (single and sizes.min() < 2):
        return -math.inf
    together = of[:, None] == of[None]
    inside, across = _WeightedMean(blocks, together), _WeightedMean(blocks, ~together)
    apart = across.mean - inside.mean
    # Most pairs across groups must be farther apart, not only a few by chance.
    if apart < least or across.median - inside.median < apart / 2:
        return -math.inf
    return apart**2 / (inside.square_error + across.square_error) / 2 - _count_log_ways(
        sizes
    )


def _count_log_ways(sizes: Numbers) -> float:
    """Compute the logarithm of the number of ways to make groups of these sizes.

    The number includes a factor for the choice of sizes, which is the number of items.
    """
    things = int(sizes.sum())
    alike = np.unique(sizes, return_counts=True)[1]
    same = sum(math.lgamma(size + 1) for size in (*sizes.tolist(), *alike.tolist()))
    return math.lgamma(things + 1) - same + math.log(things)


def _is_significant(blocks: _Blocks, of: Numbers, p: float) -> bool:
    """Return whether the members of each single group are significantly nearer."""
    for group in np.unique(of):
        own = of == group
        if own.sum() < 2:
            continue
        near = _WeightedMean(blocks, own[:, None] & own[None])
        far = _WeightedMean(blocks, own[:, None] ^ own[None])
        error = math.sqrt(near.square_error + far.square_error)
        if math.erfc((far.mean - near.mean) / error / math.sqrt(2)) / 2 > p:
            return False
    return True


class _WeightedMean:
    """Weighted mean of the selected blocks; the selection must be symmetric."""

    def __init__(self, blocks: _Blocks, chosen: NDArray[np.bool_]) -> None:
        weights = blocks.weights[chosen]
        total = float(weights.sum())
        self.mean = float(weights @ blocks.means[chosen]) / total
        self._values = blocks.means[chosen], weights
        self.square_error = 2 / total

    @property
    def median(self) -> float:
        """The weighted median of the selected blocks."""
        values, weights = self._values
        order = np.argsort(values)
        upto = np.cumsum(weights[order])
        return float(values[order[np.searchsorted(upto, upto[-1] / 2)]])
