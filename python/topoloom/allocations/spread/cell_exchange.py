# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges cells between leaf groups until all groups meet a target spread."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from topoloom.allocations.spread.host_mesh import HostMesh, Integers

_HOTTEST, _COLDEST = 0.6, 0.05


class CellExchange:
    """Simulated annealing that moves cells between leaf groups with few free hosts."""

    def __init__(
        self, mesh: HostMesh, leaf_of: Integers, free: Sequence[int], seed: int
    ) -> None:
        self._leaf: list[int] = leaf_of.tolist()
        self._room = [
            int(own - used)
            for own, used in zip(
                free, np.bincount(leaf_of, minlength=len(free)), strict=True
            )
        ]
        self._groups = [group.tolist() for group in mesh.group_of]
        self._members = [
            [np.flatnonzero(group == g).tolist() for g in range(int(group.max()) + 1)]
            for group in mesh.group_of
        ]
        self._counts = [[[0] * len(free) for _ in members] for members in self._members]
        self._inside: list[set[int]] = [set() for _ in free]
        for cell, leaf in enumerate(self._leaf):
            self._inside[leaf].add(cell)
            for groups, counts in zip(self._groups, self._counts, strict=True):
                counts[groups[cell]][leaf] += 1
        self._spread = [
            [sum(count > 0 for count in row) for row in counts]
            for counts in self._counts
        ]
        self._random = np.random.default_rng(seed)

    def anneal_to_target(self, target: Sequence[int], trials: int) -> Integers | None:
        """Exchange cells by simulated annealing until no spread exceeds `target`.

        Returns the leaf group of every cell, or None if `trials` exchanges do not
        suffice.
        """
        over = {
            (kind, group)
            for kind, spreads in enumerate(self._spread)
            for group, spread in enumerate(spreads)
            if spread > target[kind]
        }
        drawn = iter(())
        for trial in range(trials):
            if not over:
                return np.array(self._leaf, np.int64)
            if trial % 4096 == 0:
                drawn = iter(self._random.random(5 * 4096).tolist())
            heat = _HOTTEST * (_COLDEST / _HOTTEST) ** (trial / trials)
            self._try_exchange(target, over, heat, [next(drawn) for _ in range(5)])
        return None

    def _try_exchange(
        self,
        target: Sequence[int],
        over: set[tuple[int, int]],
        heat: float,
        random: list[float],
    ) -> None:
        """Try to move a cell of a group above target to another of its leaf groups."""
        kind, group = list(over)[int(random[0] * len(over))]
        counts = self._counts[kind][group]
        there = sorted(
            (leaf for leaf, count in enumerate(counts) if count), key=counts.__getitem__
        )
        # The square prefers leaf groups with few cells of this group.
        source = there[int(random[1] ** 2 * len(there))]
        goal = there[int(random[2] * len(there))]
        if source == goal:
            return
        cells = [c for c in self._members[kind][group] if self._leaf[c] == source]
        cell = cells[int(random[3] * len(cells))]
        other = None
        if self._room[goal] == 0:
            inside = list(self._inside[goal])
            other = inside[int(random[4] * len(inside))]
        before = self._sum_excess(target, cell, other)
        self._exchange_cells(cell, source, goal, other)
        after = self._sum_excess(target, cell, other)
        if after > before and random[3] * 7919 % 1 > math.exp((before - after) / heat):
            self._exchange_cells(cell, goal, source, other)
        for one in (cell,) if other is None else (cell, other):
            for kind, groups in enumerate(self._groups):
                group = groups[one]
                if self._spread[kind][group] > target[kind]:
                    over.add((kind, group))
                else:
                    over.discard((kind, group))

    def _sum_excess(self, target: Sequence[int], cell: int, other: int | None) -> float:
        """Sum up how far the groups of these cells exceed their targets."""
        excess = 0.0
        for kind, groups in enumerate(self._groups):
            spreads = self._spread[kind]
            touched = {groups[cell]} if other is None else {groups[cell], groups[other]}
            for group in touched:
                # Spreads below the target have a small weight, to enable later
                # exchanges.
                excess += max(0, spreads[group] - target[kind]) + 0.02 * spreads[group]
        return excess

    def _exchange_cells(
        self, cell: int, source: int, goal: int, other: int | None
    ) -> None:
        self._move_cell(cell, source, goal)
        if other is not None:
            self._move_cell(other, goal, source)

    def _move_cell(self, cell: int, source: int, goal: int) -> None:
        self._leaf[cell] = goal
        self._inside[source].discard(cell)
        self._inside[goal].add(cell)
        self._room[source] += 1
        self._room[goal] -= 1
        for groups, counts, spreads in zip(
            self._groups, self._counts, self._spread, strict=True
        ):
            row = counts[groups[cell]]
            row[source] -= 1
            row[goal] += 1
            spreads[groups[cell]] += (row[goal] == 1) - (row[source] == 0)
