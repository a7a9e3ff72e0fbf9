# SPDX-License-Identifier: BSD-3-Clause
"""Costs between many ranks, of which few pairs were measured; indexed like a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import Costs, RankGroup

Numbers = NDArray[np.int64]


class HostCosts(Protocol):
    """Seconds between hosts, indexed like a matrix."""

    def __getitem__(self, at: Any, /) -> Any:
        """Return the times of a host with all hosts, of two hosts, or of pairs."""
        ...


class GroupTree:
    """Nested groups; finds the smallest group that contains two ranks.

    Attributes
    ----------
    groups
        All groups, outer ones first.
    """

    def __init__(self, root: RankGroup) -> None:
        self.groups: list[RankGroup] = []
        self._number: dict[int, int] = {}
        self._labels: list[Numbers] = []  # for each depth, the group of each rank
        level = [root]
        while level:
            # At depths below its smallest group, a rank is a group by itself.
            labels = -1 - np.arange(len(root.ranks))
            for group in level:
                self._number[id(group)] = len(self.groups)
                labels[list(group.ranks)] = len(self.groups)
                self.groups.append(group)
            self._labels.append(labels)
            level = [part for group in level for part in group.groups]

    def get_group_index(self, group: RankGroup) -> int:
        """Return the index of a group."""
        return self._number[id(group)]

    def find_common_groups(self, first: Numbers, second: Numbers) -> Numbers:
        """Return the index of the smallest common group of each pair of ranks."""
        found = np.zeros(np.broadcast(first, second).shape, np.int64)
        for labels in self._labels[1:]:
            own = labels[first]
            found = np.where((own == labels[second]) & (own >= 0), own, found)
        return found


class PairCosts:
    """Seconds of a message between ranks, indexed like a matrix.

    Parameters
    ----------
    ranks
        Number of ranks.
    first, second, seconds
        The measured pairs; if a pair is repeated, its last measurement is used.
    root
        Groups that define typical costs of unmeasured pairs: the median of pairs with
        the same smallest group. If None, unmeasured pairs are NaN.
    """

    def __init__(
        self,
        ranks: int,
        first: Numbers,
        second: Numbers,
        seconds: NDArray[np.float64],
        root: RankGroup | None = None,
    ) -> None:
        self.shape = ranks, ranks
        keys = np.minimum(first, second) * ranks + np.maximum(first, second)
        # If keys are equal, the last value is used.
        self._keys, last = np.unique(keys[::-1], return_index=True)
        self._seconds = seconds[::-1][last]
        self._between: tuple[HostCosts, Numbers] | None = None
        self.tree: GroupTree | None = None
        if root is not None:
            self.tree = GroupTree(root)
            self._sort_pairs_by_group(self.tree)

    def fill_missing(self, root: RankGroup) -> PairCosts:
        """Return a copy with typical costs for unmeasured pairs."""
        first, second, seconds = self.measured_pairs
        return PairCosts(self.shape[0], first, second, seconds, root)

    def fill_by_network(
        self, root: RankGroup, predicted: HostCosts, host_of: Sequence[int]
    ) -> PairCosts:
        """Return a copy with a network's predictions for unmeasured pairs.

        `predicted`: seconds between hosts. `host_of`: the host of each rank.
        """
        found = self.fill_missing(root)
        found._between = predicted, np.array(host_of)
        return found

    @property
    def measured_pairs(self) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
        """Ranks of the measured pairs, lower rank first, and their seconds."""
        first, second = np.divmod(self._keys, self.shape[0])
        return first, second, self._seconds

    def select_pairs_of_group(
        self, group: RankGroup
    ) -> tuple[Numbers, NDArray[np.float64]]:
        """Return the measured pairs with this smallest group, and their seconds.

        Pairs have shape ``(pairs, 2)``.
        """
        assert self.tree is not None
        number = self.tree.get_group_index(group)
        own = self._by_group[self._starts[number] : self._starts[number + 1]]
        first, second = np.divmod(self._keys[own], self.shape[0])
        return np.stack([first, second], axis=1), self._seconds[own]

    def compute_median(self, group: RankGroup) -> float:
        """Return the median of the pairs with this smallest group."""
        assert self.tree is not None
        return float(self._usual[self.tree.get_group_index(group)])

    def is_complete(self, ranks: Numbers) -> bool:
        """Return whether all pairs among these ranks were measured."""
        looked_up = self.get_measured(ranks[:, None], ranks[None, :])
        return not np.isnan(looked_up[~np.eye(len(ranks), dtype=bool)]).any()

    def get_typical(self, first: Numbers, second: Numbers) -> NDArray[np.float64]:
        """Return the medians of pairs with the same smallest groups."""
        assert self.tree is not None
        found: NDArray[np.float64] = self._usual[
            self.tree.find_common_groups(first, second)
        ]
        return found

    def __getitem__(self, at: Any) -> Any:
        """Return the costs of a pair, of arrays of pairs, or of rows, like a matrix."""
        if not isinstance(at, tuple):
            rows = np.atleast_1d(np.arange(self.shape[0])[at])
            return self[rows[:, None], np.arange(self.shape[0])[None, :]]
        first, second = np.asarray(at[0]), np.asarray(at[1])
        found = self.get_measured(first, second)
        unknown = np.isnan(found)
        if self.tree is not None and unknown.any():
            found = np.where(unknown, self._predict_unmeasured(first, second), found)
        found = np.where(first == second, 0.0, found)
        return float(found) if found.ndim == 0 else found

    def get_measured(self, first: Numbers, second: Numbers) -> NDArray[np.float64]:
        """Return the measured costs of pairs of ranks; NaN for unmeasured pairs."""
        keys = np.minimum(first, second) * self.shape[0] + np.maximum(first, second)
        if not len(self._keys):
            return np.full(keys.shape, np.nan)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._seconds[at], np.nan)

    def _predict_unmeasured(
        self, first: Numbers, second: Numbers
    ) -> NDArray[np.float64]:
        usual = self.get_typical(first, second)
        if self._between is None:
            return usual
        predicted, host_of = self._between
        a, b = np.broadcast_arrays(host_of[first], host_of[second])
        return np.where(a == b, usual, predicted[a, b])

    def _sort_pairs_by_group(self, tree: GroupTree) -> None:
        first, second, seconds = self.measured_pairs
        common = tree.find_common_groups(first, second)
        self._by_group = np.argsort(common, kind="stable")
        numbers = np.arange(len(tree.groups) + 1)
        self._starts = np.searchsorted(common[self._by_group], numbers)
        # A group has no measurements if the job ended early.
        every = float(np.median(seconds)) if len(seconds) else np.nan
        self._usual = np.full(len(tree.groups), every)
        for number, (begin, end) in enumerate(
            zip(self._starts[:-1], self._starts[1:], strict=True)
        ):
            if end > begin:
                self._usual[number] = np.median(seconds[self._by_group[begin:end]])


#: A matrix of costs, or an object that is indexed like one.
SomeCosts = Costs | PairCosts


def select_measured_pairs(
    group: RankGroup, costs: SomeCosts
) -> tuple[Numbers, NDArray[np.float64]]:
    """Select the measured pairs with this smallest group, and their seconds."""
    if isinstance(costs, PairCosts):
        return costs.select_pairs_of_group(group)
    pairs = np.array(list(group.pairs()), np.int64).reshape(-1, 2)
    seconds = costs[pairs[:, 0], pairs[:, 1]]
    known = ~np.isnan(seconds)
    return pairs[known], seconds[known]
