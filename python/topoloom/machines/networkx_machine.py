# SPDX-License-Identifier: BSD-3-Clause
"""Machines from graphs of NetworkX, whose edges are links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from topoloom._core import Error, Machine
from topoloom.graphs.networkx_graph import check_graph


def from_networkx(
    graph: Any,
    nodes: Iterable[Any] | None = None,
    bandwidth: str | None = "bandwidth",
    latency: str | None = "latency",
) -> Machine:
    """Do what `Machine.from_networkx` says."""
    check_graph(graph)
    if graph.is_multigraph():
        raise Error(
            "the graph may have parallel links; give a Graph or DiGraph with one link "
            "each, which has the sum of their bandwidths"
        )
    first = _labels(graph, nodes)
    chosen = set(first)
    order = first + [label for label in graph if label not in chosen]
    number = {label: at for at, label in enumerate(order)}
    links = [(number[u], number[v]) for u, v in graph.edges()]
    return Machine.from_links(
        np.array(links, np.int64).reshape(-1, 2),
        _attribute(graph, bandwidth, 1.0),
        _attribute(graph, latency, 0.0),
        nodes=len(first),
        directed=graph.is_directed(),
    )


def _labels(graph: Any, nodes: Iterable[Any] | None) -> list[Any]:
    """List the labels of nodes, each once."""
    if nodes is None:
        return list(graph)
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise TypeError("nodes must be a list of the graph's labels")
    labels = list(nodes)
    seen = set()
    for label in labels:
        if not _is_in(label, graph):
            raise Error(f"nodes names {_shown(label)}, which the graph does not have")
        if label in seen:
            raise Error(f"nodes names {_shown(label)} twice")
        seen.add(label)
    return labels


def _attribute(graph: Any, name: str | None, otherwise: float) -> Any:
    """List what links have under this name; one number where none has it."""
    missing = []
    values = []
    for u, v, data in graph.edges(data=True):
        if name is not None and name in data:
            values.append(data[name])
        else:
            missing.append((u, v))
    if not values:
        return otherwise
    if missing:
        raise Error(
            f"link {_shown(missing[0])} has no attribute {name!r}, but others have; "
            "give it to all"
        )
    return values


def _is_in(label: Any, graph: Any) -> bool:
    try:
        return label in graph
    except TypeError:  # cannot be hashed
        return False


def _shown(label: Any) -> str:
    return repr(label).replace("\n", " ")[:60]
