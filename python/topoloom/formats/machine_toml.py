# SPDX-License-Identifier: BSD-3-Clause
"""Machine descriptions in TOML, to and from the short text of the core.

A description says what the short text says, key by key, with room for a name, a
source and a date::

    format = "topoloom-machine"
    version = 1
    name = "an example"

    [topology]
    kind = "torus"                      # torus, mesh, tree or graph
    size = [17, 8, 24]
    nodes = 2                           # nodes per router
    bandwidth = { default = "9.4 GB/s", y = "4.7 GB/s" }
    latency = "1.3 us"
    hosts = "n[0001-6528]"              # names of the nodes, from node 0 on

    [node]
    levels = [16, 2]                    # bottom-up: 2 sockets of 16 slots
    distance = [1, 2]
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.discover.described import Described
from topoloom.files import MOST_BYTES, read_text
from topoloom.formats.allocation_toml import read_allocation_tables
from topoloom.hostlist import expand_hostlist
from topoloom.nearest import unknown_name
from topoloom.units import parse_bandwidth, parse_latency

FORMAT = "topoloom-machine"
VERSION = 1
_AXES = "xyzabcdefghijklmnopqrstuvw"
_MOST_HOSTS = 4_000_000
_FRACTIONS = ("half", "double", "quarter")
_ABOUT = ("name", "summary", "source", "date")
_KEYS = {
    "torus": ("size", "wrap", "nodes", "order", "ties", "bandwidth", "latency"),
    "mesh": ("size", "nodes", "order", "ties", "bandwidth", "latency"),
    "tree": ("levels", "distance", "bandwidth", "latency"),
    "graph": (
        "nodes",
        "switches",
        "links",
        "links_file",
        "routes",
        "bandwidth",
        "latency",
    ),
}


def read_machine_toml(path: str | Path) -> tuple[Described, dict[str, str]]:
    """Read a description; return the machine, and name, summary, source, date.

    Raises
    ------
    topoloom.Error
        Naming the file and the key that is wrong.
    OSError
        If the file cannot be read.
    """
    text = read_text(path, most=MOST_BYTES)
    if not text.strip():
        raise Error(f"{path}: the file is empty")
    document = _parse(path, text)
    try:
        return _described(document, Path(path).parent), {
            key: _typed(document, key, str, key) for key in _ABOUT if key in document
        }
    except Error as error:
        raise Error(f"{path}: {error}") from None


def _parse(path: str | Path, text: str) -> dict[str, Any]:
    try:
        tomllib = importlib.import_module(
            "tomllib" if sys.version_info >= (3, 11) else "tomli"
        )
    except ModuleNotFoundError:
        raise Error(
            f"{path}: reading TOML on Python 3.10 needs tomli; "
            "install it with: pip install tomli"
        ) from None
    try:
        document: dict[str, Any] = tomllib.loads(text)
        return document
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).partition(" (at line ")
        line = where.partition(",")[0]
        place = f"{path}:{line}" if line.isdigit() else str(path)
        raise Error(f"{place}: not TOML: {what}") from None
    except ValueError:  # Python's own limit; other errors of values are decoding errors
        raise Error(
            f"{path}: not TOML that can be read: a number is too long"
        ) from None
    except RecursionError:
        raise Error(f"{path}: not TOML that can be read: nested too deeply") from None


def _described(document: dict[str, Any], folder: Path) -> Described:
    if document.get("format") != FORMAT:
        found = document.get("format")
        raise Error(f'format is {found!r}, expected "{FORMAT}"')
    if document.get("version") != VERSION:
        raise Error(
            f"{FORMAT} version {document.get('version')}, "
            f"but this Topoloom reads version {VERSION}"
        )
    known = ("format", "version", *_ABOUT, "topology", "node", "allocation")
    _refuse_unknown(document, known, "")
    topology = _typed(document, "topology", dict, "[topology]")
    kind = _typed(topology, "kind", str, "topology.kind")
    if kind not in _KEYS:
        raise Error(unknown_name("topology.kind", kind, _KEYS))
    _refuse_unknown(topology, ("kind", *_KEYS[kind], "hosts"), "topology.")
    if kind == "graph":
        text = _graph(topology, folder)
    elif kind == "tree":
        text = _tree(topology)
    else:
        text = _torus(kind, topology)
    allocated = read_allocation_tables(document)
    return Described(text + _node(document), _hosts(topology), allocated)


def _hosts(topology: dict[str, Any]) -> tuple[str, ...]:
    given = topology.get("hosts", [])
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list) or not all(isinstance(host, str) for host in given):
        raise Error('topology.hosts must be a host list, as "n[01-64]", or a list')
    hosts: list[str] = []
    for item in given:
        try:
            hosts += expand_hostlist(item)
        except Error as error:
            raise Error(f"topology.hosts: {error}") from None
        if len(hosts) > _MOST_HOSTS:
            raise Error(f"topology.hosts names over {_MOST_HOSTS} hosts")
    return tuple(hosts)


def _torus(kind: str, topology: dict[str, Any]) -> str:
    size = _numbers(topology, "size", least=1)
    parts = [f"{kind}:{'x'.join(map(str, size))}"]
    if "wrap" in topology:
        wrap = _typed(topology, "wrap", list, "topology.wrap")
        if len(wrap) != len(size) or not all(isinstance(w, bool) for w in wrap):
            raise Error(f"topology.wrap must be {len(size)} times true or false")
        if not all(wrap):
            parts.append("wrap=" + "".join("1" if w else "0" for w in wrap))
    if "nodes" in topology:
        nodes = _typed(topology, "nodes", int, "topology.nodes")
        if nodes != 1:
            parts.append(f"nodes={nodes}")
    if "order" in topology:
        parts.append("order=" + ":".join(map(str, _order(topology, len(size)))))
    if "ties" in topology:
        parts.append(f"ties={_typed(topology, 'ties', str, 'topology.ties')}")
    parts += _per_axis(topology, "bandwidth", parse_bandwidth, len(size))
    parts += _per_axis(topology, "latency", parse_latency, len(size))
    return ",".join(parts)


def _order(topology: dict[str, Any], axes: int) -> list[int]:
    order = topology["order"]
    if isinstance(order, str):
        order = list(order)
    names = _AXES[:axes]
    if not isinstance(order, list) or sorted(map(str, order)) not in (
        sorted(names),
        sorted(map(str, range(axes))),
    ):
        raise Error(f'topology.order must name each axis once, as "{names}"')
    return [names.index(axis) if isinstance(axis, str) else axis for axis in order]


def _per_axis(
    topology: dict[str, Any], key: str, parse: Callable[[str], float], axes: int
) -> list[str]:
    if key not in topology:
        return []
    value = topology[key]
    table = value if isinstance(value, dict) else {"default": value}
    parts: list[str] = []
    for axis, quantity in table.items():
        where = f"topology.{key}" + ("" if axis == "default" else f".{axis}")
        if axis == "default":
            parts.insert(0, f"{key}={_quantity(quantity, where, parse)}")
            continue
        name = axis[:-1] if axis[-1:] in ("+", "-") else axis
        if name not in list(_AXES[:axes]):
            names = ", ".join(_AXES[:axes])
            raise Error(f"{where}: the axes are {names} (x+ and x- for one direction)")
        words = _FRACTIONS if key == "bandwidth" else ()
        parts.append(f"{key}.{axis}={_quantity(quantity, where, parse, words)}")
    return parts


def _tree(topology: dict[str, Any]) -> str:
    levels = _numbers(topology, "levels", least=1)
    parts = [f"tree:{':'.join(map(str, levels))}"]
    if "distance" in topology:
        distance = _numbers(topology, "distance", least=0)
        parts.append(f"distance={':'.join(map(str, distance))}")
    for key, parse in (("bandwidth", parse_bandwidth), ("latency", parse_latency)):
        if key not in topology:
            continue
        given = topology[key]
        values = given if isinstance(given, list) else [given]
        if isinstance(given, list) and len(values) != len(levels):
            raise Error(f"topology.{key} must have an entry for each level")
        written = [_quantity(value, f"topology.{key}", parse) for value in values]
        parts.append(f"{key}={':'.join(written)}")
    return ",".join(parts)


def _graph(topology: dict[str, Any], folder: Path) -> str:
    if ("links" in topology) == ("links_file" in topology):
        raise Error("a graph needs either topology.links or topology.links_file")
    bandwidth = topology.get("bandwidth")
    rate = None
    if bandwidth is not None:
        rate = _quantity(bandwidth, "topology.bandwidth", parse_bandwidth)
    if "links_file" in topology:
        name = _typed(topology, "links_file", str, "topology.links_file")
        vertices, links = metis_links(folder / name, parse_bandwidth(rate or "1"))
        nodes = topology.get("nodes", vertices)
        switches = vertices - nodes if isinstance(nodes, int) else 0
        if type(nodes) is not int or not 0 < nodes <= vertices:
            raise Error(
                f"topology.nodes must be 1 to {vertices}, the vertices of {name}"
            )
        if topology.get("switches", switches) != switches:
            raise Error(f"topology.switches must be {switches}, the rest of {name}")
    else:
        nodes = _typed(topology, "nodes", int, "topology.nodes")
        switches = topology.get("switches", 0)
        if type(switches) is not int or switches < 0:
            raise Error("topology.switches must be a whole number, 0 or more")
        listed = _typed(topology, "links", list, "topology.links")
        links = [_link(link, index) for index, link in enumerate(listed)]
    counts = f"{nodes}+{switches}" if switches else str(nodes)
    parts = [f"graph:{counts}:{links[0] if links else ''}", *links[1:]]
    if rate is not None:
        parts.append(f"bandwidth={rate}")
    if "latency" in topology:
        latency = _quantity(topology["latency"], "topology.latency", parse_latency)
        parts.append(f"latency={latency}")
    for index, route in enumerate(topology.get("routes", [])):
        if not _are_ids(route):
            raise Error(f"topology.routes[{index}] must be a list of vertices")
        parts.append("route=" + ">".join(map(str, route)))
    return ",".join(parts)


def _link(link: Any, index: int) -> str:
    where = f"topology.links[{index}]"
    if isinstance(link, str) and "," not in link:
        return link.replace(" ", "")
    if isinstance(link, list) and len(link) in (2, 3) and _are_ids(link[:2]):
        speed = ""
        if len(link) == 3:
            speed = "@" + _quantity(link[2], where, parse_bandwidth, _FRACTIONS)
        return f"{link[0]}-{link[1]}{speed}"
    raise Error(f'{where} must be [0, 1], [0, 1, "2 GB/s"], "0-1" or "0>1"')


def metis_links(path: str | Path, bandwidth: float) -> tuple[int, list[str]]:
    """Read a METIS graph as links of a machine; an edge weight multiplies bandwidth."""
    import numpy as np

    from topoloom.formats.graph import load_graph

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


def _node(document: dict[str, Any]) -> str:
    if "node" not in document:
        return ""
    node = _typed(document, "node", dict, "[node]")
    _refuse_unknown(node, ("levels", "distance", "hop_weight"), "node.")
    levels = _numbers(node, "levels", least=1, table="node")
    text = f"+node:{':'.join(map(str, levels))}"
    distance = [0] * len(levels)
    if "distance" in node:
        distance = _numbers(node, "distance", least=0, table="node")
        if len(distance) != len(levels):
            raise Error("node.distance must have an entry for each of node.levels")
    if "hop_weight" in node:
        weight = _typed(node, "hop_weight", int, "node.hop_weight")
        if weight < 1:
            raise Error("node.hop_weight must be 1 or more")
        distance = [*distance, weight]
    return f"{text},distance={':'.join(map(str, distance))}" if any(distance) else text


def _quantity(
    value: Any, where: str, parse: Callable[[str], float], words: tuple[str, ...] = ()
) -> str:
    if isinstance(value, str) and value in words:
        return value
    if not isinstance(value, str):
        raise Error(f'{where} must be a text with a unit, as "9.4 GB/s" or "1.3 us"')
    try:
        parse(value)
    except Error as error:
        raise Error(f"{where}: {error}") from None
    return value.replace(" ", "")


def _refuse_unknown(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise Error(unknown_name("key", where + key, [where + k for k in known]))


def _typed(table: dict[str, Any], key: str, kind: type, where: str) -> Any:
    names = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}
    if key not in table:
        raise Error(f"{where} is missing")
    value: Any = table[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Error(f"{where} must be {names[kind]}")
    if isinstance(value, str) and any(letter in value for letter in "\n\r"):
        raise Error(f"{where} must be one line")
    return value


def _numbers(
    entries: dict[str, Any], key: str, least: int, table: str = "topology"
) -> list[int]:
    where = f"{table}.{key}"
    numbers = _typed(entries, key, list, where)
    if not numbers or not all(type(n) is int and least <= n < 2**31 for n in numbers):
        raise Error(f"{where} must be a list of whole numbers, {least} or more")
    return list(numbers)


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and v >= 0 for v in value)
