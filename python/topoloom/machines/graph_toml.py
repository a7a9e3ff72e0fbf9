# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes the nodes, switches and links of an explicit graph in TOML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.support.toml_values import (
    FRACTIONS,
    check_quantity,
    get_entry,
    is_id_list,
)
from topoloom.support.units import parse_bandwidth, parse_latency

KEYS = ("nodes", "switches", "links", "links_file")


def read_graph_body(topology: dict[str, Any], folder: Path) -> str:
    """Convert TOML keys to ``nodes+switches:link,...``; `links_file` is in `folder`."""
    if ("links" in topology) == ("links_file" in topology):
        raise Error("a graph needs either topology.links or topology.links_file")
    if "links_file" in topology:
        nodes, switches, links = _read_links_file(topology, folder)
    else:
        nodes = get_entry(topology, "nodes", int, "topology.nodes")
        switches = topology.get("switches", 0)
        if type(switches) is not int or switches < 0:
            raise Error("topology.switches must be an integer, 0 or more")
        listed = get_entry(topology, "links", list, "topology.links")
        links = [_format_toml_link(link, index) for index, link in enumerate(listed)]
    counts = f"{nodes}+{switches}" if switches else str(nodes)
    return f"{counts}:{','.join(links)}"


def _read_links_file(
    topology: dict[str, Any], folder: Path
) -> tuple[int, int, list[str]]:
    rate = "1"
    if "bandwidth" in topology:
        rate = check_quantity(
            topology["bandwidth"], "topology.bandwidth", parse_bandwidth
        )
    name = get_entry(topology, "links_file", str, "topology.links_file")
    vertices, links = read_metis_links(folder / name, parse_bandwidth(rate))
    nodes = topology.get("nodes", vertices)
    switches = vertices - nodes if isinstance(nodes, int) else 0
    if type(nodes) is not int or not 0 < nodes <= vertices:
        raise Error(f"topology.nodes must be 1 to {vertices}, the vertices of {name}")
    if topology.get("switches", switches) != switches:
        raise Error(f"topology.switches must be {switches}, the rest of {name}")
    return nodes, switches, links


def _format_toml_link(link: Any, index: int) -> str:
    where = f"topology.links[{index}]"
    if isinstance(link, str) and "," not in link:
        return link.replace(" ", "")
    if isinstance(link, list) and 2 <= len(link) <= 4 and is_id_list(link[:2]):
        text = f"{link[0]}-{link[1]}"
        if len(link) > 2:
            text += "@" + check_quantity(link[2], where, parse_bandwidth, FRACTIONS)
        if len(link) > 3:
            text += "@" + check_quantity(link[3], where, parse_latency)
        return text
    raise Error(
        f'{where} must be [0, 1], [0, 1, "2 GB/s"], [0, 1, "2 GB/s", "1 us"], "0-1" '
        'or "0>1"'
    )


def is_link(text: Any) -> bool:
    """Return whether this is a link such as ``0-1`` or ``0>1``."""
    return isinstance(text, str) and re.fullmatch(r"[0-9]+[->][0-9]+", text) is not None


def read_metis_links(path: str | Path, bandwidth: float) -> tuple[int, list[str]]:
    """Read the vertex count and links of a METIS graph; weights scale bandwidth."""
    import numpy as np

    from topoloom.graphs.graph_file import load_graph

    graph = load_graph(path, "metis")
    count = graph.rank_count
    source = np.repeat(np.arange(count), np.diff(np.asarray(graph.first).astype(int)))
    links = []
    for u, v, weight in zip(
        source.tolist(), graph.peer.tolist(), graph.bytes.tolist(), strict=True
    ):
        if u < v:
            speed = f"@{weight * bandwidth:.17g}B/s" if weight != 1 else ""
            links.append(f"{u}-{v}{speed}")
    return count, links


def write_graph_body(body: str, links: list[str]) -> dict[str, Any]:
    """Build the TOML keys that `read_graph_body` reads."""
    counts, _, first = body.partition(":")
    nodes, _, switches = counts.partition("+")
    table: dict[str, Any] = {"nodes": int(nodes)}
    if switches:
        table["switches"] = int(switches)
    table["links"] = [first, *links] if first else links
    return table
