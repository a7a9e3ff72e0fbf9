# SPDX-License-Identifier: BSD-3-Clause
"""The peers' file formats: METIS graphs, Scotch graphs, targets and mappings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from peers.graphs import Graph, Ints


def metis_graph(graph: Graph) -> str:
    """Write a METIS graph, 1-based, weights only where they are not all 1."""
    weighted, loaded = bool((graph.weight != 1).any()), bool((graph.load != 1).any())
    form = f"{int(loaded)}{int(weighted)}"
    head = f"{graph.size} {len(graph.peer) // 2}"
    lines = [head if form == "00" else f"{head} {int(form)}"]
    entries = (graph.peer + 1).astype(str)
    if weighted:
        pairs = np.char.add(np.char.add(entries, " "), graph.weight.astype(str))
        entries = pairs
    words, first = entries.tolist(), graph.first.tolist()
    loads = graph.load.tolist()
    for v in range(graph.size):
        own = [str(loads[v])] if loaded else []
        lines.append(" ".join(own + words[first[v] : first[v + 1]]))
    return "\n".join(lines) + "\n"


def scotch_graph(graph: Graph) -> str:
    """Write a Scotch graph (.grf): arcs count twice, a weight is before its peer."""
    weighted, loaded = bool((graph.weight != 1).any()), bool((graph.load != 1).any())
    lines = ["0", f"{graph.size} {len(graph.peer)}", f"0 0{int(weighted)}{int(loaded)}"]
    entries = graph.peer.astype(str)
    if weighted:
        entries = np.char.add(np.char.add(graph.weight.astype(str), " "), entries)
    words, first = entries.tolist(), graph.first.tolist()
    loads = graph.load.tolist()
    for v in range(graph.size):
        own = [str(loads[v])] if loaded else []
        row = words[first[v] : first[v + 1]]
        lines.append(" ".join([*own, str(len(row)), *row]))
    return "\n".join(lines) + "\n"


def scotch_tree(arities: Sequence[int], distances: Sequence[int]) -> str:
    """Write a tree as Scotch's ``tleaf``.

    Ours is bottom-up with absolute distances; Scotch's is root first, and a distance
    there is the sum of the costs from the level of divergence down to the leaves.
    """
    below = [0, *distances[:-1]]
    levels = [
        f"{arity} {distance - less}"
        for arity, distance, less in zip(arities, distances, below, strict=True)
    ]
    return f"tleaf {len(arities)} {' '.join(reversed(levels))}\n"


def scotch_torus(extents: Sequence[int]) -> str:
    """Write a torus; its first axis is the fastest in Scotch, its last in ours."""
    sizes = " ".join(map(str, reversed(extents)))
    kind = {2: "torus2D", 3: "torus3D"}.get(len(extents), f"torusXD {len(extents)}")
    return f"{kind} {sizes}\n"


def scotch_part(slots: Iterable[int], whole: str) -> str:
    """Write a part of a target: the slots of a ragged allocation."""
    chosen = list(slots)
    return f"sub {len(chosen)} {' '.join(map(str, chosen))}\n{whole}"


def read_scotch_mapping(text: str, size: int) -> Ints:
    """Read a Scotch mapping: vertex and terminal on a line, in any order."""
    words = np.array(text.split(), np.int64)
    if words[0] != size or len(words) != 2 * size + 1:
        raise ValueError(f"a mapping of {words[0]} vertices, expected {size}")
    slot = np.full(size, -1, np.int64)
    slot[words[1::2]] = words[2::2]
    return slot


def read_blocks(text: str, size: int) -> Ints:
    """Read a METIS or KaHIP partition: the block of vertex i on line i."""
    blocks = np.array(text.split(), np.int64)
    if len(blocks) != size:
        raise ValueError(f"a partition of {len(blocks)} vertices, expected {size}")
    return blocks
