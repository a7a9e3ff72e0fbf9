# SPDX-License-Identifier: BSD-3-Clause
"""Converts NetworkX graphs to machines; edges become links."""

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
    """Implement `Machine.from_networkx`."""
    check_graph(graph)
    if graph.is_multigraph():
        raise Error(
            "the graph is a multigraph; pass a Graph or DiGraph with one link instead "
            "of parallel links, and the sum of their bandwidths"
        )
    first = _list_node_labels(graph, nodes)
    chosen = set(first)
    order = first + [label for label in graph if label not in chosen]
    number = {label: at for at, label in enumerate(order)}
    links = [(number[u], number[v]) for u, v in graph.edges()]
    return Machine.from_links(
        np.array(links, np.int64).reshape(-1, 2),
        _read_link_attribute(graph, bandwidth, 1.0),
        _read_link_attribute(graph, latency, 0.0),
        nodes=len(first),
        directed=graph.is_directed(),
    )


def _list_node_labels(graph: Any, nodes: Iterable[Any] | None) -> list[Any]:
    """Check and list the graph labels of nodes."""
    if nodes is None:
        return list(graph)
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise TypeError("nodes must be a list of the graph's labels")
    labels = list(nodes)
    seen = set()
    for label in labels:
        if not _is_label_in(label, graph):
            raise Error(
                f"nodes names {_format_label(label)}, which the graph does not have"
            )
        if label in seen:
            raise Error(f"nodes names {_format_label(label)} twice")
        seen.add(label)
    return labels


def _read_link_attribute(graph: Any, name: str | None, default: float) -> Any:
    """List an attribute of all links; return the default if no link has it."""
    missing = []
    values = []
    for u, v, data in graph.edges(data=True):
        if name is not None and name in data:
            values.append(data[name])
        else:
            missing.append((u, v))
    if not values:
        return default
    if missing:
        raise Error(
            f"link {_format_label(missing[0])} has no attribute {name!r}, but others "
            "have; set it for all links"
        )
    return values


def _is_label_in(label: Any, graph: Any) -> bool:
    try:
        return label in graph
    except TypeError:  # label is not hashable
        return False


def _format_label(label: Any) -> str:
    return repr(label).replace("\n", " ")[:60]
