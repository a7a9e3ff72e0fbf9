# SPDX-License-Identifier: BSD-3-Clause
"""Converts communication graphs from and to NetworkX."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoloom._core import CommGraph, Error
from topoloom.support.optional_imports import import_optional


def from_networkx(graph: Any, weight: str | None = "bytes") -> CommGraph:
    """Implement `CommGraph.from_networkx`."""
    check_graph(graph)
    rank_of = _number_labels(list(graph))
    sources, targets, sizes, messages = [], [], [], []
    for u, v, data in graph.edges(data=True):
        if weight is not None and weight not in data:
            raise Error(
                f"edge ({u!r}, {v!r}) has no attribute {weight!r}; name the one with "
                "its bytes in weight, or give None for 1 byte each".replace("\n", " ")
            )
        size = 1 if weight is None else data[weight]
        ends = [(rank_of[u], rank_of[v])]
        if not graph.is_directed() and u != v:
            ends.append((rank_of[v], rank_of[u]))
        for source, target in ends:
            sources.append(source)
            targets.append(target)
            sizes.append(size)
            messages.append(data.get("messages", 1))
    loads = [(rank_of[v], data.get("load", 1)) for v, data in graph.nodes(data=True)]
    given = any("load" in data for _, data in graph.nodes(data=True))
    load = [one for _, one in sorted(loads, key=lambda pair: pair[0])]
    return CommGraph.from_edges(
        len(rank_of), sources, targets, sizes, messages, load if given else None
    )


def to_networkx(graph: CommGraph) -> Any:
    """Implement `CommGraph.to_networkx`."""
    networkx = import_optional("networkx", "to_networkx()")
    made = networkx.DiGraph()
    for rank, load in enumerate(graph.load.tolist()):
        made.add_node(rank, load=load)
    first, peer = graph.first.tolist(), graph.peer.tolist()
    sizes, messages = graph.bytes.tolist(), graph.messages.tolist()
    for rank in range(graph.rank_count):
        for at in range(first[rank], first[rank + 1]):
            made.add_edge(rank, peer[at], bytes=sizes[at], messages=messages[at])
    own = zip(graph.self_bytes.tolist(), graph.self_messages.tolist(), strict=True)
    for rank, (size, count) in enumerate(own):
        if size or count:
            made.add_edge(rank, rank, bytes=size, messages=count)
    return made


def check_graph(graph: Any) -> None:
    """Raise an error for objects that are not NetworkX graphs."""
    networkx = import_optional("networkx", "from_networkx()")
    if not isinstance(graph, networkx.Graph):
        raise TypeError(
            f"graph must be a networkx.Graph or DiGraph, not {type(graph).__name__}"
        )


def _number_labels(labels: list[Any]) -> dict[Any, int]:
    """Map labels to ranks: labels 0 to n-1 are ranks, others are numbered in order."""
    numbers = all(
        isinstance(label, int | np.integer)
        and not isinstance(label, bool)
        and 0 <= label < len(labels)
        for label in labels
    )
    return {label: int(label) if numbers else at for at, label in enumerate(labels)}
