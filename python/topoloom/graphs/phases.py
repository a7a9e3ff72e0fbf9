# SPDX-License-Identifier: BSD-3-Clause
"""Phases of a pattern: communication graphs that are executed one after the other.

A pattern file contains ``phases``, an int64 array of shape (m, 5): phase, source,
target, bytes, messages; ``phase_names`` is optional. The phases of a recorded run are
those of `graphs.recorded_phases`, of a Pajé trace those of
`graphs.traces.message_phases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoloom._core import CommGraph, Error
from topoloom.graphs.npz import is_archive, load_npz
from topoloom.support.files import prefix_errors
from topoloom.support.npz_archive import open_archive

if TYPE_CHECKING:
    from topoloom.graphs.profile import Profile

Ints = NDArray[np.int64]


def load_phases(path: str | Path) -> list[CommGraph]:
    """Read the phases in a pattern file, in order; [] for a single phase.

    Raises `topoloom.Error` if the sum of the phases is not the graph in the file.
    """
    if not is_archive(path):
        return []
    graph, arrays = load_npz(path)
    if "phases" in arrays:
        with prefix_errors(path):
            return _split_graph(graph, arrays["phases"])
    if "profile_version" in arrays:
        return list(_load_recorded_phases(path, graph).values())
    return []


def load_phase_names(path: str | Path) -> list[str]:
    """Read the names of the phases; [] if phases are unnamed."""
    if not is_archive(path):
        return []
    with open_archive(path) as arrays:
        if "profile_version" in arrays and "phases" not in arrays:
            return list(_load_recorded_phases(path, load_npz(path)[0]))
        if "phase_names" not in arrays:
            return []
        names = arrays["phase_names"]
        numbers = np.unique(arrays["phases"][:, 0]).tolist()
    if names.ndim != 1 or names.dtype.kind != "U" or len(names) <= max(numbers):
        raise Error(f"{path}: 'phase_names' must contain a string for every phase")
    return [str(names[number]) for number in numbers]


def make_phase_array(phases: Sequence[CommGraph]) -> Ints:
    """Make the array that pattern files store as ``phases``."""
    numbered = [
        np.insert(edge_rows(graph), 0, number, axis=1)
        for number, graph in enumerate(phases)
    ]
    return np.concatenate([np.zeros((0, 5), np.int64), *numbered])


def add_phases(phases: Sequence[CommGraph], ranks: int = 0) -> CommGraph:
    """Make the sum of all phases; without phases, a graph of `ranks` without edges."""
    rows = np.concatenate([np.zeros((0, 4), np.int64), *map(edge_rows, phases)])
    return _make_graph(phases[0].rank_count if phases else ranks, rows)


def make_recorded_phases(profile: Profile, collectives: str) -> dict[str, CommGraph]:
    """Make the phases of a recorded run by name; {} for a single phase.

    `collectives` is as in `Profile.graph`.
    """
    from topoloom.graphs.recorded_phases import find_recorded_phases

    found = find_recorded_phases(profile)
    if len(found) < 2:
        return {}
    graphs = {one.name: one.profile.graph(collectives) for one in found}
    with_messages = {name: graph for name, graph in graphs.items() if graph.edge_count}
    return with_messages if len(with_messages) > 1 else {}


def _load_recorded_phases(path: str | Path, graph: CommGraph) -> dict[str, CommGraph]:
    """Load the phases of a recorded run, however its graph contains collectives."""
    from topoloom.graphs.profile import COLLECTIVES, load_profile
    from topoloom.graphs.recorded_phases import find_recorded_phases

    profile = load_profile(path)
    if len(find_recorded_phases(profile)) < 2:
        return {}
    with prefix_errors(path):
        for collectives in reversed(COLLECTIVES):  # the cheapest way first
            phases = make_recorded_phases(profile, collectives)
            if _has_sum(list(phases.values()) or [profile.graph(collectives)], graph):
                return phases
    raise Error(f"{path}: the phases of the run do not add up to the graph")


def edge_rows(graph: CommGraph) -> Ints:
    """Return source, target, bytes and messages of each edge; shape (edges, 4)."""
    first = np.asarray(graph.first, dtype=np.int64)
    source = np.repeat(np.arange(graph.rank_count), first[1:] - first[:-1])
    columns = (source, graph.peer, graph.bytes, graph.messages)
    return np.stack([np.asarray(column, dtype=np.int64) for column in columns], axis=1)


def _split_graph(graph: CommGraph, rows: NDArray[Any]) -> list[CommGraph]:
    if rows.ndim != 2 or rows.shape[1] != 5 or rows.dtype.kind not in "iu":
        raise Error(
            "'phases' must have five columns of integers: phase, source, target, "
            "bytes, messages"
        )
    rows = rows.astype(np.int64)
    if (rows[:, 1:] < 0).any():
        raise Error("'phases' contains a negative number")
    if rows.size and rows[:, 1:3].max() >= graph.rank_count:
        raise Error(
            f"'phases' names rank {rows[:, 1:3].max()}, but ranks are 0 to "
            f"{graph.rank_count - 1}"
        )
    numbers = np.unique(rows[:, 0])
    if len(numbers) < 2:
        return []
    phases = [
        _make_graph(graph.rank_count, rows[rows[:, 0] == number, 1:])
        for number in numbers
    ]
    if not _has_sum(phases, graph):
        raise Error("'phases' does not add up to the graph")
    return phases


def _has_sum(phases: Sequence[CommGraph], graph: CommGraph) -> bool:
    return np.array_equal(edge_rows(add_phases(phases)), edge_rows(graph))


def _make_graph(ranks: int, rows: Ints) -> CommGraph:
    source, target = rows[:, :2].astype(np.uint32).T
    return CommGraph.from_edges(ranks, source, target, rows[:, 2], rows[:, 3])
