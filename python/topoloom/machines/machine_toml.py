# SPDX-License-Identifier: BSD-3-Clause
"""Reads machine descriptions in TOML.

The keys are the options of machine text, and name, source and date::

    format = "topoloom-machine"
    version = 1
    name = "an example"

    [topology]
    kind = "torus"                      # see `topoloom list topologies`
    size = [17, 8, 24]
    nodes = 2                           # nodes per router
    bandwidth = { default = "9.4 GB/s", y = "4.7 GB/s" }
    latency = "1.3 us"
    hosts = "n[0001-6528]"              # names of the nodes, from node 0 on
    vacant = ["0,0-7,0,0-1"]            # positions without a host

    [node]
    levels = [16, 2]                    # bottom-up: 2 sockets of 16 slots
    distance = [1, 2]

If nodes differ, each type has a table ``[[node]]``; see `node_types_toml`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from topoloom._core import Error
from topoloom.allocations.allocation_toml import read_allocation_tables
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.machines.node_toml import read_node
from topoloom.machines.node_types_toml import read_node_types
from topoloom.machines.topology_keys import read_down, read_topology
from topoloom.machines.vacant_places import name_vacant_positions
from topoloom.nodes.host_text import parse_nodes_per_host
from topoloom.support.file_kinds import MACHINE, check_file_kind
from topoloom.support.files import prefix_errors
from topoloom.support.hostlist import expand_hostlist
from topoloom.support.toml_document import HEADER_KEYS, check_header, read_toml
from topoloom.support.toml_values import check_keys, check_type, get_entry

FORMAT = "topoloom-machine"
VERSION = 1
_MAX_HOSTS = 500_000
_ABOUT_KEYS = ("name", "summary", "source", "date")


def read_machine_toml(path: str | Path) -> tuple[MachineDescription, dict[str, str]]:
    """Read a TOML file; return the machine, and its name, summary, source and date."""
    check_file_kind(path, MACHINE)
    document = read_toml(path)
    with prefix_errors(path):
        return _read_document(document, Path(path).parent), {
            key: get_entry(document, key, str, key)
            for key in _ABOUT_KEYS
            if key in document
        }


def _read_document(document: dict[str, Any], folder: Path) -> MachineDescription:
    check_header(document, FORMAT, VERSION)
    tables = ("topology", "down", "node", "allocation", "switch", "model", "probe")
    known = (*HEADER_KEYS, *_ABOUT_KEYS, *tables)
    check_keys(document, known, "")
    topology = get_entry(document, "topology", dict, "[topology]")
    text = read_topology(topology, folder)
    if "down" in document:
        text += read_down(get_entry(document, "down", dict, "[down]"))
    described = MachineDescription(
        text,
        name_vacant_positions(topology, _read_hosts(topology)),
        read_allocation_tables(document),
        switches=_read_switch_names(topology),
        labels=_read_labels(topology),
        name=check_type(document.get("name", ""), str, "name"),
    )
    if isinstance(document.get("node"), list):
        return with_node_groups(described, read_node_types(document["node"], described))
    if "node" not in document:
        return described
    table = get_entry(document, "node", dict, "[node]")
    levels, parts, vacant = read_node(table, parse_nodes_per_host(text))
    if vacant:
        group = NodeGroup(levels, parts, None, "node", vacant=vacant)
        return with_node_groups(described, [group])
    return replace(described, text=text + levels, node=parts)


def _read_hosts(topology: dict[str, Any]) -> tuple[str, ...]:
    given = topology.get("hosts", [])
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list) or not all(isinstance(host, str) for host in given):
        raise Error('topology.hosts must be a host list, such as "n[01-64]", or a list')
    hosts: list[str] = []
    for item in given:
        try:
            hosts += expand_hostlist(item, _MAX_HOSTS - len(hosts))
        except Error as error:
            raise Error(f"topology.hosts: {error}") from None
    return tuple(hosts)


def _read_labels(topology: dict[str, Any]) -> tuple[str, ...]:
    given = topology.get("labels", [])
    if not _is_name_list(given) or any(len(label.split()) > 1 for label in given):
        raise Error(
            "topology.labels must be a list of labels, leaf groups first, such as "
            '["nvidia.com/gpu.clique", "fabric.topograph.run/tier-0"]'
        )
    return tuple(given)


def _read_switch_names(topology: dict[str, Any]) -> tuple[str, ...]:
    given = topology.get("switch_names", [])
    if not _is_name_list(given):
        raise Error('topology.switch_names must be a list, such as ["leaf1", "root"]')
    return tuple(given)


def _is_name_list(given: Any) -> bool:
    return isinstance(given, list) and all(
        isinstance(name, str) and name.isprintable() for name in given
    )
