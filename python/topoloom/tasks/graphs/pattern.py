# SPDX-License-Identifier: BSD-3-Clause
"""Generates or imports a communication graph with its phases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.graphs.gpu_nodes import GPUS_PER_NODE
from topoloom.graphs.graph_file import FORMATS, read_graph, save_graph
from topoloom.graphs.patterns import PATTERNS, Request, make_graph, make_phases
from topoloom.graphs.phases import load_phase_names, load_phases, make_phase_array
from topoloom.graphs.profile import BY_NCCL, COLLECTIVES, Profile
from topoloom.graphs.traces.trace_formats import (
    FORMATS as TRACES,
    detect_trace_format,
    read_trace,
)
from topoloom.support.name_lookup import describe_unknown_name

if TYPE_CHECKING:
    from topoloom.documents.patterns import GraphFacts, HeaviestEdge, PatternDocument


class PatternResult(NamedTuple):
    """A communication graph with phases and their names.

    For an imported trace, also the profile and descriptions of missing data; for other
    files, what was changed or left out.
    """

    name: str
    graph: CommGraph
    phases: Sequence[CommGraph] = ()
    phase_names: Sequence[str] = ()
    profile: Profile | None = None
    collectives: str = "expand"
    losses: Sequence[str] = ()
    gpus_per_node: int = GPUS_PER_NODE
    remarks: Sequence[str] = ()

    def save(self, path: str | Path) -> None:
        """Write the communication graph as .npz."""
        if self.profile is not None:
            self.profile.save(path, self.collectives, self.gpus_per_node)
            return
        extra: dict[str, Any] = {}
        if self.phases:
            extra["phases"] = make_phase_array(list(self.phases))
        if self.phase_names:
            extra["phase_names"] = self.phase_names
        save_graph(path, self.graph, extra)

    def facts(self) -> GraphFacts:
        """Count ranks, edges, bytes and messages; find the heaviest edge."""
        graph = self.graph
        heaviest: HeaviestEdge | None = None
        if graph.edge_count:
            edge = int(np.argmax(graph.bytes))
            source = int(np.searchsorted(graph.first, edge, side="right")) - 1
            heaviest = {
                "source": source,
                "target": int(graph.peer[edge]),
                "bytes": int(graph.bytes[edge]),
            }
        degrees = np.diff(np.asarray(graph.first).astype(np.int64))
        return {
            "ranks": graph.rank_count,
            "edges": graph.edge_count,
            "bytes": int(graph.total_bytes),
            "messages": int(graph.total_messages),
            "proxied": len(graph.proxied),
            "phases": len(self.phases) or 1,
            "self_bytes": int(np.asarray(graph.self_bytes).sum()),
            "peers_average": float(degrees.mean()) if len(degrees) else 0.0,
            "peers_max": int(degrees.max(initial=0)),
            "heaviest": heaviest,
        }

    def document(self, output: str | None = None) -> PatternDocument:
        """Return the fields of the ``--json`` output."""
        facts = cast("PatternDocument", self.facts())
        document: PatternDocument = {**facts, "pattern": self.name, "output": output}
        if self.profile is not None:
            document["losses"] = list(self.losses)
        if self.remarks:
            document["remarks"] = list(self.remarks)
        return document


def import_pattern(
    path: str | Path,
    kind: str | None = None,
    *,
    collectives: str = "expand",
    partial: bool = False,
    gpus_per_node: int = GPUS_PER_NODE,
    scale: float | None = None,
) -> PatternResult:
    """Load a graph file of another program, or the trace of a job.

    Parameters
    ----------
    path
        A file; for a trace also a directory or a glob pattern with the files of all
        ranks.
    kind
        The format; detected by default.
    collectives
        Collectives of a trace: ``expand`` converts them to messages of an MPI library,
        ``nccl`` to messages of NCCL; ``keep`` stores them beside the graph; ``drop``
        ignores them.
    partial
        Whether incomplete traces are accepted.
    gpus_per_node
        Ranks per node, for ``nccl``.
    scale
        Factor for the values of a graph; products are rounded to integers.
    """
    if collectives not in (*COLLECTIVES, BY_NCCL):
        raise Error(
            f"collectives: '{collectives}' is none of "
            f"{', '.join([*COLLECTIVES, BY_NCCL])}"
        )
    if kind is not None and kind not in (*FORMATS, *TRACES):
        raise Error(describe_unknown_name("graph format", kind, [*FORMATS, *TRACES]))
    if is_trace(path, kind):
        if scale is not None:
            raise Error(f"{path} is the trace of a job, whose values are bytes")
        profile, losses = read_trace(path, kind, partial)
        graph = profile.graph(collectives, None, gpus_per_node)
        facts = (profile, collectives, tuple(losses), gpus_per_node)
        return PatternResult("import", graph, (), (), *facts)
    graph, remarks = read_graph(path, kind, scale)
    return PatternResult(
        "import", graph, load_phases(path), load_phase_names(path), remarks=remarks
    )


def is_trace(path: str | Path, kind: str | None = None) -> bool:
    """Return whether a file is a trace of a job instead of a graph."""
    if kind is not None:
        return kind in TRACES
    return Path(path).suffix != ".npz" and detect_trace_format(path) is not None


def generate_pattern(
    name: str, request: Request, with_phases: bool = False
) -> PatternResult:
    """Generate a pattern from `topoloom list patterns`, optionally with its phases."""
    if name not in PATTERNS:
        raise Error(describe_unknown_name("pattern", name, PATTERNS))
    graph = make_graph(name, request)
    if not with_phases:
        return PatternResult(name, graph)
    phases = make_phases(name, request)
    phase_names = PATTERNS[name].phase_names
    names = phase_names(request) if phases and phase_names else ()
    return PatternResult(name, graph, phases, names)
