# SPDX-License-Identifier: BSD-3-Clause
"""File formats of the peers: METIS graphs, Scotch graphs, targets and mappings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from peers.graphs import Graph, Ints


def format_metis_graph(graph: Graph) -> str:
    """Format a METIS graph: 1-based, with weights only if some are not 1."""
    weighted, loaded = _has_weights(graph)
    form = f" {int(loaded)}{int(weighted)}" if loaded else " 1" if weighted else ""
    lines = [f"{graph.size} {len(graph.peer) // 2}{form}"]
    columns = [graph.peer + 1, graph.weight] if weighted else [graph.peer + 1]
    for v, row in enumerate(_rows(graph, columns)):
        lines.append(" ".join([str(graph.load[v]), *row] if loaded else row))
    return "\n".join(lines) + "\n"


def format_scotch_graph(graph: Graph) -> str:
    """Format a Scotch graph (.grf): edges in both directions, weights before peers."""
    weighted, loaded = _has_weights(graph)
    lines = ["0", f"{graph.size} {len(graph.peer)}", f"0 0{int(weighted)}{int(loaded)}"]
    columns = [graph.weight, graph.peer] if weighted else [graph.peer]
    for v, row in enumerate(_rows(graph, columns)):
        own = [str(graph.load[v])] if loaded else []
        lines.append(" ".join([*own, str(len(row) // len(columns)), *row]))
    return "\n".join(lines) + "\n"


def _has_weights(graph: Graph) -> tuple[bool, bool]:
    return bool((graph.weight != 1).any()), bool((graph.load != 1).any())


def _rows(graph: Graph, columns: Sequence[Ints]) -> Iterator[list[str]]:
    """Yield the words of each vertex, in chunks that limit memory."""
    step = 20_000
    for base in range(0, graph.size, step):
        first = graph.first[base : base + step + 1]
        table = np.stack([c[first[0] : first[-1]] for c in columns], axis=1)
        words = list(map(str, table.ravel().tolist()))
        ends = ((first - first[0]) * len(columns)).tolist()
        for low, high in pairwise(ends):
            yield words[low:high]


def format_scotch_tree(arities: Sequence[int], distances: Sequence[int]) -> str:
    """Format a tree as Scotch's ``tleaf``.

    Our trees are bottom-up with absolute distances. Scotch's are top-down; a distance
    is the sum of the costs from the level of divergence down to the leaves.
    """
    # Omit levels with one child, which Scotch rejects.
    kept = [(a, d) for a, d in zip(arities, distances, strict=True) if a > 1]
    levels, below = [], 0
    for arity, distance in kept:
        levels.append(f"{arity} {distance - below}")
        below = distance
    return f"tleaf {len(levels)} {' '.join(reversed(levels))}\n"


def format_scotch_torus(extents: Sequence[int]) -> str:
    """Format a torus; the first axis varies fastest in Scotch, the last in ours."""
    sizes = " ".join(map(str, reversed(extents)))
    kind = {2: "torus2D", 3: "torus3D"}.get(len(extents), f"torusXD {len(extents)}")
    return f"{kind} {sizes}\n"


def format_scotch_part(slots: Iterable[int], whole: str) -> str:
    """Format a part of a target: the slots of a ragged allocation."""
    chosen = list(slots)
    return f"sub {len(chosen)} {' '.join(map(str, chosen))}\n{whole}"


def read_scotch_mapping(text: str, size: int) -> Ints:
    """Parse a Scotch mapping: a vertex and its terminal per line, in any order."""
    words = np.array(text.split(), np.int64)
    if words[0] != size or len(words) != 2 * size + 1:
        raise ValueError(f"a mapping of {words[0]} vertices, expected {size}")
    slot = np.full(size, -1, np.int64)
    slot[words[1::2]] = words[2::2]
    return slot


def read_blocks(text: str, size: int) -> Ints:
    """Parse a METIS or KaHIP partition: the block of vertex i on line i."""
    blocks = np.array(text.split(), np.int64)
    if len(blocks) != size:
        raise ValueError(f"a partition of {len(blocks)} vertices, expected {size}")
    return blocks
