# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes placement files: machine, allocation, ranks' slots, measures."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from topoloom._core import (
    Allocation,
    CommGraph,
    Error,
    Machine,
    Placement,
    judge,
)
from topoloom.nodes.node_parts import NO_PARTS, NodeParts
from topoloom.nodes.node_tables import read_nodes, write_nodes
from topoloom.placements.measures import collect_measures, format_measures
from topoloom.support.file_kinds import PLACEMENT, check_file_kind
from topoloom.support.files import prefix_errors, read_text, write_text
from topoloom.support.json_values import get_value, parse_document
from topoloom.support.version import __version__

if TYPE_CHECKING:
    from topoloom.documents.placements import (
        AllocationTable,
        ObjectiveMeasures,
        PlacementDocument,
    )

FORMAT = "topoloom-placement"
VERSION = 1


@dataclass(frozen=True)
class PlacementFile:
    """A placement and its origin, as `save_placement` writes it.

    Attributes
    ----------
    machine, allocation, placement
        Machine, allocation, and slots of the ranks.
    hosts
        ``hosts[i]`` is the host name of ``allocation.nodes[i]``; None if unknown.
    node
        CPUs and devices per node; None if the machine has no node description.
    objective
        Objective that the mapper minimized.
    values
        Measures of `judge`: ``hop_bytes``, ``congestion_max``, ...; also ``objective``
        if the objective is none of these.
    mapper, seed, work
        Mapper, seed, and number of evaluated candidates.
    topoloom
        Version of Topoloom that wrote the file.
    graph, command
        Path of the graph, and the user's command line; empty if unknown.
    cores_per_rank
        Number of consecutive slots that each rank occupies, from its placed slot on.
    capacities
        Capacities of the slots of the allocation; empty without capacities.
    switches
        Names of the machine's switches; empty if unknown.
    fixed
        Ranks that had to be on their slots, ascending; empty if none.
    """

    machine: Machine
    allocation: Allocation
    placement: Placement
    hosts: tuple[str, ...] | None = None
    node: NodeParts = NO_PARTS
    objective: str = "hop-bytes"
    values: Mapping[str, float] = field(default_factory=dict)
    mapper: str = ""
    seed: int = 0
    work: int = 0
    topoloom: str = __version__
    graph: str = ""
    command: tuple[str, ...] = ()
    cores_per_rank: int = 1
    capacities: tuple[float, ...] = ()
    switches: tuple[str, ...] = ()
    fixed: tuple[int, ...] = ()

    @classmethod
    def measured(
        cls,
        graph: CommGraph,
        allocation: Allocation,
        placement: Placement,
        value: float | None = None,
        /,
        **about: Any,
    ) -> PlacementFile:
        """Measure a placement; `value` is the objective's value if it is no measure."""
        values = collect_measures(judge(graph, allocation, placement))
        if value is not None:
            values["objective"] = value
        return cls(allocation.machine, allocation, placement, values=values, **about)

    def with_allocation(self, allocation: Allocation) -> PlacementFile:
        """Return the placement on another allocation that has its slots."""
        slots, shared = self.placement.slots, self.placement.shared
        placement = Placement(allocation, slots, shared=shared)
        return replace(self, allocation=allocation, placement=placement)

    def document(self) -> PlacementDocument:
        """Make the JSON document."""
        allocation: AllocationTable = {"nodes": _list_integers(self.allocation.nodes)}
        if self.hosts is not None:
            allocation["hosts"] = list(self.hosts)
        plain = Allocation(self.machine, self.allocation.nodes)
        if not np.array_equal(plain.slots, self.allocation.slots):
            allocation["slots"] = _list_integers(self.allocation.slots)
        document: PlacementDocument = {
            "format": FORMAT,
            "version": VERSION,
            "machine": self.machine.text,
            "allocation": allocation,
            "placement": _list_integers(self.placement.slots),
            "objective": self.objective,
            "values": cast("ObjectiveMeasures", dict(self.values)),
            "mapper": self.mapper,
            "seed": self.seed,
            "work": self.work,
            "topoloom": self.topoloom,
        }
        nodes = write_nodes(self.node)
        if "node" in nodes:
            document["node"] = nodes["node"]
        if "nodes" in nodes:
            document["nodes"] = nodes["nodes"]
        if self.switches:
            document["switch_names"] = list(self.switches)
        if self.placement.shared:
            document["shared"] = True
        if self.cores_per_rank > 1:
            document["cores_per_rank"] = self.cores_per_rank
        if self.capacities:
            document["capacities"] = list(self.capacities)
        if self.fixed:
            document["fixed"] = list(self.fixed)
        if self.graph:
            document["graph"] = self.graph
        if self.command:
            document["command"] = list(self.command)
        return document

    def _repr_html_(self) -> str:
        """Make HTML of the measures and the origin, for notebooks."""
        from topoloom.machines.machine_facts import machine_name
        from topoloom.nodes.hosts import format_allocated_share
        from topoloom.support.html_fragment import html_fragment, make_html_table

        origin = {
            "mapper": self.mapper,
            "objective": self.objective,
            "seed": str(self.seed),
            "graph": self.graph,
            "command": shlex.join(self.command),
        }
        title = (
            f"{len(self.placement.slots):,} ranks on "
            f"{format_allocated_share(self.allocation)} of "
            f"{machine_name(self.machine, self.node)}"
        )
        known = {name: text for name, text in origin.items() if text}
        measures = format_measures(self.values, self.machine)
        return html_fragment(title, make_html_table(measures), make_html_table(known))


def save_placement(path: str | Path, placement: PlacementFile) -> None:
    """Write a placement file atomically."""
    write_text(path, json.dumps(placement.document()) + "\n")


def load_placement(path: str | Path) -> PlacementFile:
    """Read a placement file; check all ids against machine and allocation.

    Raises
    ------
    topoloom.Error
        If the file is not a placement file of this version, or an id does not exist.
    OSError
        If the file cannot be read.
    """
    check_file_kind(path, PLACEMENT)
    text = read_text(path)
    with prefix_errors(path):
        return _parse_placement(parse_document(text, FORMAT, VERSION))


def _parse_placement(document: dict[str, Any]) -> PlacementFile:
    machine = Machine(get_value(document, "machine", str))
    part = get_value(document, "allocation", dict)
    nodes = _parse_ids(part, "nodes", machine.node_count)
    slots = _parse_ids(part, "slots", machine.slot_count) if "slots" in part else None
    allocation = Allocation(machine, nodes, slots)
    hosts = get_value(part, "hosts", list) if "hosts" in part else None
    if hosts is not None and (
        len(hosts) != len(nodes) or not all(isinstance(host, str) for host in hosts)
    ):
        raise Error("allocation.hosts must name a host for each node")
    for host in hosts or []:
        _check_printable("allocation.hosts", host)
        if host.startswith("-") or host in (".", ".."):
            raise Error(f"allocation.hosts: '{host}' is not a host name")
    placement = Placement(
        allocation,
        _parse_ids(document, "placement", machine.slot_count),
        shared=get_value(document, "shared", bool) if "shared" in document else False,
    )
    switches = (
        get_value(document, "switch_names", list) if "switch_names" in document else []
    )
    for name in switches:
        _check_printable("switch_names", str(name))
    values = get_value(document, "values", dict)
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Error(f"values.{name} must be a number")
        _check_printable("values", name)
    return PlacementFile(
        machine=machine,
        allocation=allocation,
        placement=placement,
        hosts=tuple(hosts) if hosts is not None else None,
        node=read_nodes(document, machine),
        objective=_get_printable_text(document, "objective"),
        values=values,
        mapper=_get_printable_text(document, "mapper"),
        seed=get_value(document, "seed", int),
        work=get_value(document, "work", int),
        topoloom=_get_printable_text(document, "topoloom"),
        graph=get_value(document, "graph", str) if "graph" in document else "",
        command=_parse_command(document),
        cores_per_rank=_parse_cores_per_rank(document, machine),
        capacities=_parse_capacities(document, allocation),
        switches=tuple(map(str, switches)),
        fixed=_parse_fixed(document, len(placement.slots)),
    )


def _parse_capacities(
    document: dict[str, Any], allocation: Allocation
) -> tuple[float, ...]:
    if "capacities" not in document:
        return ()
    given = get_value(document, "capacities", list)
    if len(given) != allocation.slot_count or not all(
        type(each) in (int, float) and 0 <= each < float("inf") for each in given
    ):
        raise Error("capacities must be a number, 0 or more, for each allocated slot")
    return tuple(map(float, given))


def _parse_fixed(document: dict[str, Any], ranks: int) -> tuple[int, ...]:
    if "fixed" not in document:
        return ()
    return tuple(_parse_ids(document, "fixed", ranks).tolist())


def _parse_cores_per_rank(document: dict[str, Any], machine: Machine) -> int:
    if "cores_per_rank" not in document:
        return 1
    cores: int = get_value(document, "cores_per_rank", int)
    if not 1 <= cores <= machine.slots_per_node:
        raise Error(f"cores_per_rank must be 1 to {machine.slots_per_node}")
    return cores


def _get_printable_text(document: dict[str, Any], key: str) -> str:
    text: str = get_value(document, key, str)
    _check_printable(key, text)
    return text


def _check_printable(key: str, text: str) -> None:
    if not text.isprintable():
        raise Error(f"{key} has characters that cannot be printed: {text!a}")


def _parse_command(document: dict[str, Any]) -> tuple[str, ...]:
    words = get_value(document, "command", list) if "command" in document else []
    if not all(isinstance(word, str) for word in words):
        raise Error('"command" must be a list of strings')
    return tuple(words)


def _parse_ids(document: dict[str, Any], key: str, count: int) -> Any:
    ids = get_value(document, key, list)
    for position, value in enumerate(ids):
        if type(value) is not int or not 0 <= value < count:
            raise Error(f"{key}[{position}] is {value!r}, expected 0 to {count - 1}")
    return np.array(ids, dtype=np.uint32)


def _list_integers(ids: Any) -> list[int]:
    numbers: list[int] = np.asarray(ids).tolist()
    return numbers
