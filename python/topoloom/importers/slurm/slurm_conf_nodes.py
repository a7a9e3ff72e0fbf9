# SPDX-License-Identifier: BSD-3-Clause
"""Reads nodes from Slurm's ``slurm.conf``: cores, GPUs and memory (``NodeName=``).

A slot is a core. The file contains the number of cores, but not the CPU numbers of
Linux. Other lines and keys are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from topoloom._core import Error
from topoloom.importers.machine_description import MachineDescription
from topoloom.importers.node_groups import NodeGroup, with_node_groups
from topoloom.importers.slurm.scontrol_nodes import NodeShape, format_node_shape
from topoloom.importers.slurm.topology_conf import join_continued_lines
from topoloom.importers.switch_tree import HostLists
from topoloom.nodes.node_levels import format_nodes, make_node_parts
from topoloom.nodes.node_parts import MAX_CPUS, MAX_DEVICES, Device, NodeParts
from topoloom.support.files import prefix_errors
from topoloom.support.number_ranges import expand_ranges

_SHOWS = re.compile(r"^[ \t]*nodename[ \t]*=", re.IGNORECASE | re.MULTILINE)
_PAIR = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|(\S+))')
#: Such as ``gpu:a100:4(S:0-1)``; model, number and sockets are optional.
_GRES = re.compile(
    r"gpu(?::[^:,()]*[^:,()0-9][^:,()]*)?(?::([0-9]{1,4}))?(?:\(S:([0-9,-]+)\))?"
)
_COUNTS = (
    "cpus",
    "boards",
    "socketsperboard",
    "sockets",
    "corespersocket",
    "threadspercore",
    "realmemory",
)


class _NodeLine(NamedTuple):
    number: int
    hosts: tuple[str, ...]
    values: dict[str, str]


def read_slurm_nodes(text: str) -> MachineDescription:
    """Read the nodes, which may differ; all nodes are on one switch."""
    hosts: list[str] = []
    insides: list[NodeGroup] = []
    first: dict[str, int] = {}
    for line in _read_lines(text):
        for host in line.hosts:
            earlier = first.setdefault(host, line.number)
            if earlier != line.number:
                raise Error(
                    f"line {line.number}: node {host} is also on line {earlier}; "
                    "describe it once"
                )
        try:
            shape = _read_shape(line.values)
            parts = _make_parts(line.values, shape)
        except Error as error:
            raise Error(f"line {line.number}: {error}") from None
        nodes = range(len(hosts), len(hosts) + len(line.hosts))
        hosts += line.hosts
        insides.append(
            NodeGroup(format_node_shape(shape), parts, nodes, f"line {line.number}")
        )
    if not hosts:
        raise Error("line 1: no NodeName= line names a node")
    network = format_nodes(len(hosts), "")
    return with_node_groups(
        MachineDescription(network, tuple(hosts), network=""), insides
    )


def _read_lines(text: str) -> Iterator[_NodeLine]:
    """Yield the lines of nodes, completed with values of preceding DEFAULT lines."""
    lists, default = HostLists(), dict[str, str]()
    for number, line in join_continued_lines(text):
        if not _SHOWS.match(line):
            continue
        pairs = _PAIR.findall(line)
        values = {key.lower(): quoted or plain for key, quoted, plain in pairs}
        name = values.pop("nodename", "")
        if name.upper() == "DEFAULT":
            default |= values
            continue
        hosts = lists.expand(number, name)
        yield _NodeLine(number, tuple(dict.fromkeys(hosts)), default | values)


def _read_shape(values: dict[str, str]) -> NodeShape:
    count: dict[str, int] = {}
    for key in _COUNTS:
        if key not in values:
            continue
        if not re.fullmatch(r"[0-9]{1,9}", values[key]) or int(values[key]) == 0:
            raise Error(f"{key}={values[key][:40]} is not a number above 0")
        count[key] = int(values[key])
    threads = count.get("threadspercore", 1)
    sockets = count.get("sockets", 0)
    if "socketsperboard" in count:
        sockets = count["socketsperboard"] * count.get("boards", 1)
    if "corespersocket" in count:
        shape = NodeShape(sockets or 1, count["corespersocket"], threads)
    elif "cpus" not in count:
        raise Error(
            "no cores are specified; write Sockets=2 CoresPerSocket=32 or CPUs=64 "
            "(slurmd -C prints them)"
        )
    else:
        # If the sockets do not divide the CPUs, sockets are unknown.
        sockets = sockets if count["cpus"] % ((sockets or 1) * threads) == 0 else 1
        cores = max(1, count["cpus"] // ((sockets or 1) * threads))
        shape = NodeShape(sockets or 1, cores, threads)
    if shape.core_count > MAX_CPUS:
        raise Error(f"{shape.core_count} cores exceed the maximum per node")
    return shape


def _make_parts(values: dict[str, str], shape: NodeShape) -> NodeParts:
    known = make_node_parts(shape.inside())
    memory = int(values.get("realmemory", "0")) * 1024**2
    devices = tuple(_list_gpus(values.get("gres", ""), shape))
    return NodeParts(known.names, (), devices, memory)


def _list_gpus(gres: str, shape: NodeShape) -> Iterator[Device]:
    """Yield the GPUs; a GPU with ``(S:1)`` is near the cores of socket 1."""
    number = 0
    for item in re.split(r",(?![^()]*\))", gres):
        match = _GRES.fullmatch(item.strip())
        if match is None:
            continue
        slots = tuple(range(shape.core_count))
        if match[2]:
            with prefix_errors("Gres"):
                sockets = expand_ranges(match[2], MAX_CPUS)
            near = tuple(s for s in slots if s // shape.cores in sockets)
            slots = near or slots
        for _ in range(int(match[1] or 1)):
            if number == MAX_DEVICES:
                raise Error(f"Gres={gres[:40]} are over {MAX_DEVICES} GPUs")
            yield Device(f"gpu{number}", "gpu", slots)
            number += 1
