# SPDX-License-Identifier: BSD-3-Clause
"""Sums up a communication graph: totals, bytes per rank, heaviest pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.graphs.graph_file import load_graph
from topoloom.graphs.mpi_time import MpiTime, load_mpi_time
from topoloom.graphs.npz import is_archive, load_npz
from topoloom.graphs.phases import edge_rows, load_phases
from topoloom.graphs.profile import load_profile
from topoloom.placements.placement_file import load_placement
from topoloom.support.file_kinds import PLACEMENT, find_file_kind
from topoloom.tasks.graphs.pattern import import_pattern, is_trace

if TYPE_CHECKING:
    from topoloom.documents.patterns import (
        BytesPerRankFields,
        HeavyPair,
        MpiTimeFields,
        PatternShowDocument,
        StoredCollectivesFields,
    )

#: Number of pairs that are shown.
_PAIRS = 5


class BytesPerRank(NamedTuple):
    """The least, mean and most bytes of a rank."""

    min: int
    mean: float
    max: int


class StoredCollectives(NamedTuple):
    """Collectives that a file stores, and whether the edges include them.

    Collectives with a size per pair of ranks, such as alltoallv, are stored as
    messages.
    """

    calls: dict[str, int]
    messages: int
    in_edges: bool


class ShownGraph(NamedTuple):
    """A communication graph, its phases, stored collectives, and times in MPI calls."""

    graph: CommGraph
    phases: int
    collectives: StoredCollectives | None
    mpi_time: MpiTime | None = None

    def sent(self) -> BytesPerRank:
        """Sum up the bytes that ranks send."""
        return self._sum_by_rank(0)

    def received(self) -> BytesPerRank:
        """Sum up the bytes that ranks receive."""
        return self._sum_by_rank(1)

    def heaviest_pairs(self) -> list[HeavyPair]:
        """List the pairs of ranks with the most bytes, heaviest first."""
        edges = edge_rows(self.graph)
        heaviest = edges[np.argsort(-edges[:, 2], kind="stable")[:_PAIRS]]
        return [
            {"source": source, "target": target, "bytes": amount, "messages": count}
            for source, target, amount, count in heaviest.tolist()
        ]

    def document(self) -> PatternShowDocument:
        """Return the fields of the ``--json`` output."""
        graph, stored = self.graph, self.collectives
        return {
            "ranks": graph.rank_count,
            "edges": graph.edge_count,
            "bytes": int(graph.total_bytes),
            "messages": int(graph.total_messages),
            "phases": self.phases,
            "self_bytes": int(np.asarray(graph.self_bytes).sum()),
            "proxied": len(graph.proxied),
            "sent_per_rank": cast("BytesPerRankFields", self.sent()._asdict()),
            "received_per_rank": cast("BytesPerRankFields", self.received()._asdict()),
            "heaviest_pairs": self.heaviest_pairs(),
            "collectives": cast(
                "StoredCollectivesFields | None", stored and stored._asdict()
            ),
            "mpi_time": cast(
                "MpiTimeFields | None", self.mpi_time and self.mpi_time._asdict()
            ),
        }

    def _sum_by_rank(self, column: int) -> BytesPerRank:
        edges, ranks = edge_rows(self.graph), self.graph.rank_count
        if ranks == 0:
            return BytesPerRank(0, 0.0, 0)
        sums = np.zeros(ranks, dtype=np.int64)
        np.add.at(sums, edges[:, column], edges[:, 2])
        return BytesPerRank(int(sums.min()), float(sums.mean()), int(sums.max()))


def show_graph(path: str | Path) -> ShownGraph:
    """Load a communication graph in any supported format, and sum it up.

    The trace of a job is converted; a placement stands for its graph.

    Raises
    ------
    topoloom.Error
        If the file is no graph.
    """
    if is_trace(path):
        return _show_trace(path)
    if find_file_kind(path) == PLACEMENT:
        path = _find_graph_of_placement(path)
    graph = load_graph(path)
    phases = len(load_phases(path)) or 1
    return ShownGraph(
        graph, phases, _find_collectives(path, graph), load_mpi_time(path)
    )


def _show_trace(path: str | Path) -> ShownGraph:
    made = import_pattern(path)
    calls = made.profile.count_calls() if made.profile else {}
    messages = int(made.profile.direct().messages.sum()) if made.profile else 0
    stored = StoredCollectives(calls, messages, in_edges=True)
    return ShownGraph(made.graph, 1, stored if calls or messages else None)


def _find_graph_of_placement(path: str | Path) -> Path:
    """Find the graph that a placement names, beside it or where the command ran."""
    named = load_placement(path).graph
    if not named:
        raise Error(f"{path} is a placement that names no communication graph")
    for folder in (Path(path).parent, Path()):
        inside = not Path(named).is_absolute() and ".." not in Path(named).parts
        if inside and (folder / named).is_file():
            return folder / named
    raise Error(
        f"{path} is a placement of the graph {named:.60}, which is not beside or below "
        "it"
    )


def _find_collectives(path: str | Path, graph: CommGraph) -> StoredCollectives | None:
    if not is_archive(path) or "profile_version" not in load_npz(path)[1]:
        return None
    profile = load_profile(path)
    calls, messages = profile.count_calls(), int(profile.direct().messages.sum())
    if not calls and not messages:
        return None
    without = profile.graph("drop")
    in_edges = bool(graph.total_messages != without.total_messages)
    return StoredCollectives(calls, messages, in_edges)
