# SPDX-License-Identifier: BSD-3-Clause
"""Computes the matrix of message times between ranks, and the medians of levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.probe.inference.groups import RankGroup, name_level
from topoloom.report.packed_arrays import PackedArrays
from topoloom.report.probed.groups import list_ranks
from topoloom.report.probed.probed_file import ProbedMachine
from topoloom.report.probed.suspects import merge_suspects
from topoloom.support.units import counted

#: Maximum number of cells per row of the matrix; with more ranks, a cell is a mean.
MAX_CELLS = 512

Array = NDArray[Any]


@dataclass(frozen=True)
class LevelMatrix:
    """The levels of rank pairs, and their typical message times."""

    #: int array of shape (ranks,): ranks ordered by group, or by node if hosts are
    #: linked directly to each other.
    order: Array
    #: int array of shape (ranks, ranks): index in `levels` of the pair's level;
    #: ``len(levels)`` for pairs without a level.
    level: Array
    levels: list[str]  # names of the levels, the fastest first
    #: float array of shape (ranks, ranks): median of the pair's level, in seconds.
    usual: Array


def make_level_matrix(probed: ProbedMachine) -> LevelMatrix:
    """Find the level of each rank pair, and the median time of the level. O(ranks^2).

    If hosts are linked directly to each other, each number of hops is a level.
    """
    names = [model.name for model in probed.levels]
    for group in reversed([*probed.root.all_groups()]):
        name = name_level(group)
        if len(group.ranks) > 1 and name not in names:
            names.append(name)
    level = np.zeros(probed.costs.shape, dtype=np.int64)

    def mark_levels(group: RankGroup) -> None:
        if len(group.ranks) > 1:
            level[np.ix_(group.ranks, group.ranks)] = names.index(name_level(group))
        for part in group.groups:
            mark_levels(part)

    mark_levels(probed.root)
    order = np.array(list_ranks(probed.root), dtype=np.int64)
    if probed.hops is not None:
        hops = probed.hops[np.ix_(probed.host_of, probed.host_of)]
        level = np.where(hops > 0, len(names) - 1 + hops, level)
        names += [f"at {counted(n + 1, 'hop')}" for n in range(probed.hops.max())]
        place = np.argsort(probed.nodes)[probed.host_of]
        order = np.argsort(place, kind="stable")
    np.fill_diagonal(level, len(names))
    medians = np.full(len(names) + 1, np.nan)
    for number in range(len(names)):
        known = probed.costs[(level == number) & ~np.isnan(probed.costs)]
        medians[number] = np.median(known) if len(known) else np.nan
    return LevelMatrix(order, level, names, medians[level])


class LevelSummary(NamedTuple):
    """Number and message times in seconds of the measured pairs of a level."""

    name: str
    pairs: int
    least: float
    median: float
    most: float


def summarize_levels(probed: ProbedMachine, matrix: LevelMatrix) -> list[LevelSummary]:
    """Summarize the matrix by level, the fastest first, and count each pair once."""
    upper = np.triu(~np.isnan(probed.costs), 1)
    found = []
    for number, name in enumerate(matrix.levels):
        own = probed.costs[upper & (matrix.level == number)]
        if len(own):
            ends = (float(own.min()), float(np.median(own)), float(own.max()))
            found.append(LevelSummary(name, len(own), *ends))
    return found


def compute_host_ratios(probed: ProbedMachine, matrix: LevelMatrix) -> list[float]:
    """Compute the message times of each host relative to typical times.

    The ratio is that of medians over the host's pairs at its nearest level; NaN if
    there are no measurements.
    """
    return [
        next(
            (
                took / usual
                for _, took, usual, _ in compare_levels(probed, matrix, host)
            ),
            np.nan,
        )
        for host in range(len(probed.hosts))
    ]


class LevelCost(NamedTuple):
    """Median and typical message time at a level, and the number of measured pairs."""

    level: str
    seconds: float
    usual: float
    pairs: int


def compare_levels(
    probed: ProbedMachine, matrix: LevelMatrix, host: int, other: int | None = None
) -> list[LevelCost]:
    """Compare a host's message times, to one host or to all, with typical times.

    The fastest level comes first.
    """
    host_of = np.array(probed.host_of)
    there = host_of != host if other is None else host_of == other
    block = np.ix_(host_of == host, there)
    costs, level, usual = (
        of[block] for of in (probed.costs, matrix.level, matrix.usual)
    )
    found = []
    for number, name in enumerate(matrix.levels):
        here = (level == number) & ~np.isnan(costs)
        if here.any():
            took = float(np.median(costs[here]))
            like = float(np.median(usual[here]))
            found.append(LevelCost(name, took, like, int(here.sum())))
    return found


def pack_costs(
    pack: PackedArrays, probed: ProbedMachine, matrix: LevelMatrix
) -> dict[str, Any]:
    """Pack the matrix for the page; return other data for the page's script."""
    order, ranks = matrix.order, probed.ranks
    square = np.ix_(order, order)
    cell = -(-ranks // MAX_CELLS)
    seconds, usual, level = (
        of[square] for of in (probed.costs, matrix.usual, matrix.level)
    )
    known = ~(np.isnan(seconds) | np.isnan(usual)) & (level < len(matrix.levels))
    pairs = _sum_cells(known.astype(np.float64), cell)
    with np.errstate(invalid="ignore", divide="ignore"):
        seconds, usual = (
            np.nan_to_num(_sum_cells(np.where(known, of, 0), cell) / pairs)
            for of in (seconds, usual)
        )
    first = level[::cell, ::cell]
    mixed = _sum_cells(
        level != np.kron(first, np.ones((cell, cell), int))[:ranks, :ranks], cell
    )
    pack.add_integers("rank", order)
    pack.add_integers("host", np.array(probed.host_of, dtype=np.int64)[order])
    pack.add_numbers("seconds", seconds)
    pack.add_numbers("usual", usual)
    pack.add_integers("level", np.where(mixed > 0, len(matrix.levels), first))
    return {
        "ranks": ranks,
        "cell": cell,
        "hosts": probed.hosts,
        "levels": matrix.levels,
        "suspects": _locate_suspects(probed, order),
    }


def _sum_cells(values: Array, cell: int) -> Array:
    """Sum the values in each square of `cell` x `cell` entries."""
    starts = np.arange(0, len(values), cell)
    rows = np.add.reduceat(values, starts, axis=0)
    found: Array = np.add.reduceat(rows, starts, axis=1)
    return found


def _locate_suspects(probed: ProbedMachine, order: Array) -> list[dict[str, Any]]:
    """Return the rows and columns of the matrix that suspects occupy, with texts."""
    number = {host: n for n, host in enumerate(probed.hosts)}
    host_at = np.array(probed.host_of)[order]
    marks = []
    for slow in merge_suspects(probed.suspects):
        places = [
            np.flatnonzero(host_at == number[host])
            for host in slow.hosts
            if host in number
        ]
        spans = [[int(at.min()), int(at.max()) + 1] for at in places if len(at)]
        if not spans:
            continue
        if slow.kind != "link" or len(spans) != 2:
            ends = [end for span in spans for end in span]
            spans = [[min(ends), max(ends)], [0, probed.ranks]]
        leaves = slow.kind == "uplink"  # pairs inside the group do not use the uplink
        marks.append({"at": spans, "leaves": leaves, "text": slow.sentence})
    return marks
