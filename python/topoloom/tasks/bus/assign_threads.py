# SPDX-License-Identifier: BSD-3-Clause
"""Assigns the threads of a graph or pattern to one ring bus, or to a two-bus blade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from topoloom._core import Allocation, CommGraph
from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.patterns import PATTERNS, Request, make_graph
from topoloom.support.parameter_error import ParameterError
from topoloom.tasks.bus.affinity import (
    AS_DESCRIBED,
    ELEMENTS,
    Affinities,
    Assignment,
    BandwidthRange,
    BusTiming,
    rank_affinities,
    rates_by_size,
)
from topoloom.tasks.bus.blade import (
    BEST_HALVES,
    THREADS,
    Blade,
    BladeAssignment,
    split_blade,
)

if TYPE_CHECKING:
    from topoloom.documents.ring_buses import (
        BandwidthRangeFields,
        BladeDocument,
        RingBusDocument,
    )

#: Default size of a pattern's messages in bytes.
PATTERN_BYTES = 65536


@dataclass(frozen=True)
class AssignedThreads:
    """Ranked assignments, the chosen assignment, and bandwidths by message size.

    Attributes
    ----------
    ranking, chosen
        The ranked assignments (8 threads on a bus, 16 on a blade), and the chosen one.
    sizes, by_size
        Message sizes in bytes; for each named assignment, the lowest bandwidth at each
        size.
    """

    ranking: Affinities | Blade
    chosen: Assignment | BladeAssignment
    sizes: Sequence[int] = ()
    by_size: dict[str, list[BandwidthRange]] = field(default_factory=dict)

    def document(self) -> RingBusDocument | BladeDocument:
        """Return the fields of the ``--json`` output."""
        if isinstance(self.ranking, Blade):
            return self.ranking.document()
        document = self.ranking.document()
        if self.by_size:
            document["sizes"] = list(self.sizes)
            document["by_size"] = {
                name: [cast("BandwidthRangeFields", rate._asdict()) for rate in rates]
                for name, rates in self.by_size.items()
            }
        return document


def load_threads(graph: str, size: int | None = None) -> CommGraph:
    """Load a graph, or make a pattern with messages of `size` bytes.

    Raises
    ------
    topoloom.Error
        If `size` is given for a file, since a file contains the message sizes.
    """
    if graph not in PATTERNS or Path(graph).exists():
        if size is not None and graph not in PATTERNS:
            raise ParameterError("size", "is for patterns; a file contains its sizes")
        return load_graph(graph)
    return make_graph(graph, Request(ELEMENTS, size or PATTERN_BYTES))


def assign_threads(
    threads: CommGraph,
    allocation: Allocation,
    timing: BusTiming = AS_DESCRIBED,
    *,
    chosen: str = "best",
    by: str = "score",
    levels: int = 5,
    seed: int = 1,
    halves: str = BEST_HALVES,
    sizes: Sequence[int] = (),
) -> AssignedThreads:
    """Rank the assignments of 8 threads to a bus, or of 16 threads to a two-bus blade.

    Parameters
    ----------
    chosen
        The name of an assignment.
    by, levels, seed
        Arguments of `rank_affinities`, for a bus.
    halves
        Argument of `split_blade`, for a blade.
    sizes
        Message sizes in bytes, for a bus.

    Raises
    ------
    topoloom.Error
        If there are neither 8 nor 16 threads, or a name is unknown.
    """
    if threads.rank_count == THREADS:
        blade = split_blade(threads, allocation, timing, halves=halves)
        return AssignedThreads(blade, blade.assignment(chosen))
    ranked = rank_affinities(
        threads, allocation, timing, by=by, levels=levels, seed=seed
    )
    by_size = rates_by_size(threads, allocation, sizes, timing) if sizes else {}
    return AssignedThreads(ranked, ranked.assignment(chosen), sizes, by_size)
