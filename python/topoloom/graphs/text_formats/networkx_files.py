# SPDX-License-Identifier: BSD-3-Clause
"""Reads GML and GraphML, which NetworkX and igraph write, by NetworkX."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from topoloom._core import CommGraph, Error
from topoloom.support.optional_imports import import_optional

#: NetworkX needs up to 100 times the size of a file.
MAX_BYTES = 32 << 20
_USED_BY_EDGES = {"bytes", "weight", "messages", "id"}
_USED_BY_NODES = {"load", "label", "id", "name"}
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_LABEL = re.compile(r"([^0-9]*)([0-9]{1,9})")


class NamedGraph(NamedTuple):
    """A communication graph, the number of rounded values, and remarks."""

    graph: CommGraph
    rounded: int
    remarks: list[str]


def read_gml(data: bytes, scale: float | None) -> NamedGraph:
    """Read GML: node labels or ids are ranks, ``bytes`` or ``weight`` is bytes."""

    def parse(networkx: Any, text: str) -> Any:
        lines = text.splitlines()
        try:
            return networkx.parse_gml(lines)
        except networkx.NetworkXError as error:
            if "label" not in str(error):
                raise
            return networkx.parse_gml(lines, label="id")

    return _read("GML", data, scale, parse)


def read_graphml(data: bytes, scale: float | None) -> NamedGraph:
    """Read GraphML: node ids are ranks, ``bytes`` or ``weight`` is bytes."""
    if _DECLARATION.search(data):
        raise Error("declares a DOCTYPE or entities, which is not supported; remove it")

    def parse(networkx: Any, text: str) -> Any:
        return networkx.read_graphml(io.BytesIO(text.encode()))

    return _read("GraphML", data, scale, parse)


def _read(
    name: str, data: bytes, scale: float | None, parse: Callable[[Any, str], Any]
) -> NamedGraph:
    if len(data) > MAX_BYTES:
        raise Error(
            f"larger than the limit of {MAX_BYTES >> 20} MiB for {name}; convert it to "
            "an edge list"
        )
    networkx = import_optional("networkx", f"reading {name}")
    try:
        graph = parse(networkx, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Error("not a text file") from None
    except (MemoryError, Error):
        raise
    except Exception as error:  # NetworkX raises errors of many types.
        what = " ".join(str(error).split()) or type(error).__name__
        raise Error(f"not {name}: {what}") from None
    weight = _find_weight(graph)
    rounded = 0 if scale is None else _scale_weights(graph, weight, scale)
    remarks = [*_describe_unused("edge", graph.edges(data=True), _USED_BY_EDGES)]
    remarks += _describe_unused("node", graph.nodes(data=True), _USED_BY_NODES)
    ranks = _find_ranks(list(graph))
    if ranks is not None:
        graph = networkx.relabel_nodes(graph, ranks, copy=True)
    return NamedGraph(CommGraph.from_networkx(graph, weight), rounded, remarks)


def _find_weight(graph: Any) -> str:
    """Find the attribute with the bytes of all edges."""
    names: set[str] = set()
    for *_, attributes in graph.edges(data=True):
        names.update(attributes)
    weight = "bytes" if "bytes" in names else "weight"
    for u, v, attributes in graph.edges(data=True):
        value = attributes.get(weight)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Error(
                f"edge ({u}, {v}) has no number as '{weight}'; each edge needs its "
                "bytes in 'bytes' or 'weight'"
            )
        if not math.isfinite(value):
            raise Error(f"edge ({u}, {v}): {weight} is {value}")
    return weight


def _scale_weights(graph: Any, weight: str, scale: float) -> int:
    """Multiply the bytes of all edges; return how many are rounded."""
    rounded = 0
    for *_, attributes in graph.edges(data=True):
        product = attributes[weight] * scale
        if not product < 2**63:
            raise Error("the bytes of an edge times the scale are 2^63 or more")
        attributes[weight] = round(product)
        rounded += abs(attributes[weight] - product) > 1e-9 * abs(product)
    return rounded


def _describe_unused(what: str, entries: Any, used: set[str]) -> list[str]:
    counts: dict[str, int] = {}
    for *_, attributes in entries:
        for name in attributes.keys() - used:
            counts[name] = counts.get(name, 0) + 1
    return [
        f"{what} attribute '{name}' is not used ({count} values)"
        for name, count in sorted(counts.items())
    ]


def _find_ranks(labels: list[Any]) -> dict[Any, int] | None:
    """Map labels such as "0" or "n0" to ranks if they are 0 to n - 1."""
    found = [_LABEL.fullmatch(str(label)) for label in labels]
    if not all(found) or len({match[1] for match in found if match}) > 1:
        return None
    ranks = [int(match[2]) for match in found if match]
    if sorted(ranks) != list(range(len(labels))):
        return None
    return dict(zip(labels, ranks, strict=True))
